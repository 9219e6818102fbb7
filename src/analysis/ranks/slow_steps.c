/*
 * Single slow steps: which are some, and those among the steps that were recorded without operators.
 *
 * Where recording has a bound, many steps have no operators and are in no span. Their length, waits and phases are known. Ranks of a
 * job choose the same steps for this as far as they can, and wait for each other, so that a slow step is among the longest of all of
 * them, which a summary keeps. A rank that recorded it with operators has it in a span, if spans have one step each.
 */
#include <math.h>
#include <stdlib.h>

#include "base/free.h"
#include "base/order.h"
#include "ranks/ranks.h"

#define SLOW_STEP 0.25 /* excess of a single step that is listed, of the median rank's work and of the mean step */
#define SLOW_SPREADS 8.0 /* of the rank's own differences between steps */
#define MOST_COMPARED 64u /* steps, the longest ones */

DW_ORDER(slow_step_compare, struct dw_slow_step, DW_DOWN(excess_ns))

bool dw_ranks_is_slow_step(const struct dw_ranks *ranks, size_t i, double excess, double spread, double median_ns)
{
	double more = excess - ranks->results[i].excess;

	return more > SLOW_STEP && more > SLOW_SPREADS * spread && excess * median_ns > SLOW_STEP * ranks->step_ns;
}

void dw_ranks_put_slow_step(struct dw_ranks *ranks, const struct dw_slow_step *step)
{
	if (ranks->slow_step_count == DW_RANKS_SLOW_STEPS) {
		if (step->excess_ns <= ranks->slow_steps[DW_RANKS_SLOW_STEPS - 1].excess_ns)
			return;
		ranks->slow_step_count--;
	}
	ranks->slow_steps[ranks->slow_step_count++] = *step;
	qsort(ranks->slow_steps, ranks->slow_step_count, sizeof *step, slow_step_compare);
}

DW_ORDER(slow_alone_compare_number, struct dw_summary_span, DW_UP(index))

struct slow_alone {
	uint64_t number, ns;
};

DW_ORDER(slow_alone_compare, struct slow_alone, DW_UP(number) DW_DOWN(ns))
DW_ORDER(slow_alone_compare_length, struct slow_alone, DW_DOWN(ns) DW_UP(number))

/* The step of this number, or NULL. */
static const struct dw_summary_span *slow_alone_in(const struct dw_summary_span *steps, size_t count, uint64_t number)
{
	const struct dw_summary_span key = { .index = number };

	return count ? bsearch(&key, steps, count, sizeof key, slow_alone_compare_number) : NULL;
}

/* Of a rank that has it alone, or in a span of its own. */
static const struct dw_summary_span *slow_alone_find(const struct dw_ranks *ranks, size_t i, uint64_t number)
{
	const struct dw_summary_rank *rank = ranks->results[i].rank;
	const struct dw_summary_span *step = slow_alone_in(rank->alone, rank->alone_count, number);

	return step || ranks->span_log2 ? step : slow_alone_in(rank->spans, rank->span_count, number);
}

static double slow_alone_part(const struct dw_summary_span *step, unsigned part)
{
	return (double)(part == DW_RANKS_BETWEEN ? step->between_ns : step->part_ns[part]);
}

static double slow_alone_work(const struct dw_ranks *ranks, const struct dw_summary_span *step)
{
	return (double)step->ns + (double)step->between_ns - (ranks->waits_known ? slow_alone_part(step, DW_PART_COMMUNICATION) : 0);
}

/* The median of all ranks that have the step; NaN: too few have it. `part`: DW_RANKS_NO_PART is the work. */
static double slow_alone_median(const struct dw_ranks *ranks, uint64_t number, unsigned part, double *space)
{
	size_t present = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_summary_span *step = slow_alone_find(ranks, i, number);

		if (step)
			space[present++] = part == DW_RANKS_NO_PART ? slow_alone_work(ranks, step) : slow_alone_part(step, part);
	}
	return present >= 2 && 2 * present >= ranks->count ? dw_ranks_middle(space, present) : NAN;
}

