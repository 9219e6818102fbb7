/* Compares a look at a job with the looks before; see watch.h. */
#include "watch/watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/median.h"
#include "base/text.h"
#include "watch/where.h"

struct report {
	void (*report)(void *context, const struct dw_watch_event *event);
	void *context;
};

const char *dw_watch_kind_name(enum dw_watch_kind kind)
{
	static const char *const names[] = {
#define X(name, text) text,
		DW_WATCH_EVENTS(X)
#undef X
	};

	return names[kind];
}

void dw_watch_begin_look(struct dw_watch *watch, uint64_t now_ns)
{
	watch->now_ns = now_ns;
	for (size_t i = 0; i < watch->count; i++)
		watch->ranks[i].has_news = false;
}

/* ---- what a file says ------------------------------------------------------------------------------ */

static struct dw_watched *watch_find(struct dw_watch *watch, const struct dw_summary_rank *rank)
{
	struct dw_watched *watched;
	char host[sizeof watched->host];

	snprintf(host, sizeof host, "%s", rank->host);
	for (size_t i = 0; i < watch->count; i++) {
		watched = &watch->ranks[i];
		if (watched->pid == rank->pid && watched->rank == rank->rank && strcmp(watched->host, host) == 0)
			return watched;
	}
	watched = DW_GROW(&watch->ranks, &watch->capacity, watch->count);
	if (!watched)
		return NULL;
	watch->count++;
	watched->rank = rank->rank;
	watched->pid = rank->pid;
	memcpy(watched->host, host, sizeof host);
	return watched;
}

/* Since when the rank's steps stand still, as far as its first file says: since its last record. */
static uint64_t watch_first_move(const struct dw_summary_rank *rank, uint64_t written_ns)
{
	if (!rank->where_known || rank->end_ns - rank->silent_ns > written_ns)
		return written_ns;
	return rank->end_ns - rank->silent_ns;
}

static void watch_take_steps(struct dw_watched *watched, const struct dw_summary_rank *rank)
{
	uint64_t work_ns = dw_watch_work(rank), steps = rank->steps - watched->steps;

	watched->step_ns = watched->step_work_ns = 0;
	if (watched->written_ns && rank->steps >= watched->steps + DW_WATCH_LEAST_STEPS && rank->ns > watched->ns &&
	    work_ns > watched->work_ns) {
		watched->step_ns = (double)(rank->ns - watched->ns) / (double)steps;
		watched->step_work_ns = (double)(work_ns - watched->work_ns) / (double)steps;
	}
	watched->steps = rank->steps;
	watched->ns = rank->ns;
	watched->work_ns = work_ns;
}

bool dw_watch_take(struct dw_watch *watch, const struct dw_summary_rank *rank, uint64_t written_ns, bool gone)
{
	struct dw_watched *watched = watch_find(watch, rank);
	bool moves, is_first;

	if (!watched)
		return false;
	is_first = !watched->written_ns;
	watched->gone = gone;
	watched->ended = gone && !rank->where_known;
	if (written_ns <= watched->written_ns)
		return true;
	moves = rank->steps != watched->steps || rank->last_step != watched->last_step;
	if (is_first)
		watched->moved_ns = watch_first_move(rank, written_ns);
	else if (moves)
		watched->moved_ns = written_ns;
	if (!is_first && written_ns - watched->written_ns > watched->every_ns)
		watched->every_ns = written_ns - watched->written_ns;
	watch_take_steps(watched, rank);
	watched->last_step = rank->last_step;
	watched->usual_ns = dw_watch_usual(rank);
	dw_watch_where(rank, watched->where, sizeof watched->where);
	watched->written_ns = written_ns;
	watched->has_news = true;
	if (rank->left_bytes && rank->steps) { /* what it takes before its first steps, it takes once */
		size_t at = watched->memory_count++ % DW_WATCH_MEMORY_LOOKS;

		watched->memory[at].written_ns = written_ns;
		watched->memory[at].resident = rank->resident_bytes;
		watched->memory[at].left = rank->left_bytes;
	}
	return true;
}

/* ---- events ---------------------------------------------------------------------------------------- */

/* Reports that something begins, with its text, or is over. What goes on is reported once. */
__attribute__((format(printf, 5, 6))) static void watch_set(const struct report *report, struct dw_watched *watched,
                                                             enum dw_watch_kind kind, bool is, const char *format, ...)
{
	static const char *const over[] = { [DW_WATCH_HANG] = "steps end again", [DW_WATCH_LOST] = "its file is written again",
		[DW_WATCH_SLOW] = "it works as long as other ranks",
		[DW_WATCH_MEMORY] = "memory does not become less any more", [DW_WATCH_SLOWER] = "steps take as long as before" };
	struct dw_watch_event event = { .kind = kind, .over = !is, .watched = watched };
	va_list values;

	if (watched->is[kind] == is)
		return;
	watched->is[kind] = is;
	va_start(values, format);
	vsnprintf(event.text, sizeof event.text, format, values);
	va_end(values);
	if (!is)
		snprintf(event.text, sizeof event.text, "%s", watched->ended ? "the process ended" : over[kind]);
	report->report(report->context, &event);
}

static void watch_hang(struct dw_watched *watched, const struct report *report)
{
	uint64_t still = watched->written_ns - watched->moved_ns;
	bool hangs = !watched->gone && watched->usual_ns > 0 && still >= DW_WATCH_LEAST_HANG_NS &&
	             (double)still >= DW_WATCH_HANG_STEPS * watched->usual_ns;

	watch_set(report, watched, DW_WATCH_HANG, hangs, "no step ended for %s, usually one takes %s; last step %llu%s%s",
	          dw_text_ns((double)still, " ").at, dw_text_ns(watched->usual_ns, " ").at,
	          (unsigned long long)watched->last_step, *watched->where ? "; " : "", watched->where);
}

