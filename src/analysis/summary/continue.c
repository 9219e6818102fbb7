/*
 * Summaries of runs that are longer than their traces: what a trace has of new steps is added to the
 * summary that was made of it before.
 *
 * Sums of steps add up. What a rank's newest summary says of the whole recording or of its end (losses, lines,
 * open ranges, memory now) takes the place of what the earlier one said.
 */

#include "base/error.h"
#include "base/grow.h"
#include "base/order.h"
#include "summary/fields.h"
#include "summary/summary.h"

const struct dw_summary_rank *dw_summary_before(const struct dw_summary *before, const struct dw_summary_rank *rank)
{
	for (size_t i = 0; before && i < before->count; i++)
		if (dw_summary_same_rank(&before->ranks[i], rank))
			return &before->ranks[i];
	return NULL;
}

uint64_t dw_summary_next_step(const struct dw_summary_rank *rank)
{
	return rank->last_step + !rank->last_open;
}

static void *continue_space(struct dw_summary *summary, size_t bytes)
{
	void *space = dw_arena_alloc(&summary->arena, bytes + 1);

	summary->failed |= !space;
	return space;
}

static void continue_spans(struct dw_summary *summary, struct dw_summary_rank *rank, struct dw_summary_rank *before)
{
	unsigned log2 = before->span_log2 > rank->span_log2 ? before->span_log2 : rank->span_log2;
	struct dw_summary_span *spans;
	size_t count = 0, a = 0, b = 0;

	dw_summary_coarsen(rank, log2);
	dw_summary_coarsen(before, log2);
	spans = continue_space(summary, (before->span_count + rank->span_count) * sizeof *spans);
	while (spans && (a < before->span_count || b < rank->span_count)) {
		bool earlier =
			a < before->span_count && (b == rank->span_count || before->spans[a].index <= rank->spans[b].index);
		const struct dw_summary_span *from = earlier ? &before->spans[a++] : &rank->spans[b++];

		if (count && spans[count - 1].index == from->index)
			dw_summary_merge_span(&spans[count - 1], from);
		else
			spans[count++] = *from;
	}
	rank->spans = spans;
	rank->span_count = spans ? count : 0;
}

static void continue_alone(struct dw_summary *summary, struct dw_summary_rank *rank, const struct dw_summary_rank *before)
{
	struct dw_summary_span *both = continue_space(summary, (before->alone_count + rank->alone_count) * sizeof *both);

	if (both && before->alone_count)
		memcpy(both, before->alone, before->alone_count * sizeof *both);
	if (both && rank->alone_count)
		memcpy(both + before->alone_count, rank->alone, rank->alone_count * sizeof *both);
	rank->alone_count = both ? before->alone_count + rank->alone_count : 0;
	rank->alone = both;
	dw_summary_thin_alone(rank);
}

static void continue_durations(struct dw_summary *summary, struct dw_summary_rank *rank,
                               const struct dw_summary_rank *before)
{
	uint64_t steps[DW_SUMMARY_BUCKETS] = { 0 };

	for (size_t i = 0; i < before->duration_count; i++)
		steps[before->durations[i].bucket] += before->durations[i].steps;
	for (size_t i = 0; i < rank->duration_count; i++)
		steps[rank->durations[i].bucket] += rank->durations[i].steps;
	rank->durations = continue_space(summary, DW_SUMMARY_BUCKETS * sizeof *rank->durations);
	rank->duration_count = 0;
	for (uint32_t i = 0; rank->durations && i < DW_SUMMARY_BUCKETS; i++)
		if (steps[i])
			rank->durations[rank->duration_count++] = (struct dw_summary_bucket){ i, steps[i] };
}

DW_ORDER(continue_compare_names, struct dw_summary_name, DW_TEXT(name) DW_UP(communication))

/* Both lists, with equal names added. They are sorted by name; dw_summary_finish() sorts them by time. */
static void continue_names(struct dw_summary *summary, struct dw_summary_name **names, size_t *count,
                           const struct dw_summary_name *before, size_t before_count)
{
	struct dw_summary_name *both = continue_space(summary, (*count + before_count) * sizeof *both);
	size_t kept = 0, all = both ? *count + before_count : 0;

	if (both && *count)
		memcpy(both, *names, *count * sizeof *both);
	if (both && before_count)
		memcpy(both + *count, before, before_count * sizeof *both);
	DW_SORT(both, all, continue_compare_names);
	for (size_t i = 0; i < all; i++) {
		if (kept && !continue_compare_names(&both[kept - 1], &both[i])) {
			dw_summary_merge(&dw_summary_name_message, &both[kept - 1], &both[i]);
		} else {
			both[kept++] = both[i];
		}
	}
	*names = both;
	*count = kept;
}

