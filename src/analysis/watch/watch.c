/* Compares a look at a job with the looks before; see watch.h. */
#include "watch/watch.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/grow.h"
#include "base/median.h"
#include "base/text.h"

struct report {
	void (*report)(void *context, const struct dw_watch_event *event);
	void *context;
	size_t said[DW_WATCH_KINDS][2]; /* events of this look, by whether something begins */
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

static double watch_hang_limit(const struct dw_watched *watched)
{
	return fmax((double)DW_WATCH_LEAST_HANG_NS, DW_WATCH_HANG_STEPS * watched->usual_ns);
}

/* ---- what a file says ------------------------------------------------------------------------------ */

static struct dw_watched *watch_find(struct dw_watch *watch, const struct dw_glance *glance)
{
	uint32_t hash = dw_map_hash_bytes((uint32_t)glance->pid, glance->host, strlen(glance->host)) ^ (uint32_t)glance->rank;
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

/* When the rank stood still, by the clock of its file; never later than the file. A program's clock may differ from that
 * of its file: the least time between the end of a recording and its file stands for the difference. dwell run records until
 * the file is made: if it comes later, the folder stood still, and not the rank. */
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

/* Since when the rank stands still: since its last record, and, if a step ended since the file before, not before that. From
 * the end of the first recording to its file nothing was recorded, or it is a difference of clocks, if it is large. */
static void watch_take_move(struct dw_watched *watched, const struct dw_glance *glance, uint64_t written_ns)
{
	uint64_t record_ns = watch_last_record(watched, glance, written_ns), apart_ns = written_ns - glance->end_ns;

	if (!watched->written_ns)
		watched->moved_ns = record_ns - (glance->where_known && !glance->followed && apart_ns < DW_WATCH_LEAST_HANG_NS ? apart_ns : 0);
	else if (glance->steps != watched->steps || glance->last_step != watched->last_step)
		watched->moved_ns = record_ns > watched->written_ns ? record_ns : watched->written_ns;
	else if (glance->where_known && record_ns > watched->moved_ns)
		watched->moved_ns = record_ns;
}

/* Takes whether the rank works without steps and records; see pause.h. */
static void watch_take_pause(struct dw_watched *watched, const struct dw_glance *glance, uint64_t written_ns, uint64_t moved_ns)
{
	bool stood = watched->moved_ns != moved_ns && (double)(watched->written_ns - moved_ns) >= watch_hang_limit(watched);

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
	if (watched->written_ns && glance->span_log2 == watched->span_log2 && sum.steps >= before.steps + DW_WATCH_LEAST_STEPS) {
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
	memcpy(watched->groups, glance->groups, sizeof watched->groups);
	memcpy(watched->where, glance->where, sizeof watched->where);
}

bool dw_watch_take_glance(struct dw_watch *watch, const struct dw_glance *glance, uint64_t written_ns, bool gone)
{
	struct dw_watched *watched = watch_find(watch, glance);
	uint64_t moved_ns;

	if (!watched)
		return false;
	watched->gone = gone;
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
	watched->finished = watched->failed || (watched->had_memory && !glance->resident_bytes);
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

bool dw_watch_take(struct dw_watch *watch, const struct dw_summary_rank *rank, uint64_t written_ns, bool gone)
{
	struct dw_glance glance;

	dw_glance_take(&glance, rank);
	return dw_watch_take_glance(watch, &glance, written_ns, gone);
}

/* ---- events ---------------------------------------------------------------------------------------- */

/* Whether something begins or is over. Texts are made only then: most ranks have no event at most looks. */
static bool watch_changes(const struct dw_watched *watched, enum dw_watch_kind kind, bool is)
{
	return watched->is[kind] != is;
}

/* Reports that something begins, with its text, or is over. What goes on is reported once, and of one kind at most
 * DW_WATCH_MOST_SAID ranks at a look. */
__attribute__((format(printf, 5, 6))) static void watch_set(struct report *report, struct dw_watched *watched,
                                                             enum dw_watch_kind kind, bool is, const char *format, ...)
{
	static const char *const over[] = { [DW_WATCH_HANG] = "it goes on", [DW_WATCH_LOST] = "its file is written again",
		[DW_WATCH_SLOW] = "it works as long as other ranks",
		[DW_WATCH_MEMORY] = "memory does not become less any more", [DW_WATCH_SLOWER] = "steps take as long as before" };
	struct dw_watch_event event = { .kind = kind, .over = !is, .watched = watched };
	va_list values;

	watched->is[kind] = is;
	if (report->said[kind][is]++ >= DW_WATCH_MOST_SAID)
		return;
	va_start(values, format);
	vsnprintf(event.text, sizeof event.text, format, values);
	va_end(values);
	if (!is)
		snprintf(event.text, sizeof event.text, "%s", watched->ended ? "the process ended" : over[kind]);
	report->report(report->context, &event);
}

/* Says of how many more ranks the same is true. */
static void watch_say_more(struct dw_watch *watch, const struct report *report)
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

static double watch_still(const struct dw_watched *watched)
{
	return !watched->gone && watched->usual_ns > 0 ? (double)(watched->written_ns - watched->moved_ns) : 0;
}

static bool watch_hangs(const struct dw_watched *watched)
{
	return watch_still(watched) > 0 && watch_still(watched) >= watch_hang_limit(watched) &&
	       !dw_pause_is(&watched->pause, watch_still(watched));
}

/* What ranks that hang wait for. */
struct hang {
	const struct dw_watched *waits; /* the one that waits longest; NULL: none is inside communication */
	const struct dw_watched *missing; /* the first rank that did not enter it; NULL: none is known */
	const struct dw_watched *unseen; /* the first member of its group whose file was not written since; NULL: none */
	size_t missing_count, waiting, unseen_count;
	bool pauses;  /* the rank that did not enter it works: those that wait do not hang */
	bool ready;   /* each rank was seen after the job stood still */
	bool overdue; /* half of the limit passed since then, in which each rank that lives writes its file */
};

static bool watch_is_unseen(const struct dw_watched *waits, const struct dw_watched *watched)
{
	return !watched->ended && watched->written_ns < waits->moved_ns;
}

/* The last collective that the rank entered in the group in which `waits` waits. NULL: it is no member, or it is not
 * known. */
static const struct dw_glance_group *watch_group(const struct dw_watched *waits, const struct dw_watched *watched)
{
	for (unsigned i = 0; i < watched->group_count; i++)
		if (watched->groups[i].name == waits->wait_group)
			return &watched->groups[i];
	return NULL;
}

/* Whether a rank has not entered what `waits` waits in. */
static bool watch_is_missing(const struct dw_watched *waits, const struct dw_watched *watched)
{
	const struct dw_glance_group *group = watch_group(waits, watched);

	if (watched->ended || watch_is_unseen(waits, watched))
		return watched->gone && !watched->ended;
	return waits->wait_group ? group && group->sequence < waits->wait_number : !watched->communication;
}

/* Whether a rank's file was written when `waits` had waited for half of its limit. */
static bool watch_is_seen(const struct dw_watched *waits, const struct dw_watched *watched)
{
	return ((double)watched->written_ns - (double)waits->moved_ns) * 2 >= watch_hang_limit(waits);
}

/* Whether a rank for which `waits` waits worked then. */
static bool watch_pauses(const struct dw_watched *waits, const struct dw_watched *watched)
{
	double still = watch_still(watched);

	return !watched->gone && !watched->communication && watched->where_known && watched->usual_ns > 0 &&
	       watch_is_seen(waits, watched) && (still * 2 < watch_hang_limit(waits) || dw_pause_is(&watched->pause, still));
}

static struct hang watch_find_hang(const struct dw_watch *watch)
{
	struct hang hang = { .ready = true };

	for (size_t i = 0; i < watch->count; i++) {
		const struct dw_watched *watched = &watch->ranks[i];

		if (watch_hangs(watched) && watched->communication && (!hang.waits || watched->moved_ns < hang.waits->moved_ns))
			hang.waits = watched;
	}
	for (size_t i = 0; hang.waits && i < watch->count; i++) {
		const struct dw_watched *watched = &watch->ranks[i];

		if (watch_is_missing(hang.waits, watched)) {
			hang.missing = hang.missing ? hang.missing : watched;
			hang.missing_count++;
			hang.pauses |= watch_pauses(hang.waits, watched);
		} else if (watch_is_unseen(hang.waits, watched) && (!hang.waits->wait_group || watch_group(hang.waits, watched))) {
			hang.unseen = hang.unseen ? hang.unseen : watched;
			hang.unseen_count++;
		} else if (watch_hangs(watched)) {
			hang.waiting++;
		}
		hang.ready &= watched->gone || watched->is[DW_WATCH_LOST] || watch_is_seen(hang.waits, watched);
	}
	hang.overdue = hang.waits && watch->now_ns > hang.waits->moved_ns &&
	               (double)(watch->now_ns - hang.waits->moved_ns) >= 1.5 * watch_hang_limit(hang.waits);
	return hang;
}

/* Who is waited for, as the end of an event's text. */
static void hang_text(const struct hang *hang, const struct dw_watched *watched, bool missing, char *text, size_t size)
{
	const char *what = hang->waits && strncmp(hang->waits->where, "in ", 3) == 0 ? hang->waits->where + 3 : "";

	*text = '\0';
	if (missing)
		snprintf(text, size, "; it did not enter %.120s, in which %zu ranks wait", what, hang->waiting);
	else if (hang->missing_count && watched->communication)
		snprintf(text, size, "; rank %d on %s%s did not enter it", hang->missing->rank, hang->missing->host,
		         hang->missing_count > 1 ? " and others" : "");
	else if (hang->unseen && hang->overdue && watched->communication)
		snprintf(text, size, "; rank %d on %s%s wrote no summary since then", hang->unseen->rank, hang->unseen->host,
		         hang->unseen_count > 1 ? " and others" : "");
	else if (hang->waits && hang->ready && watched->communication)
		snprintf(text, size, "; no rank is elsewhere");
}

/* A rank that hangs is reported when it is known which rank did not come, or half of the limit later: a rank that has not
 * written its file until then is stopped, or cannot be reached. */
static void watch_hang(struct dw_watched *watched, const struct hang *hang, bool missing, struct report *report)
{
	double still = watch_still(watched);
	bool hangs = watch_hangs(watched);
	char who[200];

	if (hangs && !watched->is[DW_WATCH_HANG] && hang->waits && !hang->ready && !hang->overdue)
		return;
	if (hangs && hang->pauses && watched->communication)
		watched->excused_ns = watched->written_ns;
	/* When the other rank has gone on, this file may say what is over. */
	if (hangs && !watched->is[DW_WATCH_HANG] && watched->excused_ns == watched->written_ns)
		return;
	if (!watch_changes(watched, DW_WATCH_HANG, hangs))
		return;
	hang_text(hang, watched, missing, who, sizeof who);
	watch_set(report, watched, DW_WATCH_HANG, hangs, "no step ended for %s, usually one takes %s; last step %llu%s%.90s%s",
	          dw_text_ns(still, " ").at, dw_text_ns(watched->usual_ns, " ").at,
	          (unsigned long long)watched->last_step, *watched->where ? "; " : "", watched->where, who);
}

/* Ranks that did not come are reported first. */
static void watch_hang_all(struct dw_watch *watch, struct report *report)
{
	struct hang hang = watch_find_hang(watch);

	for (int missing = 1; missing >= 0; missing--)
		for (size_t i = 0; i < watch->count; i++)
			if ((hang.waits && watch_is_missing(hang.waits, &watch->ranks[i])) == missing)
				watch_hang(&watch->ranks[i], &hang, missing, report);
}

/* The file of a process that lived then says only where it was. */
static bool watch_is_within(const struct dw_watched *watched)
{
	return watched->finished ? watched->last_open : watched->where_known;
}

static void watch_loss(struct dw_watched *watched, uint64_t now_ns, struct report *report)
{
	uint64_t silent = now_ns > watched->written_ns ? now_ns - watched->written_ns : 0;
	bool is_silent = watched->every_ns && silent > 3 * watched->every_ns && silent > DW_WATCH_LEAST_HANG_NS &&
	                 (watched->writes > DW_WATCH_FEW_WRITES || silent > DW_WATCH_SILENT_NS);

	if (!watch_changes(watched, DW_WATCH_LOST, watched->gone ? !watched->ended : is_silent))
		return;
	if (watched->gone)
		watch_set(report, watched, DW_WATCH_LOST, !watched->ended, "its process ended %s step %llu%s%s%s",
		          watch_is_within(watched) ? "within" : watched->failed ? "after" : "when others needed it, after",
		          (unsigned long long)watched->last_step, *watched->where ? ", " : "", watched->where,
		          dw_summary_failure(watched->failed).at);
	else
		watch_set(report, watched, DW_WATCH_LOST, is_silent,
		          "its file was not written for %s, and was written every %s before; last step %llu",
		          dw_text_ns((double)silent, " ").at, dw_text_ns((double)watched->every_ns, " ").at,
		          (unsigned long long)watched->last_step);
}

/* The excess of each rank with news beyond the median of all ranks that live; see excess.h. `values` has place for each
 * rank. */
static void watch_slow_all(struct dw_watch *watch, double *values, struct report *report)
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
			differences += dw_excess_take(&watched->excess, watched->step_work_ns / median_ns - 1, &values[differences]);
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
		if (watch_changes(watched, DW_WATCH_SLOW, slow))
			watch_set(report, watched, DW_WATCH_SLOW, slow,
			          "it works %s a step without communication, over %u looks %s longer than the median rank",
			          dw_text_ns(watched->step_work_ns, " ").at, looks, dw_text_percent(mean).at);
	}
}

/* Whether what is left became less in each of the last writes, or (`own`) the rank's memory more; and not only in the first
 * half of them: a program that starts takes what it needs, and then no more. */
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

/* When the memory of the rank's machine ends, in ns from its last write, if it goes on as in the last writes; 0: it does
 * not, or others take it. *growth: what the rank takes, in bytes a ns. What is left is the better measure where many ranks
 * take memory, and the rank's own where other programs come and go. */
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
static void watch_memory(struct dw_watched *watched, struct report *report)
{
	double growth = 0, ends_ns = watch_memory_ends(watched, &growth);
	double most_ns = (double)DW_WATCH_MEMORY_NS * (watched->is[DW_WATCH_MEMORY] ? 2 : 1);

	bool is = ends_ns > 0 && ends_ns < most_ns;

	if ((!watched->has_news && !watched->gone) || !watch_changes(watched, DW_WATCH_MEMORY, is))
		return;
	watch_set(report, watched, DW_WATCH_MEMORY, is,
	          "its machine has no memory left in %s if it goes on; the process takes %s a minute",
	          dw_text_ns(ends_ns, " ").at, dw_text_bytes(growth * 60e9, " ").at);
}

static void watch_job(struct dw_watch *watch, double step_ns, struct report *report)
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
	    watch_changes(&watch->job, DW_WATCH_SLOWER, watch->job.slow_looks > 0))
		watch_set(report, &watch->job, DW_WATCH_SLOWER, watch->job.slow_looks > 0, "a step takes %s, and took %s before",
		          dw_text_ns(step_ns, " ").at, dw_text_ns(usual_ns, " ").at);
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

/* A process that has ended is not lost if it was in no step, unless others ended in the next step, or hang there: they cannot go
 * on without it. `least` and `most`: the steps of these. */
static void watch_find_ends(struct dw_watch *watch)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < watch->count; i++) {
		struct dw_watched *watched = &watch->ranks[i];

		watched->gone |= watched->finished;
		watched->ended = watched->gone && !watched->failed && !watch_is_within(watched);
		if (watched->gone ? watched->ended : !watch_hangs(watched))
			continue;
		least = watched->last_step < least ? watched->last_step : least;
		most = watched->last_step > most ? watched->last_step : most;
	}
	for (size_t i = 0; i < watch->count; i++)
		watch->ranks[i].ended &= watch->ranks[i].last_step + 1 != least && watch->ranks[i].last_step + 1 != most;
}

bool dw_watch_end_look(struct dw_watch *watch, void (*report)(void *context, const struct dw_watch_event *event),
                       void *context)
{
	struct report to = { .report = report, .context = context };
	double *values = calloc(watch->count + 1, sizeof *values);

	if (!values)
		return false;
	watch_find_ends(watch);
	watch_hang_all(watch, &to);
	for (size_t i = 0; i < watch->count; i++) {
		watch_loss(&watch->ranks[i], watch->now_ns, &to);
		watch_memory(&watch->ranks[i], &to);
	}
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
