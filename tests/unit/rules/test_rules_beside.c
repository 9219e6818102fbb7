/* Rules beside each other: time that one rule explains, another one does not report again, and what can be
 * changed comes before what only describes the work. */
#include "trials.h"

TEST(a_cause_comes_before_the_form_of_the_work)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_OPERATORS_LARGEST, 0.9 }));
	made_cells(&at, MADE_CELLS(CELL(WAITS, DISK, 0.08)));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "waiting-file");
	CHECK_STR(at.verdicts.at[1].rule->id, "one-operator");
	at.facts.at[DW_FACT_OPERATORS_LARGEST].name = "aten::addmm";
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "waiting-file");
	at.facts.at[DW_FACT_OPERATORS_LARGEST].name = "aten::_linalg_svd"; /* not what all training computes */
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "one-operator");
	at.facts.framework = DW_FACTS_C; /* where a name says nothing */
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "waiting-file");
	made_cells(&at, MADE_CELLS(CELL(WAITS, DISK, 0.06)));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "one-operator");
	made_end(&at);
}

TEST(inputs_that_change_at_one_point_are_no_spread)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_INPUT_VARIATION, 0.9 }, { DW_FACT_STEP_SPREAD, 0.8 }, { DW_FACT_DRIFT_OWN, 0.9 },
	                     { DW_FACT_STEP_EXCESS, 0.2 }, { DW_FACT_CPU_DELAY, 0 }, { DW_FACT_DRIFT_SLOPE, 0 }));
	CHECK(made_fires(&at, "input-size-variance", DW_FACT_DRIFT_CHANGE, 0.14));
	CHECK(!made_fires(&at, "input-size-variance", DW_FACT_DRIFT_CHANGE, 0.22));
	CHECK(!made_fires(&at, "input-size-variance", DW_FACT_DRIFT_CHANGE, 0.5));
	CHECK(!made_fires(&at, "input-size-variance", DW_FACT_DRIFT_SLOPE, 0.5));
	made_set(&at, DW_FACT_DRIFT_OWN, 0.1); /* the clock's change */
	CHECK(made_fires(&at, "input-size-variance", DW_FACT_DRIFT_CHANGE, 0.5));
	made_end(&at);
}

TEST(processes_that_exchange_nothing_do_not_wait_for_each_other)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_COMM_WAIT, 0.9 }, { DW_FACT_RUN_RANKS, 2 }, { DW_FACT_COMM_EXPOSED, 0 },
	                     { DW_FACT_STEP_COMMUNICATION, 0 }, { DW_FACT_LOOP_COMMUNICATION_ALL, 0 }));
	CHECK(!made_fires(&at, "rank-waits", DW_FACT_COMM_EXPOSED, 0));
	CHECK(made_fires(&at, "rank-waits", DW_FACT_COMM_EXPOSED, 0.9));
	made_end(&at);
}

TEST(an_operator_that_few_models_need_is_much_earlier)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_OPERATORS_LARGEST, 0.3 }));
	at.facts.at[DW_FACT_OPERATORS_LARGEST].name = "aten::tanh";
	CHECK(!made_fires(&at, "one-operator", DW_FACT_OPERATORS_LARGEST, 0.39));
	CHECK(made_fires(&at, "one-operator", DW_FACT_OPERATORS_UNCOMMON, 0.25));
	made_end(&at);
}

TEST(parts_of_the_time_between_steps_are_words_of_a_sentence)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_LOOP_STEPS, 0.6 }, { DW_FACT_LOOP_OPERATORS, 0.3 }, { DW_FACT_LOOP_NAMED, 0.001 }));
	at.facts.at[DW_FACT_LOOP_NAMED].name = "create convolution";
	made_judge(&at);
	CHECK_STR(made_find(&at, "between-steps")->statement, "30% of the loop lies between the steps, in operators.");
	made_end(&at);
}

