/* Compares a look at a job with the looks before; see watch.h. */
#include "watch/watch.h"

#include <math.h>
#include <stdio.h>

#include "base/grow.h"
#include "base/numbers.h"
#include "base/text.h"
#include "watch/events.h"

DW_NAMES(dw_watch_kind_name, enum dw_watch_kind, DW_WATCH_EVENTS)

void dw_watch_begin_look(struct dw_watch *watch, uint64_t now_ns)
{
	watch->now_ns = now_ns;
	for (size_t i = 0; i < watch->count; i++)
		watch->ranks[i].has_news = false;
}

/* ---- what a file says ------------------------------------------------------------------------------ */

static struct dw_watched *watch_find(struct dw_watch *watch, const struct dw_glance *glance)
{
	uint32_t hash =
		dw_map_hash_bytes((uint32_t)glance->pid, glance->host, strlen(glance->host)) ^ (uint32_t)glance->rank;
	uint32_t found = DW_MAP_FIND(&watch->map, hash, i,
	                             watch->ranks[i].pid == glance->pid && watch->ranks[i].rank == glance->rank &&
	                                 strcmp(watch->ranks[i].host, glance->host) == 0);
	struct dw_watched *watched;

	if (found != DW_MAP_NONE)
		return &watch->ranks[found];
	watched = DW_GROW(&watch->ranks, &watch->capacity, watch->count);
	if (!watched || !dw_map_add(&watch->map, hash, (uint32_t)watch->count))
		return NULL;
	watch->count++;
	watched->rank = glance->rank;
	watched->pid = glance->pid;
	snprintf(watched->host, sizeof watched->host, "%s", glance->host);
	return watched;
}

/* How long no step of the rank can have ended, at the end of its recording. A rank that asks again and again whether a
 * collective has ended writes records while it waits. */
static uint64_t watch_quiet_ns(const struct dw_glance *glance)
{
	return glance->inside_ns > glance->silent_ns ? glance->inside_ns : glance->silent_ns;
}

/* When the rank stood still, by the clock of its file; never later than the file. A program's clock may differ from
 * that of its file: the least time between the end of a recording and its file stands for the difference. dwell run
 * records until the file is made: if it comes later, the folder stood still, and not the rank. */
static uint64_t watch_last_record(struct dw_watched *watched, const struct dw_glance *glance, uint64_t written_ns)
{
	int64_t apart = (int64_t)(written_ns - glance->end_ns);
	uint64_t last_ns;

	if (!glance->where_known)
		return written_ns;
	if (glance->followed)
		return written_ns - (watch_quiet_ns(glance) < written_ns ? watch_quiet_ns(glance) : 0);
	if (!watched->apart_known || apart < watched->apart_ns)
		watched->apart_ns = apart;
	watched->apart_known = true;
	last_ns = glance->end_ns - watch_quiet_ns(glance) + (uint64_t)watched->apart_ns;
	return last_ns < written_ns ? last_ns : written_ns;
}

/* Since when the rank stands still: since its last record, and, if a step ended since the file before, not before that.
 * From the end of the first recording to its file nothing was recorded, or it is a difference of clocks, if it is
 * large. */
static void watch_take_move(struct dw_watched *watched, const struct dw_glance *glance, uint64_t written_ns)
{
	uint64_t record_ns = watch_last_record(watched, glance, written_ns), apart_ns = written_ns - glance->end_ns;
	uint64_t own_ns = glance->end_ns - watch_quiet_ns(glance);
	bool step = glance->steps != watched->steps || glance->last_step != watched->last_step;

	if (!watched->written_ns)
		watched->moved_ns =
			record_ns - (glance->where_known && !glance->followed && apart_ns < DW_WATCH_LEAST_HANG_NS ? apart_ns : 0);
	else if (step)
		watched->moved_ns = record_ns > watched->written_ns ? record_ns : watched->written_ns;
	else if (glance->where_known && record_ns > watched->moved_ns &&
	         (int64_t)(own_ns - watched->record_ns) > (int64_t)DW_WATCH_SAME_RECORD_NS)
		watched->moved_ns = record_ns;
	else
		return;
	watched->record_ns = own_ns;
}

