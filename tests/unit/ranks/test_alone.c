/* A single slow step that ranks recorded without operators, so that it is in no span. */
#include <string.h>

#include "made_job.h"

enum { STEPS = 40, LATE = 27 };

/* By rank: whether it has the late step alone. */
struct plan {
	bool alone[RANKS];
	unsigned late_ms, span_log2;
};

/* The others wait for the slow rank. */
static void fill(struct dw_summary_span *span, const struct plan *plan, int number)
{
	uint64_t late = span->index == LATE ? plan->late_ms : 0;

	span->part_ns[DW_PART_DATA] = (1 + (number == SLOW ? late : 0)) * ms;
	span->part_ns[DW_PART_FORWARD] = (20 + (span->index * 7 + (unsigned)number) % 3) * ms;
	span->part_ns[DW_PART_COMMUNICATION] = (5 + (number == SLOW ? 0 : late)) * ms;
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		span->ns += span->part_ns[p];
	span->longest_ns = span->ns;
}

static void make(struct dw_summary *summary, int number, void *data)
{
	const struct plan *plan = data;
	struct dw_summary_rank *rank = made_rank(summary, number, STEPS);

	rank->alone = dw_arena_alloc(&summary->arena, sizeof *rank->alone);
	if (!rank->alone)
		abort();
	for (size_t s = 0; s < STEPS; s++)
		fill(&rank->spans[s], plan, number);
	if (plan->alone[number]) {
		rank->alone[rank->alone_count++] = rank->spans[LATE];
		memmove(&rank->spans[LATE], &rank->spans[LATE + 1], (STEPS - LATE - 1) * sizeof *rank->spans);
		rank->span_count--;
		rank->steps--;
	}
	dw_summary_coarsen(rank, plan->span_log2);
}

TEST(a_slow_step_without_operators_is_found)
{
	struct plan plans[] = {
		{ { true, true, true, true }, 300, 0 }, { { false, true, false, false }, 300, 0 }, { { true, false, true, true }, 300, 0 },
		{ { false, false, false, false }, 300, 0 }, { { true, true, true, true }, 300, 3 },
	};

	for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
		CHECK_HAS(made_job_says(make, &plans[i]), "Rank 1 delayed step 27 by 300 ms, in data.");
}

TEST(a_usual_step_without_operators_is_not)
{
	struct plan plans[] = { { { true, true, true, true }, 0, 0 }, { { false, true, false, false }, 2, 0 }, { { true, true, true, true }, 0, 3 } };

	for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
		CHECK_EQ(strstr(made_job_says(make, &plans[i]), "delayed") == NULL, true);
}

TEST(the_longest_steps_are_kept)
{
	struct dw_summary_span spans[DW_SUMMARY_ALONE + 9];
	struct dw_summary_rank rank = { .alone = spans, .alone_count = DW_SUMMARY_ALONE + 9 };

	for (uint64_t i = 0; i < rank.alone_count; i++)
		spans[i] = (struct dw_summary_span){ .index = i, .longest_ns = i * 7 % 25 };
	dw_summary_thin_alone(&rank);
	CHECK_EQ(rank.alone_count, DW_SUMMARY_ALONE);
	for (size_t i = 0; i < rank.alone_count; i++) {
		CHECK_EQ(spans[i].longest_ns >= 9, true);
		CHECK_EQ(i == 0 || spans[i - 1].index < spans[i].index, true);
	}
}

CHECK_MAIN
