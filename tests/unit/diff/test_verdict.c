/* Which figure decides a comparison, and what is said if none can. */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "diff/diff.h"

#define VERDICT_RUNS 5u

/* A run of `pace_ms` a step, with fast steps of `fast_ms`, while others use `others` of the CPUs. */
static struct dw_diff_run run_of(double pace_ms, double fast_ms, double others)
{
	return (struct dw_diff_run){ .path = "x.dwell",
		                         .pace_ns = pace_ms * 1e6,
		                         .step_ns = pace_ms * 1e6,
		                         .fast_ns = fast_ms * 1e6,
		                         .steps = 50,
		                         .ranks = NAN,
		                         .loops = NAN,
		                         .flops = NAN,
		                         .delay = NAN,
		                         .others = others,
		                         .stolen = NAN,
		                         .cpu_ns = NAN,
		                         .input_bytes = NAN,
		                         .activation_bytes = NAN };
}

/* Five runs a side around 20 ms and around `after_ms`, each longer by up to `spread` of it; fast steps are `fast_ms`
 * after, and 10 before. */
struct series {
	double after_ms, fast_ms, spread, others;
	enum dw_iteration_kind iterations;
	enum dw_diff_by by;
	double fast_spread; /* of the fast steps, as `spread`; 0: 0.2% from run to run */
};

static struct dw_diff diff_of(const struct series *of, struct dw_diff_run runs[2][VERDICT_RUNS])
{
	struct dw_diff diff = { .iterations = of->iterations, .by = of->by };

	for (unsigned side = 0; side < 2; side++) {
		for (unsigned i = 0; i < VERDICT_RUNS; i++) {
			double pace = (side ? of->after_ms : 20) * (1 + of->spread * ((i * 7 + side * 3) % VERDICT_RUNS) / 4.0);
			double fast = (side ? of->fast_ms : 10) * (1 + (of->fast_spread > 0 ? of->fast_spread : 0.002) * i);

			runs[side][i] = run_of(pace, fast, of->others);
			runs[side][i].cpu_ns = fast * 1e6;
		}
		diff.sides[side] = (struct dw_diff_side){ runs[side], VERDICT_RUNS, VERDICT_RUNS };
	}
	if (!dw_diff_compare(&diff))
		abort();
	return diff;
}

static void diff_end(struct dw_diff *diff)
{
	diff->sides[0].runs = diff->sides[1].runs = NULL;
	diff->sides[0].count = diff->sides[1].count = 0;
	dw_diff_reset(diff);
}

/* The verdict, what it is by, and the first sentence. */
static const char *said_of(struct series of, enum dw_diff_verdict verdict, enum dw_diff_by by)
{
	static char text[600];
	struct dw_diff_run runs[2][VERDICT_RUNS];
	struct dw_diff diff = diff_of(&of, runs);
	struct dwell_table *table = dw_diff_table(&diff);

	CHECK(diff.verdict == verdict);
	CHECK(diff.by == by);
	CHECK(diff.pace.low >= -diff.pace.before);
	snprintf(text, sizeof text, "%s", table->heads[0].text);
	dw_table_destroy(table);
	diff_end(&diff);
	return text;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

TEST(fast_steps_decide_where_the_machine_was_shared)
{
	struct series of = { 12, 5, 4, 0.5, DW_ITERATIONS_MARKED, DW_DIFF_BY_PACE, 0 };

	CHECK(begins(said_of(of, DW_DIFF_FASTER, DW_DIFF_BY_FAST),
	             "Faster by 50.0% in fast steps; the mean cannot tell, because other programs had the CPUs."));
	of = (struct series){ 20, 11, 4, 0.5, DW_ITERATIONS_MARKED, DW_DIFF_BY_PACE, 0 };
	CHECK(begins(said_of(of, DW_DIFF_SLOWER, DW_DIFF_BY_FAST), "Slower by 10.0% in fast steps; the mean cannot tell"));
}

TEST(nothing_else_decides_where_it_was_not)
{
	struct series of = { 12, 5, 4, 0.01, DW_ITERATIONS_MARKED, DW_DIFF_BY_PACE, 0 };

	CHECK(begins(said_of(of, DW_DIFF_NOT_PROVEN, DW_DIFF_BY_PACE), "Not proven: -40.0% per step"));
	of.others = NAN;
	said_of(of, DW_DIFF_NOT_PROVEN, DW_DIFF_BY_PACE);
}

TEST(a_sure_mean_decides_on_any_machine)
{
	struct series of = { 12, 11, 0.01, 0.5, DW_ITERATIONS_MARKED, DW_DIFF_BY_PACE, 0 };

	CHECK(begins(said_of(of, DW_DIFF_FASTER, DW_DIFF_BY_PACE), "Faster: -40.0% per step"));
}

/* "No difference" needs an interval without a large one; a small estimate is not enough. */
TEST(small_differences_are_none_where_the_interval_is_narrow)
{
	struct series of = { 20.4, 10, 0.05, 0.5, DW_ITERATIONS_MARKED, DW_DIFF_BY_PACE, 0 };
	const char *said;

	CHECK(begins(said_of(of, DW_DIFF_NONE, DW_DIFF_BY_PACE), "No difference at this sample: +2."));
	of.spread = 4;
	said = said_of(of, DW_DIFF_NOT_PROVEN, DW_DIFF_BY_PACE);
	CHECK(begins(said, "Not proven: +2.0"));
}

TEST(fast_steps_that_were_asked_for_have_the_same_rule)
{
	struct series of = { 20, 10.02, 0.05, 0.01, DW_ITERATIONS_MARKED, DW_DIFF_BY_PACE, 0 };

	of.by = DW_DIFF_BY_FAST;
	CHECK(begins(said_of(of, DW_DIFF_NONE, DW_DIFF_BY_FAST), "No difference at this sample: fast steps +0.2"));
	of.fast_spread = 0.2;
	CHECK(strstr(said_of(of, DW_DIFF_NOT_PROVEN, DW_DIFF_BY_FAST),
	             "The interval holds both no change and a large one: more runs, or a quieter machine"));
}

TEST(processor_time_decides_of_runs_without_steps)
{
	struct series of = { 12, 5, 4, 0.5, DW_ITERATIONS_RUN, DW_DIFF_BY_PACE, 0 };

	CHECK(begins(said_of(of, DW_DIFF_FASTER, DW_DIFF_BY_CPU),
	             "Faster by 50.0% in processor time; the wall time cannot tell, because other programs had the CPUs."));
	of.after_ms = 16; /* less than the CPU time: several threads work */
	of.fast_ms = 17;
	said_of(of, DW_DIFF_NOT_PROVEN, DW_DIFF_BY_PACE);
}

CHECK_MAIN
