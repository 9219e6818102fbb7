/* Rules about the interpreter, small operators, the machine's CPUs and the pace of steps: each below,
 * at and above its threshold, with what looks alike, and without evidence. */
#include "trials.h"

/* 480 of 600 operators of a step of 20 ms are small: their calls are four fifths of what samples find in the
 * interpreter, and at most 10 us each, which is 24%. */
TEST(small_operators_have_their_part_of_the_interpreters_time)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_OPERATORS_SMALL, 0.25 }, { DW_FACT_OPERATORS_SMALL_COUNT, 480 },
	                     { DW_FACT_OPERATORS_SMALL_MEAN, 10e3 }, { DW_FACT_OPERATORS_COUNT, 600 }));
	CHECK(!made_fires_of(&at, "small-operators", MADE_CELLS(CELL(RUNS, INTERPRETER, 0.09))));
	CHECK(made_fires_of(&at, "small-operators", MADE_CELLS(CELL(RUNS, INTERPRETER, 0.11))));
	CHECK_NEAR(made_find(&at, "small-operators")->share.value, 0.25 + 0.8 * 0.11, 1e-9);
	CHECK(made_fires_of(&at, "small-operators", MADE_CELLS(CELL(RUNS, INTERPRETER, 0.45))));
	CHECK_NEAR(made_find(&at, "small-operators")->share.value, 0.25 + 0.24, 1e-9);
	CHECK_EQ(made_find(&at, "python")->state, DW_RULE_COVERED); /* it is their calls */
	/* Far more of the interpreter's time than these calls have is its own. */
	CHECK(!made_fires_of(&at, "small-operators", MADE_CELLS(CELL(RUNS, INTERPRETER, 0.70))));
	CHECK_EQ(made_find(&at, "python")->state, DW_RULE_FIRED);
	made_set(&at, DW_FACT_OPTIMIZER_COUNT, 300); /* half are the optimizer's */
	made_judge(&at);
	CHECK(made_find(&at, "small-operators")->state != DW_RULE_FIRED);
	CHECK_EQ(made_without(&at, "small-operators", DW_FACT_OPERATORS_SMALL), DW_RULE_NOT_MEASURED);
	made_end(&at);
}

/* After each step 400 operators take 4 ms of 20, and Python calls them. */
TEST(small_operators_between_steps_are_small_operators)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_LOOP_STEPS, 0.6 }, { DW_FACT_LOOP_OPERATORS, 0.2 },
	                     { DW_FACT_OPERATORS_SMALL, 0.02 }, { DW_FACT_OPERATORS_SMALL_COUNT, 40 },
	                     { DW_FACT_OPERATORS_COUNT, 40 }, { DW_FACT_OPERATORS_SMALL_MEAN, 3e3 }));
	made_cells(&at, MADE_CELLS(CELL(RUNS, INTERPRETER, 0.2)));
	CHECK(made_fires(&at, "small-operators", DW_FACT_LOOP_CALLS, 400));
	CHECK_NEAR(made_find(&at, "small-operators")->share.value, 0.012 + 0.2 + 0.2, 1e-9);
	CHECK(!made_fires(&at, "small-operators", DW_FACT_LOOP_CALLS, 150)); /* of 27 us */
	made_end(&at);
}

TEST(a_program_in_c_is_told_what_it_can_do)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_TRACE_SHAPES, 0 }, { DW_FACT_OPERATORS_LARGEST, 0.6 }));
	at.facts.at[DW_FACT_OPERATORS_LARGEST].name = "gemm";
	made_judge(&at);
	CHECK(strstr(made_find(&at, "one-operator")->hint, "dwell run --shapes tells which calls"));
	at.facts.framework = DW_FACTS_C;
	made_judge(&at);
	CHECK(!strstr(made_find(&at, "one-operator")->hint, "--shapes"));
	CHECK(strstr(made_find(&at, "one-operator")->hint, "dwell report --view operators)"));
	made_set(&at, DW_FACT_TRACE_SHAPES, 1);
	made_judge(&at);
	CHECK(strstr(made_find(&at, "one-operator")->hint, "--group-by shape"));
	made_end(&at);
}

TEST(a_wait_in_a_named_range_is_a_wait)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0 }));
	CHECK(!made_fires_of(&at, "idle",
	                     MADE_CELLS(CELL(WAITS, UNKNOWN, 0.03), CELL(WAITS, UNKNOWN, 0.03, .range = "score"))));
	CHECK(made_fires_of(&at, "idle",
	                    MADE_CELLS(CELL(WAITS, UNKNOWN, 0.04), CELL(WAITS, UNKNOWN, 0.04, .range = "score"))));
	CHECK(made_fires_of(&at, "waiting-lock",
	                    MADE_CELLS(CELL(WAITS, UNKNOWN, 0.06), CELL(WAITS, LOCK, 0.2, .range = "score"))));
	CHECK(made_find(&at, "idle")->state != DW_RULE_FIRED);
	made_end(&at);
}

