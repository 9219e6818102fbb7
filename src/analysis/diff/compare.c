/* The comparison: whether the runs may be compared, the rows, and the verdict. */
#include <math.h>
#include <stdio.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"
#include "diff/diff.h"

#define COMPARE_BATCH 0.05      /* of the bytes of inputs, and of the largest activation */
#define COMPARE_FLOPS 0.01
/* Waits for a CPU that differ by less, in steps, are no reason not to compare: with a threshold, and without. */
#define COMPARE_DELAY 0.01
#define COMPARE_DELAY_ANY 0.05
#define COMPARE_EXPLAINS 0.5    /* of the change */
#define COMPARE_LARGE 0.05      /* of the time: where the runs may differ by more, "no difference" is no answer */
#define COMPARE_FAST_ROWS 20u   /* names in the table of the fast step */
#define COMPARE_FAST_LEAST 1e-4 /* of the fast step; a name that differs by less has no row */

DW_NAMES(dw_diff_reason_name, enum dw_diff_reason, DW_DIFF_REASONS)

const char *dw_diff_unit(const struct dw_diff *diff)
{
	return diff->iterations == DW_ITERATIONS_RUN ? "run" : "step";
}

const struct dw_diff_estimate *dw_diff_deciding(const struct dw_diff *diff)
{
	return diff->by == DW_DIFF_BY_FAST ? &diff->fast : diff->by == DW_DIFF_BY_CPU ? &diff->cpu : &diff->pace;
}

/* ---- whether the runs may be compared -------------------------------------------------------- */

static void compare_refuse(struct dw_diff *diff, enum dw_diff_reason reason, const char *one, const char *other)
{
	const char **found = diff->accepted >> reason & 1 ? diff->waived : diff->reasons;

	if (!found[reason])
		found[reason] = dw_arena_printf(&diff->arena, "%.200s and %.200s", one, other);
}

static void compare_texts(struct dw_diff *diff, enum dw_diff_reason reason, const char *one, const char *other)
{
	if (one && other && strcmp(one, other) != 0)
		compare_refuse(diff, reason, one, other);
}

static void compare_numbers(struct dw_diff *diff, enum dw_diff_reason reason, double one,
                            double other, double tolerance, const char *what)
{
	char text[2][96];

	if (!(fabs(one - other) > tolerance * fmax(fabs(one), fabs(other)))) /* false if one is NaN */
		return;
	for (unsigned i = 0; i < 2; i++)
		snprintf(text[i], sizeof text[i], "%s %s",
		         reason == DW_DIFF_BATCH ? dw_text_bytes(i ? other : one, " ").at
		                                 : dw_text_number(i ? other : one).at, what);
	compare_refuse(diff, reason, text[0], text[1]);
}

/* Whether steps of both runs compute with batches of one size: their largest activations are alike. Then only the
 * number of batches in memory differs, which depends on how far a loader is ahead. */
static bool compare_same_batch(const struct dw_diff_run *one, const struct dw_diff_run *other)
{
	double bytes = one->activation_bytes, more = other->activation_bytes;

	return fabs(bytes - more) <= COMPARE_BATCH * fmax(bytes, more); /* false if one is NaN */
}

static const char *compare_recorded(const struct dw_diff_run *run)
{
	return run->functions ? run->shapes ? "functions and shapes" : "functions"
	       : run->shapes  ? "shapes" : "neither functions nor shapes";
}

static void compare_run(struct dw_diff *diff, const struct dw_diff_run *first, const struct dw_diff_run *run)
{
	compare_texts(diff, DW_DIFF_MACHINE, first->machine, run->machine);
	compare_texts(diff, DW_DIFF_VERSIONS, first->versions, run->versions);
	compare_numbers(diff, DW_DIFF_RANKS, first->ranks, run->ranks, 0, "processes with steps");
	compare_numbers(diff, DW_DIFF_RANKS, first->loops, run->loops, 0, "threads with steps");
	if (!compare_same_batch(first, run))
		compare_numbers(diff, DW_DIFF_BATCH, first->input_bytes, run->input_bytes, COMPARE_BATCH, "of inputs");
	compare_numbers(diff, DW_DIFF_SHAPES, first->flops, run->flops, COMPARE_FLOPS, "operations a step");
	compare_texts(diff, DW_DIFF_RECORDING, compare_recorded(first), compare_recorded(run));
}

