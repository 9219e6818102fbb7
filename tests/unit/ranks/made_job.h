/* What `dwell ranks` says first of a summary that a test made by hand. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "ranks/ranks.h"

enum { RANKS = 4, SLOW = 1 };

static const uint64_t ms = 1000000;

/* A rank of a job whose steps have one span each, without times. */
static inline struct dw_summary_rank *made_rank(struct dw_summary *summary, int number, size_t steps)
{
	struct dw_summary_rank *rank = &summary->ranks[number];

	*rank = (struct dw_summary_rank){ .job = "", .host = "a", .command = "", .rank = number, .local_rank = number,
		.world_size = RANKS, .pid = 100 + (uint32_t)number, .steps = steps, .last_step = steps - 1, .span_count = steps };
	rank->spans = dw_arena_alloc(&summary->arena, steps * sizeof *rank->spans);
	if (!rank->spans)
		abort();
	for (size_t s = 0; s < steps; s++)
		rank->spans[s] = (struct dw_summary_span){ .index = s, .steps = 1, .longest = s };
	return rank;
}

/* Makes each rank with `make`, and returns the first sentence about the file of that summary. Valid until the next call. */
static inline const char *made_job_says(void (*make)(struct dw_summary *, int rank, void *plan), void *plan)
{
	static char text[1000];
	struct dw_summary made = { .count = RANKS, .capacity = RANKS }, read = { .count = 0 };
	struct dw_proto proto = { 0 };
	struct dwell_error error = { 0, "" };
	struct dwell_table *table;
	struct dw_ranks ranks;

	made.ranks = calloc(RANKS, sizeof *made.ranks);
	for (int i = 0; made.ranks && i < RANKS; i++)
		make(&made, i, plan);
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