TEST(the_time_between_steps_may_be_what_changes)
{
	struct made at;

	made_begin(&at,
	           MADE({ DW_FACT_DRIFT_CHANGE, 0 }, { DW_FACT_DRIFT_GAPS_STEP, 50 }));
	CHECK(made_fires(&at, "change-point", DW_FACT_DRIFT_GAPS_CHANGE, 0.37));
	CHECK(!made_fires(&at, "change-point", DW_FACT_DRIFT_GAPS_CHANGE, 0.2));
	CHECK(made_fires(&at, "change-point", DW_FACT_DRIFT_GAPS_CHANGE, 0.37));
	CHECK_STR(made_find(&at, "change-point")->statement,
	          "From step 50 on, the time between the steps is longer: this takes 37% of the loop.");
	made_end(&at);
}

TEST(an_optimizer_of_few_tensors_is_no_unfused_one)
{
	struct made at;

	made_begin(&at,
	           MADE({ DW_FACT_STEP_OPTIMIZER, 0.2 }, { DW_FACT_OPTIMIZER_FUSED, 0 }, { DW_FACT_OPTIMIZER_FOREACH, 0 }));
	CHECK(!made_fires(&at, "optimizer-unfused", DW_FACT_OPTIMIZER_COUNT, 399));
	CHECK(made_fires(&at, "optimizer-unfused", DW_FACT_OPTIMIZER_COUNT, 400));
	made_end(&at);
}

TEST(counted_threads_are_too_many)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_CPUS, 2 }, { DW_FACT_CPU_DELAY, 0.2 }, { DW_FACT_CPU_OTHERS, 0.02 },
	                     { DW_FACT_CPU_CROWDED, 0.09 }, { DW_FACT_CPU_THREADS, 2 }));
	at.facts.at[DW_FACT_CPU_DELAY].low = 0; /* known to be the program's own */
	CHECK(made_fires(&at, "oversubscribed", DW_FACT_CPU_THREADS, 2));
	at.facts.at[DW_FACT_CPU_CROWDED].low = 0.01; /* may be chance, if no more threads are known */
	CHECK(!made_fires(&at, "oversubscribed", DW_FACT_CPU_THREADS, 2));
	CHECK(made_fires(&at, "oversubscribed", DW_FACT_CPU_THREADS, 4));
	made_end(&at);
}

/* Two ranks on two CPUs: threads that carry messages take a CPU now and then. */
TEST(ranks_that_exchange_do_not_lack_cpus)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_CPUS, 2 }, { DW_FACT_CPU_THREADS, 2 }, { DW_FACT_CPU_DELAY, 0.1 },
	                     { DW_FACT_CPU_OTHERS, 0.01 }, { DW_FACT_CPU_CROWDED, 0.13 }, { DW_FACT_RUN_RANKS, 2 },
	                     { DW_FACT_LOOP_COMMUNICATION_ALL, 0.5 }));
	CHECK(!made_fires(&at, "oversubscribed", DW_FACT_CPU_DELAY, 0.1));
	CHECK(made_fires(&at, "oversubscribed", DW_FACT_CPU_THREADS, 4));
	CHECK(made_fires(&at, "oversubscribed", DW_FACT_LOOP_COMMUNICATION_ALL, 0.05));
	CHECK(made_fires(&at, "oversubscribed", DW_FACT_RUN_RANKS, 1));
	made_end(&at);
}

/* Other programs have the CPUs for most of the time. Only one of three threads works at a time, but two wait for a CPU when the kernel
 * is asked for their states. */
TEST(threads_that_take_turns_are_not_more_than_the_cpus_because_others_have_these)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_CPUS, 2 }, { DW_FACT_CPU_OTHERS, 0.8 }, { DW_FACT_CPU_DELAY, 0.6 },
	                     { DW_FACT_CPU_WAITING, 0.5 }));
	CHECK(!made_fires(&at, "oversubscribed", DW_FACT_CPU_CROWDED, 0.16));
	CHECK(made_fires(&at, "oversubscribed", DW_FACT_CPU_CROWDED, 0.34)); /* most of the wait is for each other */
	made_set(&at, DW_FACT_CPU_CROWDED, 0.16);
	CHECK(made_fires(&at, "oversubscribed", DW_FACT_CPU_WAITING, 0)); /* they take no turns */
	CHECK(made_fires(&at, "oversubscribed", DW_FACT_CPU_DELAY, 0.2));
	made_end(&at);
}