/* In C++ samples show malloc() and free(): a cause, which nameless time may hold, and none of page faults. */
TEST(allocation_comes_before_time_in_no_range)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_UNNAMED, 0.25 }, { DW_FACT_STEP_NAMED, 0.75 }, { DW_FACT_TRACE_PYTHON, 0 },
	                     { DW_FACT_TRACE_TORCH, 0 }, { DW_FACT_CPU_FAULTS_MINOR, 0 }));
	at.facts.framework = DW_FACTS_C;
	made_cells(&at, MADE_CELLS(CELL(RUNS, ALLOCATES, 0.07, .function = "simulate"),
	                           CELL(RUNS, FREES, 0.05, .function = "simulate"), CELL(RUNS, OWN, 0.13)));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "allocator");
	CHECK_STR(at.verdicts.at[0].statement, "Allocating and freeing memory takes 12% of the loop, most of it in simulate (engine.c:41).");
	CHECK(made_find(&at, "page-faults")->state != DW_RULE_FIRED);
	made_end(&at);
}

TEST(collections_while_batches_arrive_are_part_of_the_hand_over)
{
	struct made at;

	made_begin(&at,
	           MADE({ DW_FACT_STEP_DATA, 0.15 }, { DW_FACT_LOOP_DATA_ALL, 0.15 }, { DW_FACT_LOADER_WORKERS, 2 },
	                { DW_FACT_LOADER_HAND_OVER, 0.15 }, { DW_FACT_LOADER_HAND_OVER_NS, 4e6 },
	                { DW_FACT_LOADER_STARVED, 0 }, { DW_FACT_LOADER_READY, 3.9 }, { DW_FACT_LOADER_EMPTY, 0 },
	                { DW_FACT_LOADER_BUSY, 0.1 }, { DW_FACT_LOADER_EPOCHS, 1 }, { DW_FACT_LOOP_COLLECTOR_ALL, 0.25 }));
	made_set(&at, DW_FACT_LOADER_COLLECTOR, 0.25);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "loader-handover");
	CHECK(fabs(at.verdicts.at[0].share.value - 0.40) < 1e-9);
	CHECK(at.verdicts.combined_ns >= at.verdicts.at[0].gain_ns - 1);
	CHECK(strstr(at.verdicts.at[0].statement,
	             "the collector, which looks at the objects that this makes, 25% of the loop"));
	made_end(&at);
}

TEST(slow_steps_with_large_inputs_are_their_sizes)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_SPREAD, 0.8 }, { DW_FACT_STEP_EXCESS, 0.4 }));
	made_cells(&at, MADE_CELLS(CELL(RUNS, OWN, 0.3, .class = DW_ITERATION_SLOW)));
	CHECK(made_fires(&at, "slow-steps", DW_FACT_INPUT_VARIATION, 0.69));
	CHECK(!made_fires(&at, "slow-steps", DW_FACT_INPUT_VARIATION, 0.7));
	CHECK(made_fires(&at, "input-size-variance", DW_FACT_INPUT_VARIATION, 0.7));
	made_set(&at, DW_FACT_INPUT_VARIATION, 0.9);
	CHECK(!made_fires(&at, "input-size-variance", DW_FACT_STEP_EXCESS, 0.04));
	CHECK(made_fires(&at, "slow-steps", DW_FACT_STEP_EXCESS, 0.04));
	CHECK(made_fires(&at, "input-size-variance", DW_FACT_STEP_EXCESS, 0.05));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "Steps with large inputs take 40% of the loop beyond the median step: the "
	                                       "size of the input explains 90% of the spread of their durations.");
	made_end(&at);
}

TEST(an_uncommon_operator_comes_before_larger_products)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_OPERATORS_LARGEST, 0.45 }, { DW_FACT_OPERATORS_UNCOMMON_COUNT, 1 }));
	made_set(&at, DW_FACT_OPERATORS_UNCOMMON, 0.31);
	at.facts.at[DW_FACT_OPERATORS_UNCOMMON].name = "aten::_linalg_eigh";
	made_judge(&at);
	CHECK_STR(made_find(&at, "one-operator")->statement,
	          "One operator, aten::_linalg_eigh, takes 31% of the loop: 1 call a step.");
	CHECK(!made_find(&at, "one-operator")->form);
	made_end(&at);
}

