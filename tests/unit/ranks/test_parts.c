/* Slow parts of ranks whose whole steps vary by more, and the stages of a pipeline. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ranks/ranks.h"

enum { RANKS = 4, STEPS = 160 };

static uint64_t state;

/* From 0 to 1. */
static double chance(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) / 9007199254740992.0;
}

/* Steps with 1 ms of data, and 20 ms of forward that other programs make up to five times as long. */
struct plan {
	int slow_rank;
	double data_ms, forward_ms; /* more, in that rank */
	double noise;
	int stages;
	double by_rank_ms; /* of forward: so much more than in the rank before */
};

static void make_step(struct dw_summary_span *span, const struct plan *plan, int i, unsigned s)
{
	double data = 1 + (i == plan->slow_rank ? plan->data_ms : 0);
	double forward = 20 + i * plan->by_rank_ms + (i == plan->slow_rank ? plan->forward_ms : 0) + 80 * plan->noise * chance() * chance();

	*span = (struct dw_summary_span){ .index = s, .steps = 1, .longest = s };
	span->part_ns[DW_PART_DATA] = (uint64_t)(data * 1e6 * (1 + 0.1 * plan->noise * chance()));
	span->part_ns[DW_PART_FORWARD] = (uint64_t)(forward * 1e6);
	span->part_ns[DW_PART_COMMUNICATION] = 5000000;
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		span->ns += span->part_ns[p];
	span->longest_ns = span->ns;
}

static void make_rank(struct dw_summary *summary, const struct plan *plan, int i)
{
	struct dw_summary_rank *rank = &summary->ranks[i];

	*rank = (struct dw_summary_rank){ .job = "", .host = "a", .command = "", .rank = i, .local_rank = i, .world_size = RANKS,
		.pid = 100 + (uint32_t)i, .steps = STEPS, .last_step = STEPS - 1, .span_count = STEPS };
	rank->spans = dw_arena_alloc(&summary->arena, STEPS * sizeof *rank->spans);
	for (unsigned s = 0; rank->spans && s < STEPS; s++)
		make_step(&rank->spans[s], plan, i, s);
	if (!plan->stages)
		return;
	rank->collectives = dw_arena_alloc(&summary->arena, sizeof *rank->collectives);
	if (!rank->collectives)
		abort();
	rank->collectives[0] = (struct dw_summary_collective){ .group = i < RANKS - 1 ? "0 -> 1 of world" : "2 -> 3 of world", .operation = "recv",
		.count = STEPS, .blocked_ns = STEPS * 4000000u, .last_sequence = STEPS };
	rank->collective_count = 1;
}

static void compare(const struct plan *plan, char *text, size_t size)
{
	struct dw_summary summary = { .count = RANKS, .capacity = RANKS };
	struct dwell_error error = { 0, "" };
	struct dwell_table *table;
	struct dw_ranks ranks;

	state = 7;
	summary.ranks = calloc(RANKS, sizeof *summary.ranks);
	for (int i = 0; summary.ranks && i < RANKS; i++)
		make_rank(&summary, plan, i);
	if (!summary.ranks || !dw_summary_finish(&summary, &error) || !dw_ranks_compare(&ranks, &summary, &error) ||
	    !(table = dw_ranks_table(&ranks)))
		abort();
	*text = '\0';
	for (size_t i = 0; i < table->head_count; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s ", table->heads[i].text);
	dw_table_destroy(table);
	dw_ranks_reset(&ranks);
	dw_summary_reset(&summary);
}

TEST(a_slow_part_is_found_where_whole_steps_vary_by_more)
{
	struct plan plan = { .slow_rank = 2, .data_ms = 4, .noise = 1 };
	char text[2000];

	compare(&plan, text, sizeof text);
	CHECK(strstr(text, "Rank 2 takes 4."));
	CHECK(strstr(text, "longer than the median rank in data"));
}

TEST(without_a_slow_rank_none_is_named)
{
	struct plan plan = { .slow_rank = -1, .noise = 1 };
	char text[2000];

	compare(&plan, text, sizeof text);
	CHECK(!strstr(text, "slow:") && !strstr(text, "may be slow") && !strstr(text, "longer than the median rank"));
}

/* It loads the data of all ranks, and computes so much less. */
TEST(more_of_one_part_and_less_of_another_is_not_slow)
{
	struct plan plan = { .slow_rank = 1, .data_ms = 6, .forward_ms = -6, .noise = 0.01 };
	char text[2000];

	compare(&plan, text, sizeof text);
	CHECK(strstr(text, "No rank stands out"));
}

TEST(a_rank_that_may_be_slow_is_named_with_its_cost)
{
	struct plan plan = { .slow_rank = 3, .forward_ms = 4.3, .noise = 0.72 };
	char text[2000];

	compare(&plan, text, sizeof text);
	CHECK(strstr(text, "Rank 3 may be slow"));
	CHECK(strstr(text, "a step longer than the median rank"));
}

TEST(stages_of_a_pipeline_are_named_as_such)
{
	struct plan plan = { .slow_rank = 1, .forward_ms = 20, .noise = 0.01, .stages = true };
	char text[2000];

	compare(&plan, text, sizeof text);
	CHECK(strstr(text, "The ranks are stages of a pipeline"));
	CHECK(strstr(text, "Stage 1 works longest"));
}

TEST(work_that_differs_by_rank_is_said)
{
	struct plan plan = { .slow_rank = -1, .noise = 0.02, .by_rank_ms = 1.2 };
	char text[2000];

	compare(&plan, text, sizeof text);
	CHECK(strstr(text, "Work is uneven: rank 3 works "));
	CHECK(strstr(text, "% longer than the median rank, and is last in "));
	CHECK(strstr(text, "; rank 0 works "));
	CHECK(!strstr(text, "stands out") && !strstr(text, "delayed step"));
}

CHECK_MAIN
