/* Which processes of a job ended as they should, and which did not; see watch.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "watch/events.h"

/* The file of a process that lived then says only where it was. If the launcher failed, the process is not known to have ended as
 * it should, in a step or not. */
static bool losses_is_within(const struct dw_watched *watched)
{
	return watched->finished ? watched->last_open : watched->where_known;
}

static bool losses_may_be_lost(const struct dw_watched *watched)
{
	return losses_is_within(watched) || watched->well == DW_WELL_LAUNCHER_FAILED;
}

/* Whether its process ended with status 0. A launcher's status may leave out a rank that failed: it counts for ranks
 * that did as many steps as others. */
static bool losses_is_well(const struct dw_watched *watched, uint64_t most_steps)
{
	return !watched->failed && (watched->well == DW_WELL_ITSELF ||
	                            (watched->well == DW_WELL_LAUNCHER && watched->last_step + 1 >= most_steps));
}

/* A process that has ended is not lost if it ended with status 0 or was in no step, unless others ended in the next
 * step, or hang there: they cannot go on without it. `least` and `most`: the steps of these. */
void dw_watch_find_ends(struct dw_watch *watch)
{
	uint64_t least = UINT64_MAX, most = 0, most_steps = 0;

	for (size_t i = 0; i < watch->count; i++)
		most_steps = watch->ranks[i].last_step > most_steps ? watch->ranks[i].last_step : most_steps;
	for (size_t i = 0; i < watch->count; i++) {
		struct dw_watched *watched = &watch->ranks[i];

		watched->gone |= watched->finished && !watched->awaited;
		watched->ended =
			watched->gone && !watched->failed && (losses_is_well(watched, most_steps) || !losses_may_be_lost(watched));
		if (watched->gone ? watched->ended : !dw_watch_hangs(watched))
			continue;
		least = watched->last_step < least ? watched->last_step : least;
		most = watched->last_step > most ? watched->last_step : most;
	}
	for (size_t i = 0; i < watch->count; i++)
		watch->ranks[i].ended &= watch->ranks[i].last_step + 1 != least && watch->ranks[i].last_step + 1 != most;
}

/* ---- which one failed first ---------------------------------------------------------------------------- */

/* Of two ranks that failed in the same way, the one that was not inside communication failed first: the other one waited
 * for it. If both were or were not, the one whose last record is older. */
static bool losses_is_before(const struct dw_watched *a, const struct dw_watched *b)
{
	if (dw_summary_failure_order(a->failed) != dw_summary_failure_order(b->failed))
		return dw_summary_failure_order(a->failed) < dw_summary_failure_order(b->failed);
	if (a->communication != b->communication)
		return b->communication;
	if (a->last_record_ns != b->last_record_ns)
		return a->last_record_ns < b->last_record_ns;
	return false;
}

static const struct dw_watched *losses_first(const struct dw_watch *watch)
{
	const struct dw_watched *first = NULL;

	for (size_t i = 0; i < watch->count; i++)
		if (watch->ranks[i].gone && !watch->ranks[i].ended && (!first || losses_is_before(&watch->ranks[i], first)))
			first = &watch->ranks[i];
	return first;
}

/* ---- events -------------------------------------------------------------------------------------------- */

static bool losses_is_silent(const struct dw_watched *watched, uint64_t silent_ns)
{
	return watched->every_ns && silent_ns > 3 * watched->every_ns && silent_ns > DW_WATCH_LEAST_HANG_NS &&
	       (watched->writes > DW_WATCH_FEW_WRITES || silent_ns > DW_WATCH_SILENT_NS);
}

static void losses_report(struct dw_watched *watched, const struct dw_watched *first, uint64_t now_ns,
                          struct dw_watch_report *report)
{
	uint64_t silent = now_ns > watched->written_ns ? now_ns - watched->written_ns : 0;
	bool is = watched->gone ? !watched->ended : losses_is_silent(watched, silent);
	char after[160] = "";

	if (!dw_watch_changes(watched, DW_WATCH_LOST, is))
		return;
	if (!watched->gone) {
		dw_watch_set(report, watched, DW_WATCH_LOST, is,
		             "its file was not written for %s, and was written every %s before; last step %llu",
		             dw_text_ns((double)silent, " ").at, dw_text_ns((double)watched->every_ns, " ").at,
		             (unsigned long long)watched->last_step);
		return;
	}
	if (first && first != watched)
		snprintf(after, sizeof after, "; rank %d on %.60s failed first", first->rank, first->host);
	dw_watch_set(report, watched, DW_WATCH_LOST, is, "its process ended %s step %llu%s%s%s%s",
	             losses_is_within(watched) ? "within"
	             : watched->failed         ? "after"
	             : watched->well == DW_WELL_LAUNCHER_FAILED
	                 ? "before its launcher failed, after"
	                 : "when others needed it, after",
	             (unsigned long long)watched->last_step, *watched->where ? ", " : "", watched->where,
	             dw_summary_failure(watched->failed).at, after);
}

void dw_watch_report_losses(struct dw_watch *watch, struct dw_watch_report *report)
{
	const struct dw_watched *first = losses_first(watch);

	if (first)
		losses_report(&watch->ranks[first - watch->ranks], first, watch->now_ns, report);
	for (size_t i = 0; i < watch->count; i++)
		if (&watch->ranks[i] != first)
			losses_report(&watch->ranks[i], first, watch->now_ns, report);
}
