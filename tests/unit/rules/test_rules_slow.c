/* Rules about slow iterations and the warm-up: which cells of these they are about. */
#include "trials.h"

#define SLOW .class = DW_ITERATION_SLOW
#define FIRST .class = DW_ITERATION_WARM_UP

/* What slow iterations take beyond others is in a function, and the sentence names it. */
TEST(slow_iterations_have_a_place)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0 }));
	CHECK(
		made_fires_of(&at, "slow-steps",
	                  MADE_CELLS(CELL(RUNS, OWN, 0.20, SLOW, .function = "compact"), CELL(RUNS, ALGEBRA, 0.05, SLOW))));
	CHECK_STR(
		made_find(&at, "slow-steps")->statement,
		"Slow steps, 5% of all, take 21% of the loop beyond the usual time, most of it in compact (engine.c:41).");
	CHECK(!made_fires_of(&at, "slow-steps", MADE_CELLS(CELL(RUNS, OWN, 0.07, SLOW, .function = "compact"))));
	made_end(&at);
}

/* 3 of 60 iterations have as much of what all do as 3 others. */
TEST(what_all_iterations_do_is_not_slow)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0 }));
	CHECK(made_fires_of(&at, "slow-steps", MADE_CELLS(CELL(WAITS, DEVICE, 0.56), CELL(RUNS, OWN, 0.15, SLOW))));
	CHECK_NEAR(made_find(&at, "slow-steps")->share.value, 0.15 - 0.85 * 3 / 56, 1e-3);
	made_end(&at);
}

/* Whether slow iterations are reported if so many of 60 run for `slow` of the loop, and do what the others do. */
static bool fires_alike(struct made *at, size_t count, double slow)
{
	made_cells(at, MADE_CELLS(CELL(RUNS, OWN, (1 - slow) / 2), CELL(RUNS, ALGEBRA, (1 - slow) / 2),
	                          CELL(RUNS, OWN, slow / 2, SLOW), CELL(RUNS, ALGEBRA, slow / 2, SLOW)));
	at->account.of.classes[DW_ITERATION_SLOW].count = count;
	at->account.of.classes[DW_ITERATION_STEADY].count = 60 - count;
	made_judge(at);
	return made_find(at, "slow-steps")->state == DW_RULE_FIRED;
}

/* If all cells are longer alike, the machine was slower, unless the thread runs for much longer. */
TEST(iterations_that_are_slow_alike_are_the_machines)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0 }));
	CHECK(!fires_alike(&at, 10, 0.3)); /* 2.1 times as long */
	CHECK(fires_alike(&at, 10, 0.4));  /* 3.3 times */
	made_end(&at);
}

/* What another cause has of the slow iterations is that cause's. */
TEST(slow_iterations_give_way_to_causes)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0 }));
	CHECK(!made_fires_of(&at, "slow-steps", MADE_CELLS(CELL(WAITS, DISK, 0.20, SLOW), CELL(RUNS, OWN, 0.05, SLOW))));
	CHECK_EQ(made_find(&at, "slow-steps")->state, DW_RULE_COVERED);
	CHECK_EQ(made_find(&at, "waiting-file")->state, DW_RULE_FIRED);
	CHECK(made_fires_of(&at, "slow-steps", MADE_CELLS(CELL(WAITS, DISK, 0.20, SLOW), CELL(RUNS, OWN, 0.15, SLOW))));
	/* A cause that is too small for a sentence has nothing. */
	CHECK(made_fires_of(
		&at, "slow-steps",
		MADE_CELLS(CELL(WAITS, DISK, 0.06, SLOW), CELL(WAITS, SLEEP, 0.06, SLOW), CELL(RUNS, OWN, 0.05, SLOW))));
	made_end(&at);
}

/* What records explain has rules of its own, and so have waits for threads. */
TEST(slow_iterations_are_not_what_records_explain)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0 }));
	CHECK(!made_fires_of(&at, "slow-steps", MADE_CELLS(CELL(WAITS, FILE, 0.3, SLOW, .share = DW_SHARE_CHECKPOINT))));
	CHECK(!made_fires_of(&at, "slow-steps", MADE_CELLS(CELL(WAITS, BARRIER, 0.3, SLOW))));
	CHECK(!made_fires_of(&at, "slow-steps", MADE_CELLS(CELL(NO_CPU, UNKNOWN, 0.3, SLOW))));
	made_end(&at);
}

/* Other threads without a CPU make the loop's thread wait. */
TEST(slow_iterations_without_cpus_are_no_cause)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_OUTLIERS, 3 }, { DW_FACT_STEP_OUTLIERS_EXCESS, 0.2 }));
	at.facts.at[DW_FACT_STEP_OUTLIERS_EXCESS].note = "no CPU";
	CHECK(!made_fires_of(&at, "slow-steps", MADE_CELLS(CELL(WAITS, UNKNOWN, 0.2, SLOW))));
	at.facts.at[DW_FACT_STEP_OUTLIERS_EXCESS].note = "idle";
	CHECK(!made_fires_of(&at, "slow-steps", MADE_CELLS(CELL(WAITS, UNKNOWN, 0.6, SLOW)))); /* that is the rule "idle" */
	CHECK(made_fires_of(&at, "slow-steps", MADE_CELLS(CELL(RUNS, OWN, 0.2, SLOW))));
	made_end(&at);
}

/* If the kernel does not say for how long the slow iterations had no CPU, their length may be such time. */
TEST(time_without_a_cpu_may_be_in_the_slow_iterations)
{
	const struct made_cell cells[] = { CELL(RUNS, OWN, 0.25, SLOW, .function = "compact"),
		                               CELL(NO_CPU, UNKNOWN, 0.40),
		                               { .part = 0 } };
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0 }));
	CHECK(made_fires_of(&at, "slow-steps", cells));
	at.account.of.classes[DW_ITERATION_SLOW].bounded = false;
	made_judge(&at);
	CHECK(made_find(&at, "slow-steps")->state != DW_RULE_FIRED);
	made_end(&at);
}

TEST(a_slow_first_iteration_is_warm_up_only)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0 }));
	CHECK(made_fires_of(&at, "warm-up", MADE_CELLS(CELL(RUNS, COMPILES, 0.5, FIRST, .share = DW_SHARE_BACKWARD))));
	CHECK(made_find(&at, "slow-steps")->state != DW_RULE_FIRED);
	CHECK_STR(made_find(&at, "warm-up")->statement,
	          "Warm-up of 1 step: 600 ms, 49% of the loop beyond the usual time, most of it in backward.");
	made_end(&at);
}

/* An account whose classes are not known, and none at all. */
TEST(without_classes_nothing_is_said_of_them)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_OUTLIERS, 3 }, { DW_FACT_STEP_OUTLIERS_EXCESS, 0.4 }));
	made_judge(&at);
	CHECK_EQ(made_find(&at, "slow-steps")->state, DW_RULE_NOT_MEASURED);
	made_cells(&at, MADE_CELLS(CELL(RUNS, OWN, 0.3, SLOW)));
	memset(at.account.of.classes, 0, sizeof at.account.of.classes);
	made_judge(&at);
	CHECK_EQ(made_find(&at, "slow-steps")->state, DW_RULE_NOT_MEASURED);
	CHECK_EQ(made_find(&at, "warm-up")->state, DW_RULE_NOT_MEASURED);
	made_end(&at);
}

CHECK_MAIN
