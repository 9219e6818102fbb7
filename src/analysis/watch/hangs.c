/* Which ranks hang, and for whom they wait; see watch.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "watch/events.h"

double dw_watch_hang_limit(const struct dw_watched *watched)
{
	return fmax((double)DW_WATCH_LEAST_HANG_NS, DW_WATCH_HANG_STEPS * watched->usual_ns);
}

static double hangs_still(const struct dw_watched *watched)
{
	return !watched->gone && !watched->awaited && watched->usual_ns > 0 ? (double)(watched->written_ns - watched->moved_ns) : 0;
}

/* A hang that was reported goes on until the rank records something: reasons excuse what was not. */
bool dw_watch_hangs(const struct dw_watched *watched)
{
	double still = hangs_still(watched);

	if (!(still > 0) || still < dw_watch_hang_limit(watched))
		return false;
	return (watched->is[DW_WATCH_HANG] && watched->hung_ns == watched->moved_ns) ||
	       !dw_pause_is(&watched->pause, still);
}

/* What ranks that hang wait for. */
struct hang {
	const struct dw_watched *waits;   /* the one that waits longest; NULL: none is inside communication */
	const struct dw_watched *missing; /* the first rank that did not enter it; NULL: none is known */
	const struct dw_watched *unseen;  /* the first member of its group whose file was not written since; NULL: none */
	size_t missing_count, waiting, unseen_count;
	char differ[240]; /* ranks that called other collectives under one number, as the end of a text; "" */
	bool pauses;      /* the rank that did not enter it works: those that wait do not hang */
	bool ready;       /* each rank was seen after the job stood still */
	bool overdue;     /* half of the limit passed since then, in which each rank that lives writes its file */
};

static bool hangs_is_unseen(const struct dw_watched *waits, const struct dw_watched *watched)
{
	return !watched->ended && watched->written_ns < waits->moved_ns;
}

/* The last collective that the rank entered in the group in which `waits` waits. NULL: it is no member, or it is not
 * known. */
static const struct dw_glance_group *hangs_group(const struct dw_watched *waits, const struct dw_watched *watched)
{
	for (unsigned i = 0; i < watched->group_count; i++)
		if (watched->groups[i].name == waits->wait_group)
			return &watched->groups[i];
	return NULL;
}

/* Whether a rank has not entered what `waits` waits in. */
static bool hangs_is_missing(const struct dw_watched *waits, const struct dw_watched *watched)
{
	const struct dw_glance_group *group = hangs_group(waits, watched);

	if (watched->ended || hangs_is_unseen(waits, watched))
		return watched->gone && !watched->ended;
	return waits->wait_group ? group && group->sequence < waits->wait_number : !watched->communication;
}

/* Whether a rank's file was written when `waits` had waited for half of its limit. */
static bool hangs_is_seen(const struct dw_watched *waits, const struct dw_watched *watched)
{
	return ((double)watched->written_ns - (double)waits->moved_ns) * 2 >= dw_watch_hang_limit(waits);
}

/* Whether a rank for which `waits` waits worked then. */
static bool hangs_pauses(const struct dw_watched *waits, const struct dw_watched *watched)
{
	double still = hangs_still(watched);

	return !watched->gone && !watched->communication && watched->where_known && watched->usual_ns > 0 &&
	       hangs_is_seen(waits, watched) &&
	       (still * 2 < dw_watch_hang_limit(waits) || dw_pause_is(&watched->pause, still));
}

/* ---- ranks that called different collectives ----------------------------------------------------------- */

/* The collective that the rank called in the group with this sequence number, as "all_reduce"; NULL: not known. */
static const char *hangs_operation(const struct dw_watched *watched, uint32_t group, uint64_t sequence)
{
	for (unsigned i = 0; i < watched->collective_count; i++)
		if (watched->collectives[i].group == group && watched->collectives[i].sequence == sequence)
			return watched->collectives[i].operation;
	return NULL;
}

/* The rank inside the collective with the lowest number of the group of `waits`: others may have gone on from it, as the root of a
 * broadcast. It may not have waited for as long as its limit. */