TEST(a_wait_for_threads_of_which_there_are_too_many_is_not_theirs)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_THREADS, 4 }, { DW_FACT_CPU_CPUS, 2 }, { DW_FACT_CPU_DELAY, 0.3 }));
	for (unsigned spins = 0; spins < 2; spins++) {
		const char *id = spins ? "spinning" : "waiting-thread";

		made_cells(&at, spins ? MADE_CELLS(CELL(SPINS, UNKNOWN, 0.2)) : MADE_CELLS(CELL(WAITS, BARRIER, 0.2)));
		CHECK(!made_fires(&at, id, DW_FACT_CPU_DELAY, 0.3));
		CHECK(made_fires(&at, id, DW_FACT_CPU_DELAY, 0.01));
		CHECK(made_fires(&at, id, DW_FACT_CPU_THREADS, 2));
		CHECK(!made_fires(&at, id, DW_FACT_CPU_CROWDED, 0.09)); /* threads were counted */
		CHECK(made_fires(&at, id, DW_FACT_CPU_CROWDED, 0.01));
	}
	CHECK(made_fires_of(&at, "waiting-lock", MADE_CELLS(CELL(WAITS, LOCK, 0.2)))); /* somebody holds it */
	made_end(&at);
}

TEST(a_wait_comes_before_the_largest_operator)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_OPERATORS_LARGEST, 0.46 }, { DW_FACT_CPU_DELAY, 0 }));
	made_cells(&at, MADE_CELLS(CELL(WAITS, UNKNOWN, 0.12, .function = "ask")));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "idle");
	CHECK_STR(at.verdicts.at[1].rule->id, "one-operator");
	made_set(&at, DW_FACT_OPERATORS_LARGEST, 0.80); /* whatever its size */
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "idle");
	made_end(&at);
}

TEST(a_large_operator_can_use_cpus_that_rest)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_CPUS, 4 }, { DW_FACT_CPU_OPERATOR_THREADS, 1 }, { DW_FACT_CPU_THREADS, 1 },
	                     { DW_FACT_CPU_BUSY, 1 }, { DW_FACT_CPU_OTHERS, 0.02 }, { DW_FACT_OPERATORS_LARGEST, 0.6 },
	                     { DW_FACT_OPERATORS_LARGEST_COUNT, 6 }));
	made_judge(&at);
	CHECK_EQ(made_find(&at, "thread-count")->state, DW_RULE_FIRED);
	CHECK_STR(made_find(&at, "thread-count")->statement, "Operators have 1 thread and keep 1 of 4 CPUs busy.");
	made_set(&at, DW_FACT_CPU_BUSY, 0.997);
	made_judge(&at);
	CHECK_STR(made_find(&at, "thread-count")->statement, "Operators have 1 thread and keep 1 of 4 CPUs busy.");
	CHECK(!made_fires(&at, "thread-count", DW_FACT_OPERATORS_LARGEST, 0.3));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "one-operator"); /* it has a place, and its gain has a bound */
	CHECK_STR(at.verdicts.at[1].rule->id, "thread-count");
	CHECK(made_fires(&at, "thread-count", DW_FACT_CPU_THREADS, 4)); /* that sleep in a pool */
	made_set(&at, DW_FACT_CPU_THREADS, 4);
	CHECK(!made_fires(&at, "thread-count", DW_FACT_RUN_RANKS, 4));
	CHECK(!made_fires(&at, "thread-count", DW_FACT_LOADER_WORKERS, 3));
	made_set(&at, DW_FACT_CPU_THREADS, 1);
	CHECK(!made_fires(&at, "thread-count", DW_FACT_CPU_OTHERS, 0.5));
	CHECK_EQ(made_without(&at, "thread-count", DW_FACT_CPU_BUSY), DW_RULE_NOT_MEASURED);
	made_end(&at);
}

