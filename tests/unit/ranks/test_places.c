/* A rank that is slow in the program's own lines: the summary keeps them, and the sentence names them. */
#include <stdlib.h>

#include "check.h"
#include "ranks/ranks.h"

enum { RANKS = 4, STEPS = 60, SLOW = 1 };

static const uint64_t ms = 1000000;

/* Steps of 10 ms and 1 ms of communication; rank 1 takes 8 ms between its steps, for which the others wait in the
 * next one. `lines` of them are known. */
static void make_rank(struct dw_summary *summary, int number, uint64_t lines_ms)
{
	struct dw_summary_rank *rank = &summary->ranks[number];
	static struct dw_summary_name places[2];

	*rank = (struct dw_summary_rank){ .job = "", .host = "a", .command = "", .rank = number, .local_rank = number,
		.world_size = RANKS, .pid = 100 + (uint32_t)number, .steps = STEPS, .last_step = STEPS - 1, .span_count = STEPS };
	rank->spans = dw_arena_alloc(&summary->arena, STEPS * sizeof *rank->spans);
	if (!rank->spans)
		abort();
	for (unsigned s = 0; s < STEPS; s++) {
		struct dw_summary_span *span = &rank->spans[s];
		uint64_t waits = number == SLOW ? 1 : 9;

		*span = (struct dw_summary_span){ .index = s, .steps = 1, .longest = s };
		span->part_ns[DW_PART_FORWARD] = 10 * ms + (s * 7 + (unsigned)number * 13) % 10 * 10000;
		span->part_ns[DW_PART_COMMUNICATION] = waits * ms;
		span->ns = span->longest_ns = span->part_ns[DW_PART_FORWARD] + waits * ms;
		span->between_ns = number == SLOW ? 8 * ms : 0;
		rank->ns += span->ns;
	}
	if (number != SLOW || !lines_ms)
		return;
	places[0] = (struct dw_summary_name){ "train.py:10 and train.py:14", false, STEPS, STEPS * lines_ms * ms };
	places[1] = (struct dw_summary_name){ "train.py:30", false, 2, 3 * ms };
	rank->places = places;
	rank->place_count = 2;
}

/* The first sentence of `dwell ranks` on the file of such a job's summary. */
static const char *said(uint64_t lines_ms)
{
	static char text[1000];
	struct dw_summary made = { .count = RANKS, .capacity = RANKS }, read = { .count = 0 };
	struct dw_proto proto = { 0 };
	struct dwell_error error = { 0, "" };
	struct dwell_table *table;
	struct dw_ranks ranks;

	made.ranks = calloc(RANKS, sizeof *made.ranks);
	for (int i = 0; made.ranks && i < RANKS; i++)
		make_rank(&made, i, lines_ms);
	if (!made.ranks || !dw_summary_finish(&made, &error))
		abort();
	dw_summary_encode(&made, &proto);
	if (dw_summary_decode(&read, "x.sum", proto.bytes, proto.used, &error) || !dw_summary_finish(&read, &error) ||
	    !dw_ranks_compare(&ranks, &read, &error) || !(table = dw_ranks_table(&ranks))) {
		fprintf(stderr, "%s\n", error.message);
		abort();
	}
	snprintf(text, sizeof text, "%s", table->heads[0].text);
	dw_table_destroy(table);
	dw_ranks_reset(&ranks);
	dw_proto_reset(&proto);
	dw_summary_reset(&made);
	dw_summary_reset(&read);
	return text;
}

TEST(a_slow_rank_has_its_lines)
{
	CHECK_STR(said(7), "Rank 1 is slow: it works 79.6% longer than the median rank, most of it between steps (8.00 ms a "
	                   "step more), between train.py:10 and train.py:14.");
}

TEST(lines_that_explain_little_are_not_named)
{
	const char *without = "Rank 1 is slow: it works 79.6% longer than the median rank, most of it between steps (8.00 ms a "
	                      "step more).";

	CHECK_STR(said(0), without);
	CHECK_STR(said(1), without);
}

CHECK_MAIN