static double compare_mean_delay(const struct dw_diff_side *side)
{
	double sum = 0;

	for (size_t i = 0; i < side->count; i++)
		sum += side->runs[i].delay * side->runs[i].pace_ns;
	return sum / (double)side->count;
}

/* Whether the answer to what the caller asks depends on the waits for a CPU: `pace` is the difference with them,
 * without an allowance for them. */
static bool compare_depends_on_waits(const struct dw_diff *diff, const struct dw_diff_estimate *pace)
{
	const struct dw_diff_estimate *ran = &diff->ran;
	double asked = diff->asked * pace->before;

	if (!(fabs(diff->contention) > (diff->asks_slower ? COMPARE_DELAY : COMPARE_DELAY_ANY) * pace->before))
		return false;
	if (diff->asks_slower)
		return (pace->difference >= asked) != (ran->difference >= asked);
	if (isnan(pace->low))
		return diff->contention / pace->difference > COMPARE_EXPLAINS;
	return (pace->low > 0 && ran->low <= 0) || (pace->high < 0 && ran->high >= 0);
}

/*
 * Other programs took the CPUs of one side for longer. How much longer the steps became is between nothing (they
 * would have waited for something else) and all of the waits. So the difference that the change makes is between
 * that of the times and that of the times without the waits, and the interval is that of both. The runs are
 * not comparable only if the answer is not the same for both.
 */
static void compare_contention(struct dw_diff *diff)
{
	struct dw_diff_estimate *pace = &diff->pace, with_waits = diff->pace;
	const struct dw_diff_estimate *ran = &diff->ran;
	char text[2][160];

	diff->contention = pace->difference - ran->difference;
	if (diff->by == DW_DIFF_BY_FAST || isnan(diff->contention))
		return; /* such waits do not make the fast pieces longer */
	if (!(diff->accepted >> DW_DIFF_CONTENTION & 1)) {
		pace->low = fmin(pace->low, ran->low);
		pace->high = fmax(pace->high, ran->high);
		pace->detectable = fmax(pace->detectable, fabs(diff->contention) + ran->detectable);
	}
	if (!compare_depends_on_waits(diff, &with_waits))
		return;
	snprintf(text[0], sizeof text[0], "%s a %s without a CPU",
	         dw_text_ns(compare_mean_delay(&diff->sides[DW_DIFF_BEFORE]), " ").at, dw_diff_unit(diff));
	snprintf(text[1], sizeof text[1], "%s: of the change of %+.3g%%, %+.3g%% can be these waits",
	         dw_text_ns(compare_mean_delay(&diff->sides[DW_DIFF_AFTER]), " ").at,
	         100 * pace->difference / pace->before, 100 * diff->contention / pace->before);
	compare_refuse(diff, DW_DIFF_CONTENTION, text[0], text[1]);
}

enum compare_figure { COMPARE_RAN, COMPARE_CPU, COMPARE_WARM_UP };

static double compare_figure_of(const struct dw_diff_run *run, enum compare_figure figure)
{
	switch (figure) {
	case COMPARE_RAN:
		return run->pace_ns * (1 - run->delay);
	case COMPARE_CPU:
		return run->cpu_ns > 0 ? run->cpu_ns : NAN;
	case COMPARE_WARM_UP:
		break;
	}
	return run->warm_up_ns;
}

static const struct dw_diff_run *compare_run_at(const struct dw_diff *diff, size_t i)
{
	size_t before = diff->sides[DW_DIFF_BEFORE].count;

	return i < before ? &diff->sides[DW_DIFF_BEFORE].runs[i] : &diff->sides[DW_DIFF_AFTER].runs[i - before];
}

/* Fills `values`, which has an element for each run. */
static struct dw_diff_estimate compare_figure(const struct dw_diff *diff, enum compare_figure figure, double *values)
{
	size_t before = diff->sides[DW_DIFF_BEFORE].count, after = diff->sides[DW_DIFF_AFTER].count;

	for (size_t i = 0; i < before + after; i++)
		values[i] = compare_figure_of(compare_run_at(diff, i), figure);
	return dw_diff_estimate(values, before, values + before, after);
}

