/*
 * Ranks whose communication was not recorded: in which named part a rank is slow.
 *
 * The waits of a rank for others are somewhere in its step, so that all ranks have steps of one length, and it is not
 * known what of them is work. A named part can still be compared: a rank that takes longer in it than the median
 * rank does more there, or waits there. In most programs ranks wait in no range, or in the same part in all ranks but
 * the slow one, whose part is then shorter and not longer.
 */
#include <math.h>
#include <stdlib.h>

#include "ranks/ranks.h"

/* Time that no range explains may be waits for other ranks. */
static bool parts_is_named(unsigned part)
{
	return part != DW_PART_COMMUNICATION && part != DW_PART_DEVICE && part != DW_PART_PYTHON && part != DW_PART_IDLE &&
	       part != DW_PART_UNNAMED;
}

/* By rank and span: the part of its mean step. NaN: the rank has no steps there. */
struct parts {
	struct dw_ranks *ranks;
	double *cells;
	double *medians; /* by span */
	double *excess, *errors; /* by rank */
	double *space;   /* for as many numbers as there are ranks and spans */
};

static void parts_fill(struct parts *parts, unsigned part)
{
	const struct dw_ranks *ranks = parts->ranks;
	uint64_t first = ranks->first_step >> ranks->span_log2;

	for (size_t cell = 0; cell < ranks->count * ranks->span_count; cell++)
		parts->cells[cell] = NAN;
	for (size_t i = 0; i < ranks->count; i++)
		for (size_t n = 0; n < ranks->results[i].rank->span_count; n++) {
			const struct dw_summary_span *span = &ranks->results[i].rank->spans[n];

			if (span->index - first < ranks->span_count)
				parts->cells[i * ranks->span_count + (size_t)(span->index - first)] =
					(double)span->part_ns[part] / (double)span->steps;
		}
	for (size_t s = 0; s < ranks->span_count; s++) {
		size_t present = 0;

		for (size_t i = 0; i < ranks->count; i++)
			if (!isnan(parts->cells[i * ranks->span_count + s]))
				parts->space[present++] = parts->cells[i * ranks->span_count + s];
		parts->medians[s] = 2 * present >= ranks->count ? dw_ranks_middle(parts->space, present) : NAN;
	}
}

/* The excess of each rank in the part, as a share of the mean step of all ranks. */
static void parts_compare(struct parts *parts)
{
	const struct dw_ranks *ranks = parts->ranks;

	for (size_t i = 0; i < ranks->count; i++) {
		size_t count = 0;

		for (size_t s = 0; s < ranks->span_count; s++) {
			double more = parts->cells[i * ranks->span_count + s] - parts->medians[s];

			if (!isnan(more))
				parts->space[count++] = more / ranks->step_ns;
		}
		parts->errors[i] = dw_ranks_median_error(parts->space, count, &parts->excess[i]);
	}
}

/* A rank that is slow in several parts is listed with the largest excess. A rank whose whole steps are longer stays as
 * it is. */
static void parts_mark(struct parts *parts, unsigned part)
{
	struct dw_ranks *ranks = parts->ranks;
	struct dw_ranks_limit limit = dw_ranks_find_limit(parts->excess, parts->errors, ranks->count, parts->space);

	for (size_t i = 0; i < ranks->count; i++) {
		struct dw_rank_result *result = &ranks->results[i];

		if ((result->slow && !result->by_part) || !dw_ranks_exceeds(&limit, parts->excess[i], parts->errors[i]) ||
		    (result->by_part && parts->excess[i] <= result->excess))
			continue;
		result->slow = result->by_part = true;
		result->part = part;
		result->excess = parts->excess[i];
		result->excess_error = parts->errors[i];
	}
}

bool dw_ranks_find_slow_parts(struct dw_ranks *ranks)
{
	size_t cells = ranks->count * ranks->span_count, both = ranks->count + ranks->span_count;
	double *numbers = calloc(cells + 2 * both + 2 * ranks->count + 1, sizeof *numbers);
	struct parts parts = { ranks, numbers, NULL, NULL, NULL, NULL };

	if (!numbers)
		return false;
	parts.medians = numbers + cells;
	parts.excess = parts.medians + ranks->span_count;
	parts.errors = parts.excess + ranks->count;
	parts.space = parts.errors + ranks->count;
	for (unsigned part = 0; part < DW_PART_COUNT && ranks->step_ns > 0; part++)
		if (parts_is_named(part)) {
			parts_fill(&parts, part);
			parts_compare(&parts);
			parts_mark(&parts, part);
		}
	free(numbers);
	return true;
}