/* Takes whether the rank works without steps and records; see pause.h. */
static void watch_take_pause(struct dw_watched *watched, const struct dw_glance *glance, uint64_t written_ns,
                             uint64_t moved_ns)
{
	bool stood =
		watched->moved_ns != moved_ns && (double)(watched->written_ns - moved_ns) >= dw_watch_hang_limit(watched);

	dw_pause_take(&watched->pause, glance, watched->written_ns, written_ns, watched->moved_ns,
	              stood ? (double)(written_ns - moved_ns) : 0);
}

/* What a step took since the file before. The spans before the newest one of that file are the same in both; when spans
 * were summed in pairs between them, it is not known. The rank's sums are not compared: a trace that is full loses old
 * steps while it gains new ones. */
static void watch_take_steps(struct dw_watched *watched, const struct dw_glance *glance)
{
	const struct dw_glance_sum before = watched->of_span;
	uint64_t from = watched->written_ns ? watched->span : UINT64_MAX; /* of the first file only the newest one */
	struct dw_glance_sum sum = dw_glance_sum(glance, from, &watched->span, &watched->of_span);

	watched->step_ns = watched->step_work_ns = 0;
	if (watched->written_ns && glance->span_log2 == watched->span_log2 &&
	    sum.steps >= before.steps + DW_WATCH_LEAST_STEPS) {
		double steps = (double)(sum.steps - before.steps);

		watched->step_ns = sum.ns > before.ns ? (double)(sum.ns - before.ns) / steps : 0;
		watched->step_work_ns = sum.work_ns > before.work_ns ? (double)(sum.work_ns - before.work_ns) / steps : 0;
	}
	watched->steps = glance->steps;
	watched->span_log2 = glance->span_log2;
}

static void watch_take_where(struct dw_watched *watched, const struct dw_glance *glance)
{
	watched->where_known = glance->where_known;
	watched->communication = glance->communication;
	watched->wait_group = glance->wait_group;
	watched->wait_number = glance->wait_number;
	watched->group_count = glance->group_count;
	watched->collective_count = glance->collective_count;
	memcpy(watched->collectives, glance->collectives, sizeof watched->collectives);
	memcpy(watched->groups, glance->groups, sizeof watched->groups);
	memcpy(watched->where, glance->where, sizeof watched->where);
}

/* Whether its process had ended when the file was written: it had memory at an earlier look, or it was dead at the first one
 * already, and other ranks of its file had memory. Where the process cannot be seen, none has. */
static bool watch_has_finished(const struct dw_watch *watch, const struct dw_watched *watched, const struct dw_glance *glance)
{
	bool had = watched->had_memory;

	for (size_t i = 0; !had && !glance->resident_bytes && i < watch->count; i++)
		had = watch->ranks[i].had_memory && watched->path && watch->ranks[i].path &&
		      strcmp(watch->ranks[i].path, watched->path) == 0;
	return glance->failed || (had && !glance->resident_bytes);
}

bool dw_watch_take_glance(struct dw_watch *watch, const struct dw_glance *glance, uint64_t written_ns, bool gone)
{
	struct dw_watched *watched = watch_find(watch, glance);
	uint64_t moved_ns;

	if (!watched)
		return false;
	watched->gone = gone;
	watched->path = watch->path;
	if (written_ns <= watched->written_ns)
		return true;
	moved_ns = watched->moved_ns;
	watch_take_move(watched, glance, written_ns);
	watch_take_pause(watched, glance, written_ns, moved_ns);
	if (watched->written_ns && !watched->is[DW_WATCH_LOST] && written_ns - watched->written_ns > watched->every_ns)
		watched->every_ns = written_ns - watched->written_ns;
	watch_take_steps(watched, glance);
	watch_take_where(watched, glance);
	watched->last_step = glance->last_step;
	watched->last_open = glance->last_open;
	watched->failed = glance->failed;
	watched->well = glance->well;
	watched->last_record_ns = glance->where_known ? glance->end_ns - glance->silent_ns : 0;
	watched->finished = watch_has_finished(watch, watched, glance);
	watched->had_memory |= glance->resident_bytes > 0;
	watched->usual_ns = glance->usual_ns;
	watched->written_ns = written_ns;
	watched->has_news = true;
	watched->writes++;
	if (glance->left_bytes && glance->steps) { /* what it takes before its first steps, it takes once */
		size_t at = watched->memory_count++ % DW_WATCH_MEMORY_LOOKS;

		watched->memory[at].written_ns = written_ns;
		watched->memory[at].resident = glance->resident_bytes;
		watched->memory[at].left = glance->left_bytes;
	}
	return true;
}