/* The part by which the step of the rank exceeds the median rank's most. */
static unsigned slow_alone_find_part(const struct dw_ranks *ranks, const struct dw_summary_span *step, double *space)
{
	unsigned found = DW_RANKS_NO_PART;
	double most = 0;

	for (unsigned part = 0; part < DW_RANKS_PARTS; part++) {
		double more = slow_alone_part(step, part) - slow_alone_median(ranks, step->index, part, space);

		if (part != DW_PART_COMMUNICATION && more > most) {
			most = more;
			found = part;
		}
	}
	return found;
}

/* How much single steps of the rank differ. Sums of several differ less. */
static double slow_alone_spread(const struct dw_ranks *ranks, size_t i, double *space)
{
	const double *excess = &ranks->excess[i * ranks->span_count];
	size_t count = 0;

	for (size_t s = 0; s < ranks->span_count; s++)
		if (!isnan(excess[s]))
			space[count++] = excess[s];
	return dw_ranks_spread(space, count, ranks->results[i].excess) * sqrt(ldexp(1, (int)ranks->span_log2));
}

static bool slow_alone_is_known(const struct dw_ranks *ranks, size_t i, uint64_t number)
{
	bool known = false;

	for (size_t k = 0; k < ranks->slow_step_count; k++)
		known |= ranks->slow_steps[k].result == i && ranks->slow_steps[k].number == number;
	return known;
}

/* Compares the ranks in one step. */
static void slow_alone_compare_ranks(struct dw_ranks *ranks, uint64_t number, const double *spreads, double *space)
{
	double median = slow_alone_median(ranks, number, DW_RANKS_NO_PART, space);

	for (size_t i = 0; median > 0 && i < ranks->count; i++) {
		const struct dw_summary_span *step = slow_alone_find(ranks, i, number);
		double excess_ns = step ? slow_alone_work(ranks, step) - median : 0;

		if (step && !slow_alone_is_known(ranks, i, number) &&
		    dw_ranks_is_slow_step(ranks, i, excess_ns / median, spreads[i], median))
			dw_ranks_put_slow_step(ranks, &(struct dw_slow_step){ i, number, step->ns, excess_ns, DW_RANKS_NONE,
			                                                      slow_alone_find_part(ranks, step, space) });
	}
}

/* The steps that some rank has, the longest first, each once. Returns how many are compared. */
static size_t slow_alone_collect(const struct dw_ranks *ranks, struct slow_alone *steps)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < ranks->count; i++)
		for (size_t k = 0; k < ranks->results[i].rank->alone_count; k++)
			steps[count++] = (struct slow_alone){ ranks->results[i].rank->alone[k].index, ranks->results[i].rank->alone[k].ns };
	DW_SORT(steps, count, slow_alone_compare);
	for (size_t k = 0; k < count; k++)
		if (!kept || steps[kept - 1].number != steps[k].number)
			steps[kept++] = steps[k];
	DW_SORT(steps, kept, slow_alone_compare_length);
	return kept < MOST_COMPARED ? kept : MOST_COMPARED;
}

bool dw_ranks_add_alone(struct dw_ranks *ranks, double *space)
{
	struct slow_alone *steps = calloc(ranks->count * DW_SUMMARY_ALONE + 1, sizeof *steps);
	double *spreads = calloc(ranks->count + 1, sizeof *spreads);
	size_t count = steps && spreads ? slow_alone_collect(ranks, steps) : 0;

	for (size_t i = 0; count && i < ranks->count; i++)
		spreads[i] = slow_alone_spread(ranks, i, space);
	for (size_t k = 0; k < count; k++)
		slow_alone_compare_ranks(ranks, steps[k].number, spreads, space);
	DW_FREE(steps, spreads);
	return steps && spreads;
}