TEST(the_pace_is_the_programs_if_one_part_changes)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_DRIFT_CHANGE, 0.3 }, { DW_FACT_DRIFT_CHANGE_STEP, 30 }, { DW_FACT_DRIFT_SLOPE, 0 },
	                     { DW_FACT_DRIFT_OWN, 0.9 }, { DW_FACT_CPU_DELAY, 0 }));
	CHECK(!made_fires(&at, "change-point", DW_FACT_DRIFT_CHANGE, 0.21));
	CHECK(made_fires(&at, "change-point", DW_FACT_DRIFT_CHANGE, 0.22));
	CHECK(!made_fires(&at, "change-point", DW_FACT_DRIFT_CHANGE, -0.3));
	CHECK(!made_fires(&at, "change-point", DW_FACT_DRIFT_OWN, 0.6)); /* the clock's */
	CHECK(made_fires(&at, "change-point", DW_FACT_DRIFT_OWN, 0.7));
	made_set(&at, DW_FACT_DRIFT_CHANGE, 0);
	CHECK(made_fires(&at, "drift", DW_FACT_DRIFT_SLOPE, 0.3));
	made_set(&at, DW_FACT_DRIFT_OWN, 0.1);
	CHECK(!made_fires(&at, "drift", DW_FACT_DRIFT_SLOPE, 0.3));
	made_set(&at, DW_FACT_DRIFT_OWN, 0.9);
	made_set(&at, DW_FACT_DRIFT_CHANGE, 0.3);
	/* A queue that runs empty. */
	at.facts.at[DW_FACT_DRIFT_CHANGE].note = "data";
	CHECK(made_fires(&at, "change-point", DW_FACT_LOADER_WORKERS, 0));
	CHECK(!made_fires(&at, "change-point", DW_FACT_LOADER_WORKERS, 2));
	CHECK_EQ(made_without(&at, "change-point", DW_FACT_DRIFT_CHANGE), DW_RULE_NOT_MEASURED);
	CHECK_EQ(made_without(&at, "drift", DW_FACT_DRIFT_SLOPE), DW_RULE_NOT_MEASURED);
	made_end(&at);
}

TEST(other_programs_make_the_share_of_a_wait_for_workers_smaller)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0.4 }, { DW_FACT_LOADER_WORKERS, 2 }, { DW_FACT_LOADER_IN_PROCESS, 0 },
	                     { DW_FACT_LOADER_STARVED, 0.06 }, { DW_FACT_STEP_DATA, 0.06 },
	                     { DW_FACT_LOADER_PRODUCTION, 30e6 }));
	CHECK(!made_fires(&at, "loader-slow-workers", DW_FACT_CPU_OTHERS, 0.2));
	CHECK(made_fires(&at, "loader-slow-workers", DW_FACT_CPU_OTHERS, 0.6));
	made_end(&at);
}

/* A text that is made word by word. Training on inputs that get longer, and a loop whose steps get slower with them, are not. */
TEST(an_input_that_is_extended_is_computed_again)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_FORWARD, 0.8 }, { DW_FACT_INPUT_GROWS, 0.95 }, { DW_FACT_STEP_BACKWARD, 0 }));
	CHECK(made_fires(&at, "input-extended", DW_FACT_INPUT_GROWS, 0.95));
	CHECK(made_fires(&at, "input-extended", DW_FACT_STEP_BACKWARD, 0));
	CHECK(!made_fires(&at, "input-extended", DW_FACT_STEP_BACKWARD, 0.1));
	CHECK(made_fires(&at, "input-extended", DW_FACT_STEP_BACKWARD, 0));
	CHECK(!made_fires(&at, "input-extended", DW_FACT_INPUT_TREND, 0.5));
	made_end(&at);
}

TEST(inputs_of_many_sizes_are_no_new_shapes)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_OPERATORS_FIRST_SHAPES, 0.3 }, { DW_FACT_OPERATORS_NEW_SHAPES, 20 },
	                     { DW_FACT_STEP_SPREAD, 0.8 }, { DW_FACT_STEP_EXCESS, 0.4 }));
	CHECK(made_fires(&at, "first-shapes", DW_FACT_INPUT_VARIATION, 0.65));
	CHECK(!made_fires(&at, "first-shapes", DW_FACT_INPUT_VARIATION, 0.95));
	CHECK(made_fires(&at, "input-size-variance", DW_FACT_INPUT_VARIATION, 0.7));
	CHECK(!made_fires(&at, "input-size-variance", DW_FACT_INPUT_VARIATION, 0.69));
	made_end(&at);
}

/* One evaluation after each epoch is what the program is for, as long as it is no more than a pass over as many samples. */
TEST(an_evaluation_an_epoch_is_usual)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_LOOP_STEPS, 0.8 }, { DW_FACT_LOOP_EVALUATION, 0.14 }, { DW_FACT_LOOP_EVALUATION_ALL, 0.14 },
	                     { DW_FACT_LOOP_EVALUATIONS, 6 }, { DW_FACT_EVALUATION_TIMES, 3 }, { DW_FACT_LOADER_EPOCHS, 6 }));
	made_cells(&at, MADE_CELLS(CELL(RUNS, OWN, 0.14, .share = DW_SHARE_EVALUATION)));
	CHECK(!made_fires(&at, "evaluation", DW_FACT_EVALUATION_TIMES, 3));
	CHECK(made_fires(&at, "evaluation", DW_FACT_EVALUATION_TIMES, 16));
	CHECK(made_fires(&at, "evaluation", DW_FACT_LOOP_EVALUATION_ALL, 0.3));
	made_end(&at);
}

