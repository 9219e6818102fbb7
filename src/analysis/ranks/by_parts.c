/*
 * Ranks whose communication was not recorded: what is said of it, and in which named part a rank is slow.
 *
 * The waits of a rank for others are somewhere in its step, so that all ranks have steps of one length, and it is not
 * known what of them is work. A named part can still be compared: a rank that takes longer in it than the median
 * rank does more there, or waits there. In most programs ranks wait in no range, or in the same part in all ranks but
 * the slow one, whose part is then shorter and not longer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	struct parts parts = { ranks, numbers, numbers + cells, NULL, NULL, NULL };

	if (!numbers)
		return false;
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

/* ---- what was not recorded ------------------------------------------------------------------------ */

/* Lists the ranks that lack the same: "all ranks", "3", "0, 1, 2". */
static void recorded_put_ranks(const struct dw_ranks *ranks, const struct dw_unrecorded *what, char *text, size_t size)
{
	size_t count = 0, used = 0;

	for (size_t i = 0; i < ranks->count; i++)
		for (size_t n = 0; n < ranks->results[i].rank->unrecorded_count; n++)
			if (strcmp(ranks->results[i].rank->unrecorded[n].id, what->id) == 0 && count++ < 8)
				used += (size_t)snprintf(text + used, size - used, "%s%d", used ? ", " : "",
				                         dw_ranks_number(ranks, i));
	if (count == ranks->count)
		snprintf(text, size, "all ranks");
	else if (count > 8)
		snprintf(text + used, size - used, " and %zu more", count - 8);
}

/* What ranks communicate by is said above the table, the rest below it. */
static void recorded_add(struct dw_ranks *ranks, const struct dw_unrecorded *what)
{
	char list[120] = "", text[512];

	recorded_put_ranks(ranks, what, list, sizeof list);
	snprintf(text, sizeof text, "%s is %s (%s%s%s%s): %.220s. Missing: %s.", what->label,
	         what->partly ? "recorded in part" : "not recorded", what->file, *what->file ? ", " : "",
	         strcmp(list, "all ranks") == 0 ? "" : strchr(list, ',') ? "ranks " : "rank ", list, what->why, what->missing);
	if (dw_unrecorded_is_of_ranks(what) && ranks->unrecorded_count < DW_UNRECORDED_MOST)
		ranks->unrecorded[ranks->unrecorded_count++] = dw_arena_text(&ranks->arena, text, strlen(text));
	else
		dw_ranks_note(ranks, "%s", text);
}

/* Says of each library once which ranks lack it, and why, as the first of them says. */
static void recorded_say(struct dw_ranks *ranks)
{
	for (size_t i = 0; i < ranks->count; i++)
		for (size_t n = 0; n < ranks->results[i].rank->unrecorded_count; n++) {
			const struct dw_unrecorded *what = &ranks->results[i].rank->unrecorded[n];
			bool said = false;

			for (size_t before = 0; before < i && !said; before++)
				for (size_t b = 0; b < ranks->results[before].rank->unrecorded_count; b++)
					said |= strcmp(ranks->results[before].rank->unrecorded[b].id, what->id) == 0;
			if (!said)
				recorded_add(ranks, what);
		}
}

/* Whether the rank has communication that it waits for. */
static bool recorded_communicates(const struct dw_summary_rank *rank)
{
	uint64_t ns = 0;

	for (size_t s = 0; s < rank->span_count; s++)
		ns += rank->spans[s].part_ns[DW_PART_COMMUNICATION];
	return ns || rank->collective_count;
}

void dw_ranks_check_recorded(struct dw_ranks *ranks)
{
	bool any = false, lacking = false;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_summary_rank *rank = ranks->results[i].rank;
		bool communicates = recorded_communicates(rank);

		any |= communicates;
		for (size_t n = 0; n < rank->unrecorded_count; n++)
			lacking |= !communicates && dw_unrecorded_is_of_ranks(&rank->unrecorded[n]);
	}
	ranks->waits_known = any && !lacking;
	recorded_say(ranks);
}
