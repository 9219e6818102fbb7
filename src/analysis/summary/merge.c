/*
 * Merges summaries. The result depends only on the set of ranks, not on the order of merging.
 *
 * A summary of few ranks has up to DW_SUMMARY_SPANS spans and DW_SUMMARY_NAMES names for each; one
 * of many ranks has fewer, so that its size is bounded too. The same is true of layers and of
 * arrivals at collectives. All of these are left out only in dw_summary_finish(), and the number of
 * ranks decides. A smaller set of ranks leaves out less, and leaving out twice is the same as once:
 * spans with equal numbers of steps add up, the largest of the largest names are the largest of all,
 * and every fourth arrival is every second of every second one.
 */

#include "base/error.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"
#include "summary/fields.h"
#include "summary/summary.h"

#define ALL_SPANS (1u << 19) /* in a summary of many ranks, together */
#define ALL_NAMES (1u << 17)
#define ALL_LAYERS (1u << 15)
#define ALL_ARRIVALS (1u << 18)
#define SAME_START_NS 1000000000u
#define LEAST_SPANS 16u /* of a rank */
#define LEAST_NAMES 8u
#define LEAST_LAYERS 8u
#define LEAST_ARRIVALS 4u

void dw_summary_reset(struct dw_summary *summary)
{
	dw_arena_reset(&summary->arena);
	free(summary->ranks);
	*summary = (struct dw_summary){ .ranks = NULL };
}

static const void *merge_copy(struct dw_summary *summary, const void *from, size_t bytes)
{
	void *copy = dw_arena_alloc(&summary->arena, bytes ? bytes : 1);

	if (copy && bytes)
		memcpy(copy, from, bytes);
	summary->failed |= !copy;
	return copy;
}

const char *dw_summary_text(struct dw_summary *summary, const char *text, size_t length)
{
	char *copy = dw_arena_text(&summary->arena, text, strnlen(text, length)), *good;
	const char *from = copy;
	size_t plain = 0, used = 0;

	while (copy && copy[plain] && (unsigned char)copy[plain] < 0x80)
		plain++;
	if (copy && !copy[plain])
		return copy;
	/* A byte that is no part of a character becomes three. */
	good = copy ? dw_arena_alloc(&summary->arena, 3 * strlen(copy) + 1) : NULL;
	summary->failed |= !good;
	while (good && *from)
		used += dw_utf8_put(good + used, dw_utf8_next(&from));
	return good ? good : "";
}

static const char *merge_text(struct dw_summary *summary, const char *text)
{
	const char *copy = dw_arena_text(&summary->arena, text, strlen(text));

	summary->failed |= !copy;
	return copy ? copy : "";
}

/* Makes a copy of a struct independent: copies its texts and arrays. */
static void merge_copy_message(struct dw_summary *summary, const struct dw_summary_message *message, void *to)
{
	for (size_t f = 0; f < message->count && !summary->failed; f++) {
		const struct dw_summary_field *field = &message->fields[f];

		if (field->kind == DW_FIELD_TEXT)
			*(const char **)dw_field_at(field, to) = merge_text(summary, *(const char **)dw_field_at(field, to));
		else if (field->kind == DW_FIELD_WITHIN)
			merge_copy_message(summary, field->message, to);
		if (!dw_field_is_array(field))
			continue;
		dw_field_set_array(
			field, to, merge_copy(summary, dw_field_array(field, to), *dw_field_count(field, to) * field->item_bytes));
		for (size_t i = 0; field->message && !summary->failed && i < *dw_field_count(field, to); i++)
			merge_copy_message(summary, field->message, dw_field_array(field, to) + i * field->item_bytes);
	}
}

void dw_summary_add(struct dw_summary *summary, const struct dw_summary *other)
{
	for (size_t i = 0; i < other->count; i++) {
		struct dw_summary_rank *rank = DW_GROW(&summary->ranks, &summary->capacity, summary->count);

		summary->failed |= !rank;
		if (summary->failed)
			return;
		*rank = other->ranks[i];
		merge_copy_message(summary, &dw_summary_rank_message, rank);
		if (summary->failed)
			return;
		summary->count++;
	}
}

uint64_t dw_summary_steps(const struct dw_summary_rank *rank)
{
	return rank->steps + rank->warm_up_steps + rank->missing_steps;
}

/* ---- leaving out --------------------------------------------------------------------------------
 */

void dw_summary_merge_span(struct dw_summary_span *into, const struct dw_summary_span *from)
{
	into->steps += from->steps;
	into->ns += from->ns;
	/* Of equally long steps the first one is kept, in whatever order spans are added. */
	if (from->longest_ns > into->longest_ns ||
	    (from->longest_ns == into->longest_ns && from->longest < into->longest)) {
		into->longest_ns = from->longest_ns;
		into->longest = from->longest;
	}
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		into->part_ns[p] += from->part_ns[p];
	into->between_ns += from->between_ns;
}

DW_ORDER(merge_compare_alone, struct dw_summary_span, DW_DOWN(longest_ns) DW_UP(index))
DW_ORDER(merge_compare_number, struct dw_summary_span, DW_UP(index))

void dw_summary_thin_alone(struct dw_summary_rank *rank)
{
	DW_SORT(rank->alone, rank->alone_count, merge_compare_alone);
	if (rank->alone_count > DW_SUMMARY_ALONE)
		rank->alone_count = DW_SUMMARY_ALONE;
	DW_SORT(rank->alone, rank->alone_count, merge_compare_number);
}

