/*
 * Facts of change over the run: a trend of the steps' durations, or a point at which they change.
 * The time for which a step waited for a CPU is subtracted from its duration, if it is known.
 *
 * If one part of the step makes most of the change, the lengths are
 * those with that part's changes only, so that the clock's changes do not hide them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/pace_fit.h"
#include "facts/parts.h"
#include "facts/work.h"

#define LEAST_STEPS 30u
#define MOST_OWN 0.5         /* of a change: the rest is the pace of all parts */

/* The lengths whose change is looked for. */
struct pace {
	struct dw_facts_work *work;
	unsigned part;     /* only this part changes: the others have their mean; DW_PART_COUNT: all do */
	uint32_t symbol;   /* the same of one range under the program's own names; DW_NO_INDEX: none */
	double others_ns;  /* this mean */
	double own;        /* what the part changes by beyond the others' pace, of the whole change */
	bool alone;        /* nearly all of a step is this part: the others have no pace */
};

static double pace_range_ns(const struct dw_step *step, uint32_t symbol)
{
	double ns = 0;

	for (uint32_t p = 0; p < step->part_count; p++)
		ns += step->parts[p].symbol == symbol ? (double)step->parts[p].ns : 0;
	return ns;
}

/* A step's length without the time for which its thread waited for a CPU, because the load by other
 * programs changes during a run. */
static double pace_length(const struct pace *pace, const struct dw_step *step)
{
	const struct dw_usage_of *usage = &pace->work->usages[step - pace->work->all];
	double length = (double)(step->end_ns - step->start_ns), parts[DW_PART_COUNT], running = 1, own;

	if (pace->work->delay_known && usage->wall_ns > 0)
		running = fmax(0, 1 - usage->delay_ns / usage->wall_ns);
	own = pace->symbol != DW_NO_INDEX ? pace_range_ns(step, pace->symbol) : 0;
	if (own > 0) /* as long as with the mean pace of the others */
		return own * pace->others_ns / fmax(1, length - own) + pace->others_ns;
	if (pace->symbol != DW_NO_INDEX)
		return pace->others_ns;
	if (pace->part == DW_PART_COUNT)
		return length * running;
	dw_facts_divide(pace->work, step, parts);
	return parts[pace->part] * running + pace->others_ns;
}

/* Means of the parts of the steady steps from `from` to `to`; returns their sum. */
static double pace_means(const struct dw_facts_work *work, size_t from, size_t to, double means[DW_PART_COUNT])
{
	double parts[DW_PART_COUNT], sum = 0;

	memset(means, 0, DW_PART_COUNT * sizeof *means);
	for (size_t i = from; i < to; i++) {
		dw_facts_divide(work, work->steady[i], parts);
		for (unsigned p = 0; p < DW_PART_COUNT; p++)
			means[p] += parts[p] / (double)(to - from);
	}
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		sum += means[p];
	return sum;
}

/* How far the parts other than `part` are from one common pace, in ns. `rate` is this pace. */
static double pace_residue(const double before[DW_PART_COUNT], const double after[DW_PART_COUNT],
                           unsigned part, double *rate)
{
	double others_before = 0, others_after = 0, residue = 0;

	for (unsigned p = 0; p < DW_PART_COUNT; p++) {
		others_before += p == part ? 0 : before[p];
		others_after += p == part ? 0 : after[p];
	}
	*rate = others_before >= DW_PACE_LEAST * (others_before + before[part]) ? others_after / others_before : 1;
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		residue += p == part ? 0 : fabs(after[p] - before[p] * *rate);
	return residue;
}

/* Chooses the part without which all others change alike from the first half to the second one, as
 * they do with the processor's clock. If most of the whole change is its own, only its changes
 * count. */
static struct pace pace_choose(struct dw_facts_work *work)
{
	struct pace pace = { .work = work, .part = DW_PART_COUNT, .symbol = DW_NO_INDEX };
	double before[DW_PART_COUNT], after[DW_PART_COUNT], least_ns = INFINITY, own_ns = 0, rate;
	size_t half = work->steady_count / 2;
	double all_before = pace_means(work, 0, half, before);
	double all_after = pace_means(work, half, work->steady_count, after);
	unsigned part = 0;

	for (unsigned p = 0; p < DW_PART_COUNT; p++) {
		double residue = pace_residue(before, after, p, &rate);

		if (rate > DW_PACE_MOST || rate < 1 / DW_PACE_MOST)
			continue; /* the others do not change alike because of a clock: one of them is the part */
		if (residue < least_ns) {
			pace.alone = all_before - before[p] < DW_PACE_LEAST * all_before;
			least_ns = residue;
			own_ns = fabs(after[p] - before[p] * rate);
			part = p;
		}
	}
	if (own_ns > 0)
		pace.own = fmin(1, own_ns / fmax(own_ns, fabs(all_after - all_before)));
	if (pace.own >= MOST_OWN) {
		pace.part = part;
		pace.others_ns = (all_before - before[part] + all_after - after[part]) / 2;
	}
	return pace;
}