/* ---- events ---------------------------------------------------------------------------------------- */

/* Says of how many more ranks the same is true. */
static void watch_say_more(struct dw_watch *watch, const struct dw_watch_report *report)
{
	for (enum dw_watch_kind kind = 0; kind < DW_WATCH_KINDS; kind++)
		for (int is = 0; is < 2; is++) {
			struct dw_watch_event event = { .kind = kind, .over = !is, .watched = &watch->job };

			if (report->said[kind][is] <= DW_WATCH_MOST_SAID)
				continue;
			snprintf(event.text, sizeof event.text, "%zu more ranks", report->said[kind][is] - DW_WATCH_MOST_SAID);
			report->report(report->context, &event);
		}
}

/* The excess of each rank with news beyond the median of all ranks that live; see excess.h. `values` has place for each
 * rank. */
static void watch_slow_all(struct dw_watch *watch, double *values, struct dw_watch_report *report)
{
	size_t count = 0, differences = 0;
	double median_ns, spread;

	for (size_t i = 0; i < watch->count; i++)
		if (!watch->ranks[i].gone && watch->ranks[i].step_work_ns > 0)
			values[count++] = watch->ranks[i].step_work_ns;
	median_ns = dw_median(values, count);
	if (count < 2)
		return;
	if (count == 2)
		median_ns = fmin(values[0], values[1]); /* of two, the faster one stands for the median */
	for (size_t i = 0; i < watch->count; i++) {
		struct dw_watched *watched = &watch->ranks[i];

		if (watched->has_news && watched->step_work_ns > 0)
			differences +=
				dw_excess_take(&watched->excess, watched->step_work_ns / median_ns - 1, &values[differences]);
	}
	dw_excess_take_noise(&watch->noise, values, differences);
	count = 0;
	for (size_t i = 0; i < watch->count; i++)
		if (watch->ranks[i].excess.looks)
			values[count++] = watch->ranks[i].excess.mean;
	spread = count >= 4 ? dw_excess_spread(values, count) : 0;
	for (size_t i = 0; i < watch->count; i++) {
		struct dw_watched *watched = &watch->ranks[i];
		unsigned looks;
		double mean;
		bool slow;

		if (!watched->has_news || !(watched->step_work_ns > 0))
			continue;
		slow = dw_excess_judge(&watched->excess, &watch->noise, spread);
		mean = dw_excess_mean(&watched->excess, &looks);
		if (dw_watch_changes(watched, DW_WATCH_SLOW, slow))
			dw_watch_set(report, watched, DW_WATCH_SLOW, slow,
			             "it works %s a step without communication, over %u looks %s longer than the median rank",
			             dw_text_ns(watched->step_work_ns, " ").at, looks, dw_text_percent(mean).at);
	}
}

/* Whether what is left became less in each of the last writes, or (`own`) the rank's memory more; and not only in the
 * first half of them: a program that starts takes what it needs, and then no more. */
static bool watch_memory_goes_on(const struct dw_watched *watched, size_t first, size_t last, bool own)
{
#define AT(i) watched->memory[(i) % DW_WATCH_MEMORY_LOOKS]
	size_t half = first + DW_WATCH_MEMORY_LOOKS / 2;

	for (size_t i = first; i < last; i++)
		if (own ? AT(i + 1).resident <= AT(i).resident : AT(i + 1).left >= AT(i).left)
			return false;
	return own ? (AT(last).resident - AT(half).resident) * 3 >= AT(last).resident - AT(first).resident
	           : (AT(half).left - AT(last).left) * 3 >= AT(first).left - AT(last).left;
}

/* When the memory of the rank's machine ends, in ns from its last write, if it goes on as in the last writes; 0: it
 * does not, or others take it. *growth: what the rank takes, in bytes a ns. What is left is the better measure where
 * many ranks take memory, and the rank's own where other programs come and go. */