/* Whether other programs, or other guests of the machine, had much of the CPUs during the runs. */
static bool compare_shared(const struct dw_diff *diff)
{
	size_t count = diff->sides[DW_DIFF_BEFORE].count + diff->sides[DW_DIFF_AFTER].count;
	double others = 0, delay = 0;

	for (size_t i = 0; i < count; i++) {
		const struct dw_diff_run *run = compare_run_at(diff, i);

		others += fmax(0, fmax(run->others, run->stolen)); /* 0 if both are NaN */
		delay += fmax(0, run->delay);
	}
	return others > DW_FACTS_OTHERS * (double)count || delay > COMPARE_DELAY_ANY * (double)count;
}

static bool compare_fast(struct dw_diff *diff, double *values)
{
	const struct dw_diff_side *before = &diff->sides[DW_DIFF_BEFORE];
	const struct dw_diff_side *after = &diff->sides[DW_DIFF_AFTER];

	if (diff->iterations == DW_ITERATIONS_RUN) { /* it has one step, and none is faster */
		diff->fast = (struct dw_diff_estimate){ NAN, NAN, NAN, NAN, NAN, NAN };
		return true;
	}
	for (size_t i = 0; i < before->count; i++)
		values[i] = fmax(1, before->runs[i].fast_ns);
	for (size_t i = 0; i < after->count; i++)
		values[before->count + i] = fmax(1, after->runs[i].fast_ns);
	return dw_diff_estimate_lowest(values, before->count, values + before->count, after->count, true, &diff->fast);
}

/* ---- rows -------------------------------------------------------------------------------------- */

struct compare_rows {
	struct dw_diff_row *rows;
	size_t count, capacity;
};

enum compare_list { COMPARE_PARTS, COMPARE_OPERATORS, COMPARE_SAMPLED, COMPARE_FAST };

static const struct dw_diff_part *compare_list(const struct dw_diff_run *run, enum compare_list list, size_t *count)
{
	const size_t counts[] = { run->part_count, run->operator_count, run->sampled_count, run->fast_count };
	const struct dw_diff_part *const lists[] = { run->parts, run->operators, run->sampled, run->fast };

	*count = counts[list];
	return lists[list];
}

static bool compare_is_row(const struct dw_diff_row *row, const struct dw_diff_part *part)
{
	return strcmp(row->name, part->name) == 0;
}

static bool compare_add_names(struct compare_rows *rows, const struct dw_diff_run *run, enum compare_list list)
{
	size_t count;
	const struct dw_diff_part *parts = compare_list(run, list, &count);

	for (size_t i = 0; i < count; i++) {
		struct dw_diff_row *row;
		size_t at = 0;

		while (at < rows->count && !compare_is_row(&rows->rows[at], &parts[i]))
			at++;
		if (at < rows->count)
			continue;
		if (!(row = DW_GROW(&rows->rows, &rows->capacity, rows->count)))
			return false;
		row->name = parts[i].name;
		rows->count++;
	}
	return true;
}

/* Sums the parts of the row's name: a program may use one name in several places. Fills `values`, which has an
 * element for each run. */
static void compare_sum_row(struct dw_diff *diff, struct dw_diff_row *row, enum compare_list list, double *values)
{
	size_t number = 0;

	for (unsigned side = 0; side < DW_DIFF_SIDES; side++) {
		row->calls[side] = 0;
		for (size_t i = 0; i < diff->sides[side].count; i++) {
			size_t count;
			const struct dw_diff_part *parts = compare_list(&diff->sides[side].runs[i], list, &count);

			values[number] = 0;
			for (size_t p = 0; p < count; p++)
				if (compare_is_row(row, &parts[p])) {
					values[number] += parts[p].ns;
					row->calls[side] += parts[p].calls / (double)diff->sides[side].count;
				}
			number++;
		}
	}
}

static double compare_error(const struct dw_diff_run *run, const char *name)
{
	for (size_t i = 0; i < run->sampled_count; i++)
		if (strcmp(run->sampled[i].name, name) == 0)
			return run->sampled[i].error_ns;
	return 0;
}