/* The part that changes most between the steady steps before and after `at`. */
static const char *pace_part(const struct pace *pace, size_t at)
{
	double before[DW_PART_COUNT], after[DW_PART_COUNT];
	unsigned largest = 0;

	if (pace->part != DW_PART_COUNT)
		return dw_facts_part_name((enum dw_part)pace->part);
	pace_means(pace->work, 0, at, before);
	pace_means(pace->work, at, pace->work->steady_count, after);
	for (unsigned p = 1; p < DW_PART_COUNT; p++)
		if (fabs(after[p] - before[p]) > fabs(after[largest] - before[largest]))
			largest = p;
	return dw_facts_part_name((enum dw_part)largest);
}

/* The mean number of operators of the steady steps from `from` to `to`. */
static double pace_operators(const struct dw_facts_work *work, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += work->steady[i]->operator_count;
	return to > from ? sum / (double)(to - from) : 0;
}

/* Which part of a change of the steps' length goes with the number of their operators: no clock changes that.
 * `at`: the first steady step of the later part. */
static double pace_of_work(const struct dw_facts_work *work, size_t at, double change)
{
	double before = pace_operators(work, 0, at), after = pace_operators(work, at, work->steady_count);

	if (!(before >= 1) || (after > before) != (change > 0))
		return 0;
	return fmin(1, (after / before - 1) / change);
}

/* How many more operators later steps call, if that is most of the change. */
static void pace_put_work(struct dw_facts_work *work, size_t at, double own)
{
	double before = pace_operators(work, 0, at), after = pace_operators(work, at, work->steady_count);

	if (own >= MOST_OWN && after > before)
		dw_fact_set(work, DW_FACT_DRIFT_WORK, after / before - 1, work->steady_count);
	else
		dw_fact_miss(work, DW_FACT_DRIFT_WORK, "the number of operators does not change so");
}

/* The largest change of one of the program's own ranges beyond the pace of all other time of the steps. */
struct pace_range {
	uint32_t symbol;
	double own; /* of the whole change */
	const char *function; /* a function that changes, if no range does */
};

static double *pace_ranges(const struct dw_facts_work *work, size_t symbols, size_t from, size_t to, double *all)
{
	double *means = calloc(symbols + 1, sizeof *means), count = (double)(to - from);

	*all = 0;
	for (size_t i = from; means && i < to; i++) {
		const struct dw_step *step = work->steady[i];

		*all += (double)(step->end_ns - step->start_ns) / count;
		for (uint32_t p = 0; p < step->part_count; p++)
			means[step->parts[p].symbol] += (double)step->parts[p].ns / count;
	}
	return means;
}

/* Ranges under the program's own names are one part of a step, but each has its own pace. `at`: the first steady step of
 * the later part. */
static struct pace_range pace_of_ranges(struct dw_facts_work *work, size_t at)
{
	struct pace_range largest = { DW_NO_INDEX, 0, NULL };
	size_t symbols;
	double all_before, all_after;

	dw_model_symbols(work->model, &symbols);
	double *before = pace_ranges(work, symbols, 0, at, &all_before);
	double *after = pace_ranges(work, symbols, at, work->steady_count, &all_after);

	work->failed |= !before || !after;
	for (uint32_t i = 0; before && after && i < symbols; i++) {
		double others = all_before - before[i], rate = others > 0 ? (all_after - after[i]) / others : 1;
		double own = after[i] - before[i] * rate;

		if (others < DW_PACE_LEAST * all_before || (own > 0) != (all_after > all_before))
			continue;
		own = fabs(own) / fmax(fabs(own), fabs(all_after - all_before));
		if (own > largest.own)
			largest = (struct pace_range){ i, own, NULL };
	}
	free(before);
	free(after);
	return largest;
}

/* What changes: the function or the range, if one does, or the part. */
static const char *pace_note(const struct pace *pace, size_t at, const struct pace_range *range)
{
	return range->function           ? range->function
	       : range->symbol == DW_NO_INDEX ? pace_part(pace, at) : dw_model_symbols(pace->work->model, NULL)[range->symbol].name;
}

/* Says what changes. Of a part without a name that is not known; then the function in which the thread mainly is says more. */
static void pace_name(const struct pace *pace, struct dw_fact *fact, const char *note)
{
	struct dw_facts_work *work = pace->work;
	const struct dw_account *account = work->facts->account;
	const struct dw_account_select all = dw_account_select_states(~(1u << DW_ACCOUNT_NO_CPU), DW_ACCOUNT_ALL);
	struct dw_account_sum sum;
	char text[300];

	fact->note = note;
	if (note != dw_facts_part_name(DW_PART_UNNAMED) || !account || !dw_account_is_divided(account))
		return;
	sum = dw_account_sum(account, &all);
	if (!sum.dominates || !*dw_account_place(&sum, text))
		return;
	fact->note = NULL;
	fact->name = dw_facts_text(work, text, strlen(text));
}

