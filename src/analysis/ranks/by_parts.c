/*
 * In which part of a step a rank is slow.
 *
 * Each part is compared by itself. On a busy machine whole steps differ by more than a slow part takes, and the part
 * does not. A part alone makes a rank slow only if its whole steps may be that much longer: a rank that loads
 * the data of all does more there, and less elsewhere.
 *
 * If communication was not recorded, the waits of a rank for others are somewhere in its step, so that all ranks have
 * steps of one length, and it is not known what of them is work. A named part can still be compared: a rank that takes
 * longer in it than the median rank does more there, or waits there. In most programs ranks wait in no range, or in the
 * same part in all ranks but the slow one, whose part is then shorter and not longer.
 */
#include <math.h>
#include <stdlib.h>

#include "ranks/ranks.h"

#define MOST_ERRORS 3.0 /* of whole steps: by so much their excess may differ from what was measured */

/* Where it is not known how long ranks wait for each other, time that no range explains may be waits for them. A wait for a
 * device may be one for other ranks in any case. */
static bool parts_is_compared(const struct dw_ranks *ranks, unsigned part)
{
	if (ranks->waits_known)
		return part != DW_PART_COMMUNICATION && part != DW_PART_DEVICE;
	return part != DW_RANKS_BETWEEN && part != DW_PART_COMMUNICATION && part != DW_PART_DEVICE &&
	       part != DW_PART_PYTHON && part != DW_PART_IDLE && part != DW_PART_UNNAMED;
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
					(double)(part == DW_RANKS_BETWEEN ? span->between_ns : span->part_ns[part]) / (double)span->steps;
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

/* The same of what the part takes at least, in all but the shortest quarter of steps. Other programs make parts longer by
 * chance, and hardly ever shorter: so this varies least on a busy machine. */
static void parts_compare_least(struct parts *parts)
{
	const struct dw_ranks *ranks = parts->ranks;
	double middle;

	for (size_t i = 0; i < ranks->count; i++) {
		size_t count = 0;

		for (size_t s = 0; s < ranks->span_count; s++)
			if (!isnan(parts->cells[i * ranks->span_count + s]) && !isnan(parts->medians[s]))
				parts->space[count++] = parts->cells[i * ranks->span_count + s] / ranks->step_ns;
		parts->errors[i] = dw_ranks_quarter_error(parts->space, count, &parts->excess[i]);
	}
	for (size_t i = 0; i < ranks->count; i++)
		parts->space[i] = parts->excess[i];
	middle = dw_ranks_middle(parts->space, ranks->count);
	for (size_t i = 0; i < ranks->count; i++)
		parts->excess[i] -= middle;
}

/* What is known of a rank from whole steps, and the part that was found of it. */
struct rank_parts {
	double excess, error; /* of whole steps, as a share of the mean step */
	bool slow;            /* by them */
	double best;          /* excess of the part that was found; 0: none was */
	double doubt;         /* of the part, or whole steps, in which it is most likely to be slow */
	unsigned doubtful;    /* that part; DW_RANKS_NO_PART: whole steps */
	double doubtful_excess, doubtful_error;
};

/* Whether whole steps of the rank may be as much longer as this part is, or at least half as much. Where waits are not known, all
 * ranks have steps of one length. */
static bool parts_is_possible(const struct dw_ranks *ranks, const struct rank_parts *rank, double excess)
{
	return !ranks->waits_known || rank->excess + MOST_ERRORS * rank->error >= excess / 2;
}

static void parts_doubt(struct rank_parts *rank, const struct dw_ranks_limit *limit, unsigned part, double excess, double error)
{
	double doubt = dw_ranks_doubt(limit, excess, error);

	if (doubt <= rank->doubt)
		return;
	rank->doubt = doubt;
	rank->doubtful = part;
	rank->doubtful_excess = excess;
	rank->doubtful_error = error;
}

/* The rank is slow, or may be, in this part alone. */
static void parts_set(const struct dw_ranks *ranks, struct dw_rank_result *result, unsigned part, double excess, double error)
{
	result->by_part = true;
	result->part = part;
	result->part_ns = excess * ranks->step_ns;
	result->part_excess = excess;
	result->part_error = error;
	if (ranks->waits_known)
		return;
	result->excess = excess;
	result->excess_error = error;
}

/* A rank that is slow in several parts is listed with the largest excess. One whose whole steps are longer is listed with
 * theirs, and with the part. */
static void parts_mark(struct parts *parts, struct rank_parts *known, unsigned part)
{
	struct dw_ranks *ranks = parts->ranks;
	struct dw_ranks_limit limit = dw_ranks_find_limit(parts->excess, parts->errors, ranks->count, parts->space);

	for (size_t i = 0; i < ranks->count; i++) {
		struct dw_rank_result *result = &ranks->results[i];

		if (!parts_is_possible(ranks, &known[i], parts->excess[i]))
			continue;
		parts_doubt(&known[i], &limit, part, parts->excess[i], parts->errors[i]);
		if (!dw_ranks_exceeds(&limit, parts->excess[i], parts->errors[i]) || parts->excess[i] <= known[i].best)
			continue;
		known[i].best = parts->excess[i];
		result->part = part;
		if (known[i].slow)
			continue;
		result->slow = true;
		parts_set(ranks, result, part, parts->excess[i], parts->errors[i]);
	}
}

/* Where no rank is slow, the one that is most likely to be. */
static void parts_find_doubtful(struct dw_ranks *ranks, const struct rank_parts *known)
{
	size_t most = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		if (ranks->results[i].slow)
			return;
		most = known[i].doubt > known[most].doubt ? i : most;
	}
	if (known[most].doubt < 1)
		return;
	ranks->results[most].may = true;
	if (known[most].doubtful != DW_RANKS_NO_PART)
		parts_set(ranks, &ranks->results[most], known[most].doubtful, known[most].doubtful_excess, known[most].doubtful_error);
}

static void parts_begin(const struct dw_ranks *ranks, const struct dw_ranks_limit *limit, struct rank_parts *known)
{
	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_rank_result *result = &ranks->results[i];
		double share = result->step_ns > 0 ? result->work_ns / result->step_ns : 1;

		known[i] = (struct rank_parts){ .excess = result->excess * share,
			.error = fmax(result->excess_error, limit->least_error) * share, .slow = result->slow };
		parts_doubt(&known[i], limit, DW_RANKS_NO_PART, result->excess, result->excess_error);
	}
}

bool dw_ranks_find_slow_parts(struct dw_ranks *ranks, const struct dw_ranks_limit *limit)
{
	size_t cells = ranks->count * ranks->span_count, both = ranks->count + ranks->span_count;
	double *numbers = calloc(cells + 2 * both + 2 * ranks->count + 1, sizeof *numbers);
	struct rank_parts *known = calloc(ranks->count + 1, sizeof *known);
	struct parts parts = { ranks, numbers, NULL, NULL, NULL, NULL };
	bool good = numbers && known;

	if (good) {
		parts.medians = numbers + cells;
		parts.excess = parts.medians + ranks->span_count;
		parts.errors = parts.excess + ranks->count;
		parts.space = parts.errors + ranks->count;
		parts_begin(ranks, limit, known);
	}
	for (unsigned part = 0; good && part < DW_RANKS_PARTS && ranks->step_ns > 0; part++)
		if (parts_is_compared(ranks, part)) {
			parts_fill(&parts, part);
			parts_compare(&parts);
			parts_mark(&parts, known, part);
			parts_compare_least(&parts);
			parts_mark(&parts, known, part);
		}
	if (good)
		parts_find_doubtful(ranks, known);
	free(numbers);
	free(known);
	return good;
}