/* A step that is one wait for the threads of XLA, which work meanwhile, as in JAX. */
TEST(the_wait_for_xla_is_work)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_IDLE, 0.93 }, { DW_FACT_CPU_BUSY, 1.8 }, { DW_FACT_STEP_FORWARD, 0 },
	                     { DW_FACT_STEP_BACKWARD, 0 }, { DW_FACT_STEP_OPTIMIZER, 0 }, { DW_FACT_OPERATORS_LARGEST, 0 },
	                     { DW_FACT_CPU_OTHERS, 0 }));
	at.facts.framework = DW_FACTS_JAX;
	made_cells(&at, MADE_CELLS(CELL(OTHERS, ALGEBRA, 0.9), CELL(WAITS, THREAD, 0.03)));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "compute");
	/* They do not work. */
	CHECK(made_fires_of(&at, "waiting-thread", MADE_CELLS(CELL(WAITS, THREAD, 0.93))));
	CHECK_STR(at.verdicts.at[0].rule->id, "waiting-thread");
	made_end(&at);
}

/* The larger inputs are a reason for half of the trend. */
TEST(a_trend_that_inputs_make_comes_after_another_cause)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_DRIFT_SLOPE, 0.5 }, { DW_FACT_DRIFT_CHANGE, 0 }, { DW_FACT_DRIFT_OWN, 0.9 },
	                     { DW_FACT_CPU_DELAY, 0 }, { DW_FACT_OPERATORS_COMPILATION, 0.3 },
	                     { DW_FACT_OPERATORS_COMPILATIONS, 5 }));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "drift");
	made_set(&at, DW_FACT_INPUT_TREND, 0.2);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "compilation");
	made_end(&at);
}

TEST(memory_that_grows_with_the_steps_is_drift)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_MEMORY_GROWTH_SHARE, 0.5 }, { DW_FACT_MEMORY_GROWTH, 1 << 20 },
	                     { DW_FACT_DRIFT_OWN, 0.9 }, { DW_FACT_DRIFT_CHANGE, 0 }, { DW_FACT_CPU_DELAY, 0 }));
	CHECK(made_fires(&at, "memory-growth", DW_FACT_DRIFT_SLOPE, 0.21));
	CHECK(!made_fires(&at, "memory-growth", DW_FACT_DRIFT_SLOPE, 0.22));
	CHECK(made_fires(&at, "drift", DW_FACT_DRIFT_SLOPE, 0.22));
	made_set(&at, DW_FACT_DRIFT_SLOPE, 0.3);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement,
	          "Steps get slower: by 30% of the median from the first to the last; memory grows "
	          "by 1.00 MiB with each step.");
	made_set(&at, DW_FACT_DRIFT_OWN, 0.1); /* the clock's */
	CHECK(made_fires(&at, "memory-growth", DW_FACT_DRIFT_SLOPE, 0.3));
	made_end(&at);
}

TEST(an_input_that_grows_is_drift)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_DRIFT_CHANGE, 0.3 }, { DW_FACT_DRIFT_SLOPE, 0 }, { DW_FACT_DRIFT_OWN, 0.1 },
	                     { DW_FACT_CPU_DELAY, 0 }));
	CHECK(!made_fires(&at, "drift", DW_FACT_INPUT_TREND, 0.09));
	CHECK(made_fires(&at, "drift", DW_FACT_INPUT_TREND, 0.10));
	CHECK(made_fires(&at, "drift", DW_FACT_INPUT_TREND, 0.11));
	made_set(&at, DW_FACT_DRIFT_OWN, 0.9);
	CHECK(made_fires(&at, "change-point", DW_FACT_INPUT_TREND, 0.09));
	CHECK(!made_fires(&at, "change-point", DW_FACT_INPUT_TREND, 0.11));
	made_end(&at);
}