/* With one run a side, the interval of a function is that of its samples: it says how well these two runs are known. */
static void compare_fill_by_samples(const struct dw_diff *diff, struct dw_diff_row *row)
{
	double error = hypot(compare_error(&diff->sides[DW_DIFF_BEFORE].runs[0], row->name),
	                     compare_error(&diff->sides[DW_DIFF_AFTER].runs[0], row->name));

	row->time.low = fmax(-row->time.before, row->time.difference - error);
	row->time.high = row->time.difference + error;
}

static bool compare_fill_row(struct dw_diff *diff, struct dw_diff_row *row, enum compare_list list, bool interval,
                             double *values)
{
	size_t before = diff->sides[DW_DIFF_BEFORE].count, after = diff->sides[DW_DIFF_AFTER].count;

	compare_sum_row(diff, row, list, values);
	if (list != COMPARE_FAST) {
		row->time = dw_diff_estimate(values, before, values + before, after);
		if (list == COMPARE_SAMPLED && isnan(row->time.low))
			compare_fill_by_samples(diff, row);
		return true;
	}
	for (size_t i = 0; i < before + after; i++)
		values[i] = fmax(1, values[i]); /* ns */
	return dw_diff_estimate_lowest(values, before, values + before, after, interval, &row->time);
}

static int compare_order(const void *left, const void *right)
{
	double a = fabs(((const struct dw_diff_row *)left)->time.difference);
	double b = fabs(((const struct dw_diff_row *)right)->time.difference);

	return (b > a) - (b < a);
}

static bool compare_make_rows(struct dw_diff *diff, enum compare_list list, double *values, struct compare_rows *rows)
{
	for (unsigned side = 0; side < DW_DIFF_SIDES; side++)
		for (size_t i = 0; i < diff->sides[side].count; i++)
			if (!compare_add_names(rows, &diff->sides[side].runs[i], list))
				return false;
	for (size_t i = 0; i < rows->count; i++)
		if (!compare_fill_row(diff, &rows->rows[i], list, false, values))
			return false;
	DW_SORT(rows->rows, rows->count, compare_order);
	return true;
}

/* The names that differ most, with intervals, and a last row that sums what is left. */
static bool compare_make_fast_rows(struct dw_diff *diff, double *values, struct compare_rows *rows)
{
	struct dw_diff_estimate rest = diff->fast;
	struct dw_diff_row *last;

	if (diff->by != DW_DIFF_BY_FAST || !isfinite(diff->fast.low))
		return true;
	if (!compare_make_rows(diff, COMPARE_FAST, values, rows))
		return false;
	while (rows->count > COMPARE_FAST_ROWS ||
	       (rows->count && fabs(rows->rows[rows->count - 1].time.difference) < COMPARE_FAST_LEAST * diff->fast.before))
		rows->count--;
	for (size_t i = 0; i < rows->count; i++) {
		if (!compare_fill_row(diff, &rows->rows[i], COMPARE_FAST, true, values))
			return false;
		rest.before -= rows->rows[i].time.before;
		rest.after -= rows->rows[i].time.after;
		rest.difference -= rows->rows[i].time.difference;
	}
	if (!(last = DW_GROW(&rows->rows, &rows->capacity, rows->count)))
		return false;
	rest.low = rest.high = NAN;
	*last = (struct dw_diff_row){ .name = rows->count ? "everything else" : "everything", .time = rest };
	rows->count++;
	return true;
}

/* ---- the verdict ------------------------------------------------------------------------------- */

static enum dw_diff_verdict compare_side(const struct dw_diff_estimate *by)
{
	if (isnan(by->low))
		return DW_DIFF_TWO_RUNS;
	if (by->low > 0)
		return DW_DIFF_SLOWER;
	if (by->high < 0)
		return DW_DIFF_FASTER;
	return fmax(-by->low, by->high) > COMPARE_LARGE * by->before ? DW_DIFF_NOT_PROVEN : DW_DIFF_NONE;
}

/* Whether in all runs one thread works, so that the CPU time is a part of the wall time. */
static bool compare_one_thread(const struct dw_diff *diff)
{
	size_t count = diff->sides[DW_DIFF_BEFORE].count + diff->sides[DW_DIFF_AFTER].count;

	for (size_t i = 0; i < count; i++)
		if (!(compare_run_at(diff, i)->cpu_ns <= compare_run_at(diff, i)->pace_ns))
			return false;
	return true;
}