/* A teacher that is called in or after each step makes targets. */
TEST(evaluation_after_each_step_is_training)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_LOOP_STEPS, 0.55 }, { DW_FACT_LOOP_EVALUATION, 0.4 },
	                     { DW_FACT_LOOP_EVALUATION_ALL, 0.4 }));
	made_cells(&at, MADE_CELLS(CELL(RUNS, OWN, 0.4, .share = DW_SHARE_EVALUATION)));
	CHECK(made_fires(&at, "evaluation", DW_FACT_LOOP_EVALUATIONS, 20)); /* of 60 steps */
	CHECK(!made_fires(&at, "evaluation", DW_FACT_LOOP_EVALUATIONS, 58));
	made_set(&at, DW_FACT_LOOP_EVALUATIONS, 60);
	CHECK(made_fires(&at, "evaluation", DW_FACT_EVALUATION_TRAINED, 0.6)); /* known to be one */
	CHECK(!made_fires(&at, "evaluation", DW_FACT_EVALUATION_TRAINED, 0.4));
	CHECK_EQ(made_without(&at, "evaluation", DW_FACT_LOOP_EVALUATION_ALL), DW_RULE_NOT_MEASURED);
	made_end(&at);
}

TEST(what_a_rank_does_between_steps_lets_the_others_wait)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_LOOP_WALL, 60 * 80e6 }, { DW_FACT_LOOP_STEPS, 0.25 }, { DW_FACT_RUN_RANKS, 2 },
	                     { DW_FACT_COMM_WAIT, 0 }, { DW_FACT_COMM_EXPOSED, 0.7 }, { DW_FACT_COMM_LAST_RANK_SHARE, 1 },
	                     { DW_FACT_COMM_LAST_RANK_EXCESS, 0.6 }));
	made_judge(&at);
	CHECK_EQ(made_find(&at, "rank-waits")->state, DW_RULE_FIRED);
	CHECK_EQ(made_find(&at, "rank-waits")->whole, DW_RULE_OF_LOOP);
	CHECK(!made_fires(&at, "rank-waits", DW_FACT_COMM_LAST_RANK_EXCESS, 0.3)); /* half is sending */
	CHECK(made_fires(&at, "communication", DW_FACT_COMM_LAST_RANK_EXCESS, 0.3));
	CHECK_EQ(made_without(&at, "rank-waits", DW_FACT_COMM_WAIT), DW_RULE_NOT_MEASURED);
	/* The ranks' pace is the time that they wait for each other. */
	made_set(&at, DW_FACT_DRIFT_SLOPE, 0.3);
	made_set(&at, DW_FACT_DRIFT_OWN, 1);
	CHECK(made_fires(&at, "drift", DW_FACT_DRIFT_SLOPE, 0.3));
	at.facts.at[DW_FACT_DRIFT_SLOPE].note = "communication";
	CHECK(!made_fires(&at, "drift", DW_FACT_DRIFT_SLOPE, 0.3));
	made_end(&at);
}

TEST(temporaries_of_a_small_peak_are_no_concern)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_MEMORY_PEAK, 80e6 }, { DW_FACT_MEMORY_TEMPORARIES_SHARE, 0.5 }));
	CHECK(made_fires(&at, "memory-temporaries", DW_FACT_MEMORY_PEAK, 68e6));
	CHECK(!made_fires(&at, "memory-temporaries", DW_FACT_MEMORY_PEAK, 66e6));
	/* A host's memory is there for all. */
	made_set(&at, DW_FACT_MEMORY_PEAK, 68e6);
	at.facts.at[DW_FACT_MEMORY_PEAK].note = "cpu";
	CHECK(!made_fires(&at, "memory-temporaries", DW_FACT_MEMORY_PEAK_SHARE, 0.4));
	CHECK(made_fires(&at, "memory-temporaries", DW_FACT_MEMORY_PEAK_SHARE, 0.6));
	at.facts.at[DW_FACT_MEMORY_PEAK].note = NULL;
	CHECK(!made_fires(&at, "memory-temporaries", DW_FACT_MEMORY_TEMPORARIES_SHARE, 0.24));
	made_end(&at);
}

CHECK_MAIN