void dw_summary_coarsen(struct dw_summary_rank *rank, unsigned span_log2)
{
	unsigned shift = span_log2 - rank->span_log2;
	size_t kept = 0;

	if (span_log2 <= rank->span_log2)
		return;
	for (size_t i = 0; i < rank->span_count; i++) {
		struct dw_summary_span span = rank->spans[i];

		span.index = shift < 64 ? span.index >> shift : 0;
		if (kept && rank->spans[kept - 1].index == span.index)
			dw_summary_merge_span(&rank->spans[kept - 1], &span);
		else
			rank->spans[kept++] = span;
	}
	rank->span_count = kept;
	rank->span_log2 = span_log2;
}

static uint64_t merge_extent(const struct dw_summary_rank *rank)
{
	return rank->span_count ? rank->spans[rank->span_count - 1].index - rank->spans[0].index + 1 : 0;
}

DW_ORDER(merge_name_compare, struct dw_summary_name,
         DW_DOWN(self_ns) DW_TEXT(name) DW_DOWN(communication) DW_DOWN(calls))

/* Sorts the names and keeps the largest. Returns the self time of the others. */
static uint64_t merge_leave_out(struct dw_summary_name *names, size_t *count, size_t most)
{
	uint64_t left_out_ns = 0;

	DW_SORT(names, *count, merge_name_compare);
	while (*count > most)
		left_out_ns += names[--*count].self_ns;
	return left_out_ns;
}

void dw_summary_thin_arrivals_to(struct dw_summary_rank *rank, unsigned arrival_log2)
{
	if (arrival_log2 <= rank->arrival_log2)
		return;
	rank->arrival_log2 = arrival_log2;
	for (size_t i = 0; i < rank->collective_count; i++) {
		struct dw_summary_collective *row = &rank->collectives[i];
		size_t kept = 0;

		for (size_t k = 0; k < row->arrival_count; k++)
			if (!(row->arrivals[k].sequence & (((uint64_t)1 << arrival_log2) - 1)))
				row->arrivals[kept++] = row->arrivals[k];
		row->arrival_count = kept;
	}
}

void dw_summary_thin_arrivals(struct dw_summary_rank *rank, size_t most)
{
	for (;;) {
		size_t count = 0;

		for (size_t i = 0; i < rank->collective_count; i++)
			count += rank->collectives[i].arrival_count;
		if (count <= most || rank->arrival_log2 == 63)
			return;
		dw_summary_thin_arrivals_to(rank, rank->arrival_log2 + 1);
	}
}

/* ---- order --------------------------------------------------------------------------------------
 */

/* Of two summaries of one process the later one comes first. */
DW_ORDER(merge_compare_length, struct dw_summary_rank, DW_DOWN(last_step) DW_DOWN(wall_ns))

/* By job, rank, and what else tells two processes apart. */
DW_ORDER(merge_rank_compare, struct dw_summary_rank,
         DW_TEXT(job) DW_UP(rank) DW_TEXT(host) DW_UP(pid) DW_UP(start_ns) DW_DOWN(last_step) DW_DOWN(wall_ns))

/* When a process began is known to some ns or us, because clocks are estimated: of one file alone
 * otherwise than of all files of a run. */
bool dw_summary_same_rank(const struct dw_summary_rank *a, const struct dw_summary_rank *b)
{
	uint64_t apart_ns = a->start_ns > b->start_ns ? a->start_ns - b->start_ns : b->start_ns - a->start_ns;

	return a->rank == b->rank && a->pid == b->pid && apart_ns < SAME_START_NS && strcmp(a->host, b->host) == 0 &&
	       strcmp(a->job, b->job) == 0;
}

static size_t merge_share(size_t all, size_t ranks, size_t most, size_t least)
{
	size_t share = all / (ranks ? ranks : 1);

	return share > most ? most : share < least ? least : share;
}

size_t dw_summary_share_spans(size_t ranks)
{
	return merge_share(ALL_SPANS, ranks, DW_SUMMARY_SPANS, LEAST_SPANS);
}

bool dw_summary_finish(struct dw_summary *summary, struct dwell_error *error)
{
	size_t kept = 0, shares, spans, names, layers, arrivals;

	if (summary->failed) {
		dw_error_set(error, DWELL_E_NOMEM, "no memory to merge summaries");
		return false;
	}
	DW_SORT(summary->ranks, summary->count, merge_rank_compare);
	for (size_t i = 0; i < summary->count; i++) {
		struct dw_summary_rank *last = kept ? &summary->ranks[kept - 1] : NULL;

		if (!last || !dw_summary_same_rank(last, &summary->ranks[i]))
			summary->ranks[kept++] = summary->ranks[i];
		else if (merge_compare_length(last, &summary->ranks[i]) > 0)
			*last = summary->ranks[i];
	}
	summary->count = kept;
	shares = kept > summary->expected ? kept : summary->expected;
	spans = dw_summary_share_spans(shares);
	names = merge_share(ALL_NAMES, shares, DW_SUMMARY_NAMES, LEAST_NAMES);
	layers = merge_share(ALL_LAYERS, shares, DW_SUMMARY_LAYERS, LEAST_LAYERS);
	arrivals = merge_share(ALL_ARRIVALS, shares, DW_SUMMARY_ARRIVALS, LEAST_ARRIVALS);
	for (size_t i = 0; i < kept; i++) {
		struct dw_summary_rank *rank = &summary->ranks[i];

		while (merge_extent(rank) > spans)
			dw_summary_coarsen(rank, rank->span_log2 + 1);
		rank->other_ns += merge_leave_out(rank->names, &rank->name_count, names);
		rank->other_layers_ns += merge_leave_out(rank->layers, &rank->layer_count, layers);
		dw_summary_thin_arrivals(rank, arrivals);
	}
	return true;
}