TEST(waits_change_with_what_other_programs_do)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_DRIFT_CHANGE, 0.3 }, { DW_FACT_DRIFT_SLOPE, 0 }, { DW_FACT_DRIFT_OWN, 0.9 },
	                     { DW_FACT_CPU_DELAY, 0 }));
	CHECK(made_fires(&at, "change-point", DW_FACT_CPU_OTHERS, 0.5));
	at.facts.at[DW_FACT_DRIFT_CHANGE].note = "idle";
	CHECK(made_fires(&at, "change-point", DW_FACT_CPU_OTHERS, 0.24));
	CHECK(!made_fires(&at, "change-point", DW_FACT_CPU_OTHERS, 0.25));
	made_end(&at);
}

TEST(a_forward_before_its_module_is_not_between_the_steps)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_TRACE_TORCH, 1 }, { DW_FACT_LOOP_STEPS, 0.7 }, { DW_FACT_LOOP_OPERATORS, 0.3 },
	                     { DW_FACT_STEP_BACKWARD_ALL, 0.6 }));
	CHECK(made_fires(&at, "between-steps", DW_FACT_STEP_FORWARD_ALL, 0.2));
	CHECK(!made_fires(&at, "between-steps", DW_FACT_STEP_FORWARD_ALL, 0.19)); /* 41% of a step is 29% of the loop */
	CHECK(!made_fires(&at, "between-steps", DW_FACT_STEP_FORWARD_ALL, 0.01));
	made_set(&at, DW_FACT_LOOP_OPERATORS, 0.52); /* and a tenth that is no forward */
	CHECK(made_fires(&at, "between-steps", DW_FACT_STEP_FORWARD_ALL, 0.01));
	made_end(&at);
}

/* The kernel copies, and looks up names, before it waits for the disk. */
TEST(work_for_a_wait_for_files_is_part_of_it)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_IDLE, 0.04 }));
	CHECK(!made_fires_of(&at, "waiting-file", MADE_CELLS(CELL(WAITS, DISK, 0.04))));
	CHECK(made_fires_of(&at, "waiting-file",
	                    MADE_CELLS(CELL(WAITS, DISK, 0.04), CELL(RUNS, FILE, 0.06), CELL(RUNS, DESCRIPTOR, 0.04))));
	CHECK_NEAR(made_find(&at, "waiting-file")->share.value, 0.14, 1e-9);
	made_end(&at);
}

TEST(free_memory_of_a_host_is_no_first_sentence)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_MEMORY_PEAK_SHARE, 0.01 }, { DW_FACT_MEMORY_PEAK, 1e6 },
	                     { DW_FACT_MEMORY_CAPACITY, 1e9 }, { DW_FACT_OPERATORS_SMALL, 0.3 },
	                     { DW_FACT_OPERATORS_SMALL_COUNT, 120 }, { DW_FACT_OPERATORS_COUNT, 120 }));
	at.facts.at[DW_FACT_MEMORY_PEAK].note = "cpu";
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "compute");
	CHECK(made_find(&at, "memory-room")->state != DW_RULE_FIRED);
	at.facts.at[DW_FACT_MEMORY_PEAK].note = "cuda:0";
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "memory-room");
	made_end(&at);
}

TEST(a_model_without_gradients_in_each_step_is_no_evaluation)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_LOOP_EVALUATION_ALL, 0.3 }, { DW_FACT_LOOP_EVALUATION, 0 }));
	made_cells(&at, MADE_CELLS(CELL(RUNS, OWN, 0.3, .share = DW_SHARE_EVALUATION)));
	CHECK(made_fires(&at, "evaluation", DW_FACT_STEP_EVALUATION, 0)); /* in some steps only */
	CHECK(made_fires(&at, "evaluation", DW_FACT_STEP_EVALUATION, 0.14));
	CHECK(!made_fires(&at, "evaluation", DW_FACT_STEP_EVALUATION, 0.16));
	made_end(&at);
}

CHECK_MAIN