/* Where the machine was shared, times per step often cannot tell. Then a figure that other programs hardly change
 * decides, if it can. */
static void compare_choose(struct dw_diff *diff)
{
	bool waits = diff->verdict == DW_DIFF_NOT_COMPARABLE && diff->reasons[DW_DIFF_CONTENTION];
	bool run = diff->iterations == DW_ITERATIONS_RUN;
	enum dw_diff_verdict found = compare_side(run ? &diff->cpu : &diff->fast);

	for (unsigned reason = 0; reason < DW_DIFF_REASON_COUNT; reason++)
		waits &= !diff->reasons[reason] || reason == DW_DIFF_CONTENTION;
	if (diff->by != DW_DIFF_BY_PACE || !diff->shared || (found != DW_DIFF_FASTER && found != DW_DIFF_SLOWER) ||
	    (run && !compare_one_thread(diff)) ||
	    !(waits || diff->verdict == DW_DIFF_NONE || diff->verdict == DW_DIFF_NOT_PROVEN))
		return;
	diff->chosen = true;
	diff->by = run ? DW_DIFF_BY_CPU : DW_DIFF_BY_FAST;
	diff->verdict = found;
	diff->reasons[DW_DIFF_CONTENTION] = NULL;
}

static void compare_judge(struct dw_diff *diff)
{
	bool refused = false;

	for (unsigned reason = 0; reason < DW_DIFF_REASON_COUNT; reason++)
		refused |= diff->reasons[reason] != NULL;
	diff->verdict = refused ? DW_DIFF_NOT_COMPARABLE : compare_side(dw_diff_deciding(diff));
	compare_choose(diff);
}

const char *dw_diff_verdict_words(const struct dw_diff *diff)
{
	static const char *const words[] = { [DW_DIFF_TWO_RUNS] = "These two runs differ",
		                                 [DW_DIFF_FASTER] = "Faster",
		                                 [DW_DIFF_SLOWER] = "Slower",
		                                 [DW_DIFF_NONE] = "No difference at this sample",
		                                 [DW_DIFF_NOT_PROVEN] = "Not proven",
		                                 [DW_DIFF_NOT_COMPARABLE] = "Not comparable" };

	return words[diff->verdict];
}

bool dw_diff_compare(struct dw_diff *diff)
{
	size_t before = diff->sides[DW_DIFF_BEFORE].count, after = diff->sides[DW_DIFF_AFTER].count;
	double *values = calloc(before + after, sizeof *values);
	struct compare_rows parts = { NULL, 0, 0 }, operators = parts, sampled = parts, fast = parts;
	bool good = values != NULL;

	for (size_t i = 0; good && i < before + after; i++) {
		values[i] = compare_run_at(diff, i)->pace_ns;
		compare_run(diff, diff->sides[DW_DIFF_BEFORE].runs, compare_run_at(diff, i));
	}
	if (good) {
		diff->pace = dw_diff_estimate(values, before, values + before, after);
		diff->ran = compare_figure(diff, COMPARE_RAN, values);
		diff->cpu = compare_figure(diff, COMPARE_CPU, values);
		diff->warm_up = compare_figure(diff, COMPARE_WARM_UP, values).difference;
		diff->shared = compare_shared(diff);
		good = compare_fast(diff, values);
		compare_contention(diff);
		compare_judge(diff);
	}
	good = good && compare_make_rows(diff, COMPARE_PARTS, values, &parts) &&
	       compare_make_rows(diff, COMPARE_OPERATORS, values, &operators) &&
	       compare_make_rows(diff, COMPARE_SAMPLED, values, &sampled) && compare_make_fast_rows(diff, values, &fast);
	diff->parts = parts.rows;
	diff->part_count = parts.count;
	diff->operators = operators.rows;
	diff->operator_count = operators.count;
	diff->sampled_rows = sampled.rows;
	diff->sampled_count = sampled.count;
	diff->fast_rows = fast.rows;
	diff->fast_count = fast.count;
	free(values);
	return good;
}
