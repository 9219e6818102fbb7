/* A rank that is slow where its program has no ranges: the summary keeps functions by samples, and the sentence names one. */
#include "made_job.h"

enum { STEPS = 100 };

/* Where rank 1 takes 3 ms a step longer, and what samples say of it: a look at a function stands for 10 ms. */
struct plan {
	enum dw_part part;
	uint64_t computes, waits; /* samples more in one function; UINT64_MAX: there are none of any */
};

static void make_functions(struct dw_summary_rank *rank, const struct plan *plan, bool slow, struct dw_summary_name names[4])
{
	uint64_t computes = 10 + (slow ? plan->computes : 0), waits = 2 + (slow ? plan->waits : 0);

	if (plan->computes == UINT64_MAX)
		return;
	names[0] = (struct dw_summary_name){ "forward at net.c:31", false, 40, 40 * 10 * ms };
	names[1] = (struct dw_summary_name){ "optimizer at net.c:84", false, computes, computes * 10 * ms };
	names[2] = (struct dw_summary_name){ "load at net.c:12", false, waits, waits * 10 * ms };
	rank->function_steps = STEPS;
	rank->functions = names;
	rank->function_count = 2;
	rank->waits = names + 2;
	rank->wait_count = 1;
}

static struct dw_summary_name names_of[RANKS][4];

static void make_rank(struct dw_summary *summary, int number, void *given)
{
	struct dw_summary_rank *rank = made_rank(summary, number, STEPS);
	const struct plan *plan = given;

	for (unsigned s = 0; s < STEPS; s++) {
		struct dw_summary_span *span = &rank->spans[s];

		span->part_ns[plan->part] = (number == SLOW ? 13 : 10) * ms + (s * 7 + (unsigned)number * 13) % 10 * 10000;
		span->part_ns[DW_PART_COMMUNICATION] = (number == SLOW ? 1 : 4) * ms;
		span->ns = span->longest_ns = span->part_ns[plan->part] + span->part_ns[DW_PART_COMMUNICATION];
		rank->ns += span->ns;
	}
	make_functions(rank, plan, number == SLOW, names_of[number]);
}

static const char *said(enum dw_part part, uint64_t computes, uint64_t waits)
{
	struct plan plan = { part, computes, waits };

	return made_job_says(make_rank, &plan);
}

#define SLOWER "Rank 1 is slow: it works 29.8% longer than the median rank, most of it "

TEST(a_rank_that_computes_more_has_the_function)
{
	CHECK_STR(said(DW_PART_UNNAMED, 30, 0), SLOWER "in optimizer at net.c:84 (3.00 ms a step more).");
}

TEST(what_a_rank_takes_longer_than_it_computes_is_said)
{
	CHECK_STR(said(DW_PART_UNNAMED, 12, 0), SLOWER "in optimizer at net.c:84, with waits for a CPU (3.00 ms a step more).");
	CHECK_STR(said(DW_PART_UNNAMED, 20, 0), SLOWER "in optimizer at net.c:84 (3.00 ms a step more).");
	CHECK_STR(said(DW_PART_IDLE, 12, 0), SLOWER "in optimizer at net.c:84 and in waits (3.00 ms a step more).");
}

TEST(a_rank_that_waits_more_waits)
{
	CHECK_STR(said(DW_PART_IDLE, 0, 30), SLOWER "waiting in load at net.c:12 (3.00 ms a step more).");
	CHECK_STR(said(DW_PART_UNNAMED, 20, 30), SLOWER "waiting in load at net.c:12 (3.00 ms a step more).");
}

TEST(few_samples_more_are_chance)
{
	CHECK_STR(said(DW_PART_IDLE, 5, 1), SLOWER "in waits outside of any range (3.00 ms a step more).");
}

TEST(without_samples_no_function_is_named)
{
	CHECK_STR(said(DW_PART_IDLE, UINT64_MAX, 0), SLOWER "in waits outside of any range (3.00 ms a step more).");
	CHECK_STR(said(DW_PART_UNNAMED, UINT64_MAX, 0), SLOWER "outside of any range (3.00 ms a step more).");
}

CHECK_MAIN