static const struct dw_watched *hangs_lowest(const struct dw_watch *watch, const struct dw_watched *waits)
{
	const struct dw_watched *lowest = waits;

	for (size_t i = 0; i < watch->count; i++) {
		const struct dw_watched *watched = &watch->ranks[i];

		if (watched->wait_group == waits->wait_group && !watched->gone && !hangs_is_unseen(waits, watched) &&
		    watched->wait_number < lowest->wait_number)
			lowest = watched;
	}
	return lowest;
}

/* The numbers of the ranks that called this operation: "0, 2, 3". */
static void hangs_list(const struct dw_watch *watch, const struct dw_watched *of, const char *operation, char *text,
                       size_t size)
{
	size_t length = 0, listed = 0;

	*text = '\0';
	for (size_t i = 0; i < watch->count && length < size - 16; i++) {
		const char *one = hangs_operation(&watch->ranks[i], of->wait_group, of->wait_number);

		if (!one || strcmp(one, operation) != 0)
			continue;
		if (listed++ == 4) {
			snprintf(text + length, size - length, ", ...");
			return;
		}
		length += (size_t)snprintf(text + length, size - length, "%s%d", length ? ", " : "", watch->ranks[i].rank);
	}
}

static void hangs_find_different(const struct dw_watch *watch, struct hang *hang)
{
	const struct dw_watched *of =
		hang->waits && hang->waits->wait_group ? hangs_lowest(watch, hang->waits) : NULL;
	const char *mine = of ? hangs_operation(of, of->wait_group, of->wait_number) : NULL, *other = NULL;
	char lists[2][64];

	for (size_t i = 0; mine && !other && i < watch->count; i++) {
		other = hangs_operation(&watch->ranks[i], of->wait_group, of->wait_number);
		if (other && (strcmp(other, mine) == 0 || watch->ranks[i].ended))
			other = NULL;
	}
	if (!other)
		return;
	hangs_list(watch, of, mine, lists[0], sizeof lists[0]);
	hangs_list(watch, of, other, lists[1], sizeof lists[1]);
	snprintf(hang->differ, sizeof hang->differ,
	         "; collective number %llu is %s in rank %s and %s in rank %s: all ranks must call the same ones",
	         (unsigned long long)of->wait_number, mine, lists[0], other, lists[1]);
}

static bool hangs_has_missing(const struct dw_watch *watch, const struct dw_watched *waits)
{
	for (size_t i = 0; i < watch->count; i++)
		if (hangs_is_missing(waits, &watch->ranks[i]))
			return true;
	return false;
}

/* The rank that waits longest, of those whose group lacks a rank if there are such. A rank that receives what nobody sends is
 * in a group of two that lacks nobody, but other groups lack this rank. NULL: none is inside communication. */
static const struct dw_watched *hangs_waits(const struct dw_watch *watch)
{
	const struct dw_watched *longest = NULL, *first = NULL;
	uint32_t complete = 0; /* the group that was looked at last, and lacks nobody */

	for (size_t i = 0; i < watch->count; i++) {
		const struct dw_watched *watched = &watch->ranks[i];

		if (!watched->communication || !dw_watch_hangs(watched))
			continue;
		longest = longest && longest->moved_ns <= watched->moved_ns ? longest : watched;
		if ((first && first->moved_ns <= watched->moved_ns) || (watched->wait_group && watched->wait_group == complete))
			continue;
		if (hangs_has_missing(watch, watched))
			first = watched;
		else
			complete = watched->wait_group;
	}
	return first ? first : longest;
}

static struct hang hangs_find(const struct dw_watch *watch)
{
	struct hang hang = { .ready = true, .waits = hangs_waits(watch) };