static struct dw_pace_fit pace_fit(const struct pace *pace)
{
	struct dw_facts_work *work = pace->work;

	for (size_t i = 0; i < work->steady_count; i++)
		work->values[i] = pace_length(pace, work->steady[i]);
	return dw_pace_fit(work->values, work->steady_count);
}

/* The same if only one range changes: the clock of the processor changes the others. */
static struct dw_pace_fit pace_fit_range(struct pace pace, uint32_t symbol, struct dw_pace_fit all)
{
	size_t count = pace.work->steady_count;
	struct dw_pace_fit fit;

	pace.symbol = symbol;
	pace.others_ns = 0;
	for (size_t i = 0; i < count; i++)
		pace.others_ns += ((double)(pace.work->steady[i]->end_ns - pace.work->steady[i]->start_ns) -
		                   pace_range_ns(pace.work->steady[i], symbol)) / (double)count;
	fit = pace_fit(&pace);
	return fit.trend != 0 || fit.change != 0 ? fit : all;
}

/* Threads that share a step's work wait for the one that other programs took the CPU from. Many spin meanwhile, so that the
 * kernel counts it as their work. */
static bool pace_team_is_disturbed(const struct dw_facts_work *work)
{
	const struct dw_fact *others = &work->facts->at[DW_FACT_CPU_OTHERS];
	double wall_ns = 0, team_ns = 0;

	for (size_t i = 0; i < work->loop->count; i++) {
		wall_ns += work->usages[i].wall_ns;
		team_ns += work->usages[i].process_cpu_ns - work->usages[i].cpu_ns;
	}
	return others->measured && others->value >= DW_FACTS_OTHERS && team_ns >= DW_FACTS_TEAM * wall_ns;
}

/* Whether functions say more: no part or range has a pace of its own; or the only part is longer from one step on, which it
 * also is if the steps have more of the same to do. Work that grows from step to step changes alike, too, and is a cause. */
static bool pace_is_of_functions(const struct pace *pace, const struct dw_pace_fit *fit, double own, double others_own)
{
	return own < MOST_OWN || (pace->alone && fit->change != 0 && others_own < MOST_OWN);
}

static void pace_put(const struct pace *pace)
{
	struct dw_facts_work *work = pace->work;
	struct dw_pace_fit fit = pace_fit(pace);
	struct pace_range range = { DW_NO_INDEX, 0, NULL };
	struct dw_fact *fact;

	if (fit.trend != 0 || fit.change != 0) {
		double work_own = pace_of_work(work, fit.at, fit.change != 0 ? fit.change : fit.trend / 2), own = fmax(pace->own, work_own);

		pace_put_work(work, fit.at, work_own);
		range = pace_of_ranges(work, fit.at);
		if (pace_is_of_functions(pace, &fit, fmax(own, range.own), fmax(work_own, range.own))) {
			double functions = dw_facts_pace_of_functions(work, &range.function);

			own = own < MOST_OWN || isnan(functions) ? fmax(own, functions) : fmax(work_own, functions);
		}
		if (own < MOST_OWN)
			range.function = NULL;
		dw_fact_set(work, DW_FACT_DRIFT_OWN, pace_team_is_disturbed(work) ? 0 : fmax(own, range.own), work->steady_count);
		if (range.own < fmax(own, MOST_OWN))
			range.symbol = DW_NO_INDEX;
		else
			fit = pace_fit_range(*pace, range.symbol, fit);
	} else {
		dw_fact_miss(work, DW_FACT_DRIFT_OWN, "the pace does not change");
		dw_fact_miss(work, DW_FACT_DRIFT_WORK, "the pace does not change");
	}
	fact = dw_fact_set(work, DW_FACT_DRIFT_SLOPE, fit.trend, work->steady_count);
	if (fit.trend != 0)
		pace_name(pace, fact, pace_note(pace, fit.at, &range));
	fact = dw_fact_set(work, DW_FACT_DRIFT_CHANGE, fit.change, work->steady_count);
	if (fit.change != 0) {
		pace_name(pace, fact, pace_note(pace, fit.at, &range));
		dw_fact_set(work, DW_FACT_DRIFT_CHANGE_STEP, (double)work->steady[fit.at]->number, 1);
	} else {
		dw_fact_miss(work, DW_FACT_DRIFT_CHANGE_STEP, "there is no change point");
	}
}

void dw_facts_of_pace(struct dw_facts_work *work)
{
	struct pace pace;

	if (work->steady_count < LEAST_STEPS) {
		for (unsigned id = DW_FACT_DRIFT_SLOPE; id <= DW_FACT_DRIFT_GAPS_STEP; id++)
			dw_fact_miss(work, (enum dw_fact_id)id, "there are fewer than 30 steady steps");
		return;
	}
	pace = pace_choose(work);
	pace_put(&pace);
	dw_facts_of_gaps(work);
}