static void watch_loss(struct dw_watched *watched, uint64_t now_ns, const struct report *report)
{
	uint64_t silent = now_ns > watched->written_ns ? now_ns - watched->written_ns : 0;
	bool is_silent = watched->every_ns && silent > 3 * watched->every_ns && silent > DW_WATCH_LEAST_HANG_NS;

	if (watched->gone)
		watch_set(report, watched, DW_WATCH_LOST, !watched->ended, "its process ended within step %llu%s%s",
		          (unsigned long long)watched->last_step, *watched->where ? ", " : "", watched->where);
	else
		watch_set(report, watched, DW_WATCH_LOST, is_silent,
		          "its file was not written for %s, and was written every %s before; last step %llu",
		          dw_text_ns((double)silent, " ").at, dw_text_ns((double)watched->every_ns, " ").at,
		          (unsigned long long)watched->last_step);
}

static void watch_slow(struct dw_watched *watched, double median_ns, const struct report *report)
{
	double ratio = median_ns > 0 ? watched->step_work_ns / median_ns : 0;

	if (!watched->has_news || !watched->step_work_ns)
		return;
	watched->slow_looks = ratio >= DW_WATCH_SLOW_RATIO ? watched->slow_looks + 1 : 0;
	if (watched->slow_looks && watched->slow_looks < DW_WATCH_LOOKS)
		return;
	watch_set(report, watched, DW_WATCH_SLOW, watched->slow_looks > 0,
	          "it works %s a step without communication, %.3g times as long as the median rank",
	          dw_text_ns(watched->step_work_ns, " ").at, ratio);
}

/* Whether what is left became less in each of the last writes, and not only in the first half of them: a program that
 * starts takes what it needs, and then no more. */
static bool watch_memory_falls(const struct dw_watched *watched, size_t first, size_t last)
{
#define AT(i) watched->memory[(i) % DW_WATCH_MEMORY_LOOKS]
	for (size_t i = first; i < last; i++)
		if (AT(i + 1).left >= AT(i).left)
			return false;
	return (AT(first + DW_WATCH_MEMORY_LOOKS / 2).left - AT(last).left) * 3 >= AT(first).left - AT(last).left;
}

/* When the memory of the rank's machine ends, in ns from its last write, if it goes on as in the last writes; 0: it does
 * not, or others take it. *growth: what the rank takes, in bytes a ns. */
static double watch_memory_ends(const struct dw_watched *watched, double *growth)
{
	size_t first = watched->memory_count % DW_WATCH_MEMORY_LOOKS, last = first + DW_WATCH_MEMORY_LOOKS - 1;
	double ns, less;

	if (watched->gone || watched->memory_count < DW_WATCH_MEMORY_LOOKS)
		return 0;
	ns = (double)(AT(last).written_ns - AT(first).written_ns);
	less = ((double)AT(first).left - (double)AT(last).left) / ns;
	*growth = ((double)AT(last).resident - (double)AT(first).resident) / ns;
	if (!(less > 0) || *growth < less / 10 || (!watched->is[DW_WATCH_MEMORY] && !watch_memory_falls(watched, first, last)))
		return 0;
	return (double)AT(last).left / less;
#undef AT
}

/* It is over when the memory would last twice as long as is reported. */
static void watch_memory(struct dw_watched *watched, const struct report *report)
{
	double growth = 0, ends_ns = watch_memory_ends(watched, &growth);
	double most_ns = (double)DW_WATCH_MEMORY_NS * (watched->is[DW_WATCH_MEMORY] ? 2 : 1);

	if (!watched->has_news && !watched->gone)
		return;
	watch_set(report, watched, DW_WATCH_MEMORY, ends_ns > 0 && ends_ns < most_ns,
	          "its machine has no memory left in %s if it goes on; the process takes %s a minute",
	          dw_text_ns(ends_ns, " ").at, dw_text_bytes(growth * 60e9, " ").at);
}

static void watch_job(struct dw_watch *watch, double step_ns, const struct report *report)
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
	if (!watch->job.slow_looks || watch->job.slow_looks >= DW_WATCH_LOOKS)
		watch_set(report, &watch->job, DW_WATCH_SLOWER, watch->job.slow_looks > 0, "a step takes %s, and took %s before",
		          dw_text_ns(step_ns, " ").at, dw_text_ns(usual_ns, " ").at);
}

/* The median over the ranks with news: of their steps, or of their work in a step. `values` has place for each. */
static double watch_median(const struct dw_watch *watch, bool work, double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < watch->count; i++)
		if (watch->ranks[i].has_news && watch->ranks[i].step_ns > 0)
			values[count++] = work ? watch->ranks[i].step_work_ns : watch->ranks[i].step_ns;
	return dw_median(values, count);
}

bool dw_watch_end_look(struct dw_watch *watch, void (*report)(void *context, const struct dw_watch_event *event),
                       void *context)
{
	struct report to = { report, context };
	double *values = calloc(watch->count + 1, sizeof *values);
	double work_ns;

	if (!values)
		return false;
	work_ns = watch_median(watch, true, values);
	for (size_t i = 0; i < watch->count; i++) {
		watch_hang(&watch->ranks[i], &to);
		watch_loss(&watch->ranks[i], watch->now_ns, &to);
		watch_slow(&watch->ranks[i], work_ns, &to);
		watch_memory(&watch->ranks[i], &to);
	}
	watch_job(watch, watch_median(watch, false, values), &to);
	free(values);
	return true;
}

void dw_watch_reset(struct dw_watch *watch)
{
	free(watch->ranks);
	*watch = (struct dw_watch){ .ranks = NULL };
}