	for (size_t i = 0; hang.waits && i < watch->count; i++) {
		const struct dw_watched *watched = &watch->ranks[i];

		if (hangs_is_missing(hang.waits, watched)) {
			hang.missing = hang.missing ? hang.missing : watched;
			hang.missing_count++;
			hang.pauses |= hangs_pauses(hang.waits, watched);
		} else if (hangs_is_unseen(hang.waits, watched) &&
		           (!hang.waits->wait_group || hangs_group(hang.waits, watched))) {
			hang.unseen = hang.unseen ? hang.unseen : watched;
			hang.unseen_count++;
		} else if (dw_watch_hangs(watched)) {
			hang.waiting++;
		}
		hang.ready &= watched->gone || watched->is[DW_WATCH_LOST] || hangs_is_seen(hang.waits, watched);
	}
	hangs_find_different(watch, &hang);
	hang.overdue = hang.waits && watch->now_ns > hang.waits->moved_ns &&
	               (double)(watch->now_ns - hang.waits->moved_ns) >= 1.5 * dw_watch_hang_limit(hang.waits);
	return hang;
}

/* Who is waited for, as the end of an event's text. */
static void hangs_text(const struct hang *hang, const struct dw_watched *watched, bool missing, char *text, size_t size)
{
	const char *what = hang->waits && strncmp(hang->waits->where, "in ", 3) == 0 ? hang->waits->where + 3 : "";

	*text = '\0';
	if (*hang->differ && watched->communication)
		snprintf(text, size, "%s", hang->differ);
	else if (missing)
		snprintf(text, size, "; it did not enter %.120s, in which %zu rank%s", what, hang->waiting,
		         hang->waiting == 1 ? " waits" : "s wait");
	else if (hang->missing_count && watched->communication)
		snprintf(text, size, "; rank %d on %s%s%s%s did not enter it", hang->missing->rank, hang->missing->host,
		         hang->missing->gone ? ", which ended" : "",
		         hang->missing->gone ? dw_summary_failure(hang->missing->failed).at : "",
		         hang->missing_count > 1 ? " and others"
		         : hang->missing->gone   ? ","
		                                 : "");
	else if (hang->unseen && hang->overdue && watched->communication)
		snprintf(text, size, "; rank %d on %s%s wrote no summary since then", hang->unseen->rank, hang->unseen->host,
		         hang->unseen_count > 1 ? " and others" : "");
	else if (watched->pause.works)
		snprintf(text, size, "; it computes: an endless loop, or work that is not recorded");
	else if (hang->waits && hang->ready && watched->communication)
		snprintf(text, size, "; no rank is elsewhere");
}

/* A rank that hangs is reported when it is known which rank did not come, or half of the limit later: a rank that has
 * not written its file until then is stopped, or cannot be reached. */
static void hangs_report(struct dw_watched *watched, const struct hang *hang, bool missing,
                         struct dw_watch_report *report)
{
	double still = hangs_still(watched);
	bool hangs = dw_watch_hangs(watched);
	char who[280];

	if (hangs && !watched->is[DW_WATCH_HANG] && hang->waits && !hang->ready && !hang->overdue)
		return;
	if (hangs && hang->pauses && watched->communication)
		watched->excused_ns = watched->written_ns;
	/* When the other rank has gone on, this file may say what is over. */
	if (hangs && !watched->is[DW_WATCH_HANG] && watched->excused_ns == watched->written_ns)
		return;
	if (!dw_watch_changes(watched, DW_WATCH_HANG, hangs))
		return;
	hangs_text(hang, watched, missing, who, sizeof who);
	watched->hung_ns = watched->moved_ns;
	dw_watch_set(report, watched, DW_WATCH_HANG, hangs,
	             "no step ended for %s, usually one takes %s; last step %llu%s%.90s%s", dw_text_ns(still, " ").at,
	             dw_text_ns(watched->usual_ns, " ").at, (unsigned long long)watched->last_step,
	             *watched->where ? "; " : "", watched->where, who);
}

void dw_watch_report_hangs(struct dw_watch *watch, struct dw_watch_report *report)
{
	struct hang hang = hangs_find(watch);

	for (int missing = 1; missing >= 0; missing--)
		for (size_t i = 0; i < watch->count; i++)
			if ((hang.waits && hangs_is_missing(hang.waits, &watch->ranks[i])) == missing)
				hangs_report(&watch->ranks[i], &hang, missing, report);
}