static double watch_memory_ends(const struct dw_watched *watched, double *growth)
{
	size_t first = watched->memory_count % DW_WATCH_MEMORY_LOOKS, last = first + DW_WATCH_MEMORY_LOOKS - 1;
	bool is = watched->is[DW_WATCH_MEMORY];
	double ns, less, rate = 0;

	if (watched->gone || watched->memory_count < DW_WATCH_MEMORY_LOOKS)
		return 0;
	ns = (double)(AT(last).written_ns - AT(first).written_ns);
	less = ((double)AT(first).left - (double)AT(last).left) / ns;
	*growth = ((double)AT(last).resident - (double)AT(first).resident) / ns;
	if (is || watch_memory_goes_on(watched, first, last, true))
		rate = *growth;
	if (*growth >= less / 10 && (is || watch_memory_goes_on(watched, first, last, false)))
		rate = fmax(rate, less);
	return rate > 0 ? (double)AT(last).left / rate : 0;
#undef AT
}

/* It is over when the memory would last twice as long as is reported. */
static void watch_memory(struct dw_watched *watched, struct dw_watch_report *report)
{
	double growth = 0, ends_ns = watch_memory_ends(watched, &growth);
	double most_ns = (double)DW_WATCH_MEMORY_NS * (watched->is[DW_WATCH_MEMORY] ? 2 : 1);

	bool is = ends_ns > 0 && ends_ns < most_ns;

	if ((!watched->has_news && !watched->gone) || !dw_watch_changes(watched, DW_WATCH_MEMORY, is))
		return;
	dw_watch_set(report, watched, DW_WATCH_MEMORY, is,
	             "its machine has no memory left in %s if it goes on; the process takes %s a minute",
	             dw_text_ns(ends_ns, " ").at, dw_text_bytes(growth * 60e9, " ").at);
}

static void watch_job(struct dw_watch *watch, double step_ns, struct dw_watch_report *report)
{
	double sorted[DW_WATCH_BEFORE], usual_ns;
	size_t count = watch->before_count < DW_WATCH_BEFORE ? watch->before_count : DW_WATCH_BEFORE;

	if (!step_ns)
		return;
	memcpy(sorted, watch->before, sizeof sorted);
	usual_ns = dw_median(sorted, count);
	if (count < DW_WATCH_LOOKS || step_ns < DW_WATCH_SLOWER_RATIO * usual_ns)
		watch->job.slow_looks = 0;
	else
		watch->job.slow_looks++;
	if (!watch->job.slow_looks)
		watch->before[watch->before_count++ % DW_WATCH_BEFORE] = step_ns;
	if ((!watch->job.slow_looks || watch->job.slow_looks >= DW_WATCH_LOOKS) &&
	    dw_watch_changes(&watch->job, DW_WATCH_SLOWER, watch->job.slow_looks > 0))
		dw_watch_set(report, &watch->job, DW_WATCH_SLOWER, watch->job.slow_looks > 0,
		             "a step takes %s, and took %s before", dw_text_ns(step_ns, " ").at, dw_text_ns(usual_ns, " ").at);
}

/* The median step over the ranks with news. `values` has place for each. */
static double watch_median(const struct dw_watch *watch, double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < watch->count; i++)
		if (watch->ranks[i].has_news && watch->ranks[i].step_ns > 0)
			values[count++] = watch->ranks[i].step_ns;
	return dw_median(values, count);
}

bool dw_watch_end_look(struct dw_watch *watch, void (*report)(void *context, const struct dw_watch_event *event),
                       void *context)
{
	struct dw_watch_report to = { .report = report, .context = context };
	double *values = calloc(watch->count + 1, sizeof *values);

	if (!values)
		return false;
	dw_watch_find_ends(watch);
	dw_watch_report_losses(watch, &to);
	dw_watch_report_hangs(watch, &to);
	for (size_t i = 0; i < watch->count; i++)
		watch_memory(&watch->ranks[i], &to);
	watch_slow_all(watch, values, &to);
	watch_job(watch, watch_median(watch, values), &to);
	watch_say_more(watch, &to);
	free(values);
	return true;
}

void dw_watch_reset(struct dw_watch *watch)
{
	free(watch->ranks);
	dw_map_reset(&watch->map);
	*watch = (struct dw_watch){ .ranks = NULL };
}
