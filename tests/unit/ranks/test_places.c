/* A rank that is slow in the program's own lines: the summary keeps them, and the sentence names them. */
#include "made_job.h"

enum { STEPS = 60 };

/* Steps of 10 ms and 1 ms of communication; rank 1 takes 8 ms between its steps, for which the others wait in the
 * next one. Of these, `lines_ms` have lines. */
static void make_rank(struct dw_summary *summary, int number, void *given)
{
	struct dw_summary_rank *rank = made_rank(summary, number, STEPS);
	static struct dw_summary_name places[2];
	uint64_t lines_ms = *(uint64_t *)given;

	for (unsigned s = 0; s < STEPS; s++) {
		struct dw_summary_span *span = &rank->spans[s];
		uint64_t waits = number == SLOW ? 1 : 9;

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

static const char *said(uint64_t lines_ms)
{
	return made_job_says(make_rank, &lines_ms);
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