/* Collectives of a group are numbered in order, so that the earlier arrivals come first. */
static void continue_arrivals(struct dw_summary *summary, struct dw_summary_collective *row,
                              const struct dw_summary_collective *before)
{
	struct dw_summary_arrival *all =
		continue_space(summary, (row->arrival_count + before->arrival_count) * sizeof *all);
	uint64_t last = before->arrival_count ? before->arrivals[before->arrival_count - 1].sequence : 0;
	size_t count = before->arrival_count;

	if (all && count)
		memcpy(all, before->arrivals, count * sizeof *all);
	for (size_t i = 0; all && i < row->arrival_count; i++)
		if (row->arrivals[i].sequence > last)
			all[count++] = row->arrivals[i];
	row->arrivals = all;
	row->arrival_count = all ? count : 0;
}

static struct dw_summary_collective *continue_row(struct dw_summary_rank *rank,
                                                  const struct dw_summary_collective *like)
{
	for (size_t i = 0; i < rank->collective_count; i++)
		if (strcmp(rank->collectives[i].group, like->group) == 0 &&
		    strcmp(rank->collectives[i].operation, like->operation) == 0)
			return &rank->collectives[i];
	return NULL;
}

DW_ORDER(continue_compare_rows, struct dw_summary_collective, DW_TEXT(group) DW_TEXT(operation))

static void continue_collectives(struct dw_summary *summary, struct dw_summary_rank *rank,
                                 struct dw_summary_rank *before, bool newer)
{
	struct dw_summary_collective *rows =
		continue_space(summary, (rank->collective_count + before->collective_count) * sizeof *rows);

	dw_summary_thin_arrivals_to(rank, before->arrival_log2);
	dw_summary_thin_arrivals_to(before, rank->arrival_log2);
	if (rows && rank->collective_count)
		memcpy(rows, rank->collectives, rank->collective_count * sizeof *rows);
	rank->collectives = rows;
	for (size_t i = 0; rows && i < before->collective_count; i++) {
		const struct dw_summary_collective *from = &before->collectives[i];
		struct dw_summary_collective *row = continue_row(rank, from);

		if (!row) {
			if (rank->collective_count < DW_SUMMARY_COLLECTIVES) {
				rows[rank->collective_count] = *from;
				rows[rank->collective_count++].open &= !newer; /* steps ended since then */
			}
			continue;
		}
		dw_summary_merge(&dw_summary_collective_message, row, from);
		if (from->last_sequence > row->last_sequence) {
			row->last_sequence = from->last_sequence;
			row->open = from->open && !newer;
		}
		continue_arrivals(summary, row, from);
	}
	if (rank->collective_count)
		qsort(rank->collectives, rank->collective_count, sizeof *rows, continue_compare_rows);
	dw_summary_thin_arrivals(rank, DW_SUMMARY_ARRIVALS);
}

static void continue_rank(struct dw_summary *summary, struct dw_summary_rank *rank, struct dw_summary_rank *before)
{
	bool newer = rank->steps > 0;

	/* Of a rank without new steps the trace's names and layers are those of steps that were counted before. */
	if (!newer) {
		rank->named_steps = rank->name_count = rank->other_ns = 0;
		rank->layer_steps = rank->layer_count = rank->other_layers_ns = 0;
	}
	if (rank->last_step < before->last_step) {
		rank->last_step = before->last_step;
		rank->last_open = before->last_open;
	}
	rank->wall_ns =
		before->wall_ns + (rank->loop_end_ns > before->loop_end_ns ? rank->loop_end_ns - before->loop_end_ns : 0);
	/* The step that was open is new. */
	rank->missing_steps -= before->last_open && before->missing_steps;
	dw_summary_merge(&dw_summary_rank_message, rank, before);
	continue_spans(summary, rank, before);
	continue_alone(summary, rank, before);
	continue_durations(summary, rank, before);
	continue_names(summary, &rank->names, &rank->name_count, before->names, before->name_count);
	continue_names(summary, &rank->layers, &rank->layer_count, before->layers, before->layer_count);
	continue_collectives(summary, rank, before, newer);
}

bool dw_summary_continue(struct dw_summary *summary, struct dw_summary *before, struct dwell_error *error)
{
	struct dw_summary gone = { .ranks = NULL };
	bool good = true;

	for (size_t i = 0; i < before->count; i++) {
		struct dw_summary_rank *rank = (void *)(uintptr_t)dw_summary_before(summary, &before->ranks[i]);

		if (rank)
			continue_rank(summary, rank, &before->ranks[i]);
		else
			good &= DW_APPEND(&gone.ranks, &gone.capacity, &gone.count, before->ranks[i]);
	}
	dw_summary_add(summary, &gone);
	free(gone.ranks);
	if (!good)
		dw_error_set(error, DWELL_E_NOMEM, "no memory for a summary");
	return good && !summary->failed;
}
