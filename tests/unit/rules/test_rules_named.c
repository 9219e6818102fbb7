/* Rules about ranges that the program names, on facts and cells made by hand. Beside what is known to train they are no work by
 * default. */
#include "trials.h"

#define PASSES { DW_FACT_STEP_FORWARD, 0.2 }, { DW_FACT_STEP_BACKWARD, 0.2 }, { DW_FACT_STEP_NAMED, 0.58 }

/* A loop with a part in a range "metrics", the largest, and passes beside it. */
static void begin_beside_passes(struct made *at, const struct made_cell *cells)
{
	double of_range = 0;

	made_begin(at, MADE(PASSES));
	for (const struct made_cell *cell = cells; cell->part > 0; cell++)
		of_range += cell->range && strcmp(cell->range, "metrics") == 0 ? cell->part : 0;
	made_range(at, "metrics", of_range);
	made_cells(at, cells);
	made_judge(at);
}

TEST(a_named_part_that_computes_is_the_first_sentence)
{
	struct made at;

	begin_beside_passes(&at, MADE_CELLS(CELL(RUNS, OWN, 0.58, .range = "metrics", .function = "count")));
	made_set(&at, DW_FACT_OPERATORS_LARGEST, 0.45);
	made_set(&at, DW_FACT_MEMORY_GROWTH_SHARE, 0.5);
	made_set(&at, DW_FACT_MEMORY_GROWTH, 4e6);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "The range metrics takes 58% of the loop at loop.c:17, most of it in count (engine.c:41).");
	made_end(&at);
}

/* Records know how long a range takes, also without a sample or the kernel's account. */
TEST(a_named_part_needs_no_samples)
{
	struct made at;

	begin_beside_passes(&at, MADE_CELLS(CELL(UNKNOWN, UNKNOWN, 0.58, .range = "metrics")));
	memset(at.account.of.basis, 0, sizeof at.account.of.basis);
	at.account.of.known = at.account.of.waits_known = false;
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "The range metrics takes 58% of the loop at loop.c:17.");
	made_end(&at);
}

TEST(a_named_part_is_reported_from_a_fifth_of_the_loop_on)
{
	struct made at;

	begin_beside_passes(&at, MADE_CELLS(CELL(RUNS, OWN, 0.19, .range = "metrics")));
	CHECK(made_find(&at, "named-part")->state == DW_RULE_QUIET);
	CHECK(made_fires_of(&at, "named-part", MADE_CELLS(CELL(RUNS, OWN, 0.15, .range = "metrics"), CELL(WAITS, LOCK, 0.06, .range = "metrics"))));
	/* Another range is another one, and time without a CPU is no range's. */
	CHECK(!made_fires_of(&at, "named-part", MADE_CELLS(CELL(RUNS, OWN, 0.15, .range = "metrics"), CELL(RUNS, OWN, 0.15, .range = "plots"))));
	CHECK(!made_fires_of(&at, "named-part", MADE_CELLS(CELL(RUNS, OWN, 0.15, .range = "metrics"), CELL(NO_CPU, UNKNOWN, 0.15, .range = "metrics"))));
	CHECK(made_fires_of(&at, "named-part", MADE_CELLS(CELL(RUNS, OWN, 0.21, .range = "metrics"))));
	CHECK_EQ(made_without(&at, "named-part", DW_FACT_STEP_NAMED_LARGEST), DW_RULE_NOT_MEASURED);
	made_end(&at);
}

/* Operators, layers or a pass say what trains, in any language; an optimizer does not: the passes may have other names. */
TEST(a_range_is_no_work_if_training_is_known)
{
	static const enum dw_fact_id known[] = { DW_FACT_STEP_FORWARD, DW_FACT_STEP_BACKWARD, DW_FACT_STEP_OPERATORS, DW_FACT_STEP_LAYERS };
	struct made at;

	for (unsigned framework = 0; framework < DW_FACTS_FRAMEWORK_COUNT; framework++) {
		begin_beside_passes(&at, MADE_CELLS(CELL(RUNS, OWN, 0.58, .range = "metrics")));
		at.facts.framework = (enum dw_facts_framework)framework;
		for (size_t i = 0; i < 4; i++)
			made_set(&at, known[i], 0);
		made_set(&at, DW_FACT_STEP_OPTIMIZER, 0.4);
		made_judge(&at);
		CHECK(made_find(&at, "named-part")->state != DW_RULE_FIRED);
		for (size_t i = 0; i < 4; i++) {
			CHECK(!made_fires(&at, "named-part", known[i], 0.04));
			CHECK(made_fires(&at, "named-part", known[i], 0.06));
		}
		made_end(&at);
	}
}

/* Where passes are larger, too. */
TEST(a_range_beside_passes_is_no_work)
{
	struct made at;

	begin_beside_passes(&at, MADE_CELLS(CELL(RUNS, OWN, 0.24, .range = "metrics")));
	made_set(&at, DW_FACT_STEP_BACKWARD, 0.5);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "The range metrics takes 24% of the loop at loop.c:17.");
	made_end(&at);
}

/* What in it is a cause of its own is no more the range's: half of the rest is its weight. */
TEST(a_cause_comes_before_the_range_that_holds_it)
{
	struct made at;

	begin_beside_passes(&at, MADE_CELLS(CELL(WAITS, LOCK, 0.3, .range = "metrics"), CELL(RUNS, OWN, 0.28, .range = "metrics")));
	CHECK_STR(at.verdicts.at[0].rule->id, "waiting-lock");
	CHECK_STR(at.verdicts.at[0].statement, "Waiting for locks takes 30% of the loop, most of it in the range metrics at loop.c:17.");
	CHECK_STR(at.verdicts.at[1].rule->id, "named-part");
	CHECK_NEAR(made_find(&at, "named-part")->claimed, 0.3 / 0.58, 1e-9);
	made_end(&at);
	/* 48% that nothing else has: 24% count, and 10% of the wait. */
	begin_beside_passes(&at, MADE_CELLS(CELL(WAITS, LOCK, 0.1, .range = "metrics"), CELL(RUNS, OWN, 0.48, .range = "metrics")));
	CHECK_STR(at.verdicts.at[0].rule->id, "named-part");
	CHECK_STR(at.verdicts.at[1].rule->id, "waiting-lock");
	made_end(&at);
	/* The same wait outside of the range claims nothing of it. */
	begin_beside_passes(&at, MADE_CELLS(CELL(WAITS, LOCK, 0.3), CELL(RUNS, OWN, 0.28, .range = "metrics")));
	CHECK_STR(at.verdicts.at[0].rule->id, "waiting-lock");
	CHECK_EQ(made_find(&at, "named-part")->claimed, 0);
	made_end(&at);
}

/* Whatever it is that others have: all of it counts, and once. */
TEST(several_causes_in_a_range_leave_it_the_rest)
{
	struct made at;

	begin_beside_passes(&at, MADE_CELLS(CELL(WAITS, LOCK, 0.1, .range = "metrics"), CELL(RUNS, ALLOCATES, 0.1, .range = "metrics"),
	                                    CELL(RUNS, COPIES, 0.02, .range = "metrics"), CELL(RUNS, OWN, 0.08, .range = "metrics")));
	CHECK_NEAR(made_find(&at, "named-part")->claimed, 0.2 / 0.3, 1e-9); /* 2% of copies are no cause */
	CHECK(!made_first_is(&at, "named-part"));
	CHECK_EQ(made_find(&at, "named-part")->state, DW_RULE_COVERED); /* the rest alone is no cause */
	made_end(&at);
}

/* One thread works in the range while its team rests: half of the wait of the others goes with equal work. */
TEST(a_team_that_rests_in_a_named_part_is_a_cause_of_its_own)
{
	struct made at;

	begin_beside_passes(&at, MADE_CELLS(CELL(WAITS, BARRIER, 0.25, .range = "metrics"), CELL(OTHERS, OWN, 0.25, .range = "metrics")));
	CHECK_STR(at.verdicts.at[0].statement, "Waiting for other threads takes 25% of the loop, most of it in the range metrics at loop.c:17: they "
	                                       "have more work than this one, or wait, too.");
	CHECK_STR(at.verdicts.at[1].rule->id, "named-part");
	made_end(&at);
	begin_beside_passes(&at, MADE_CELLS(CELL(SPINS, UNKNOWN, 0.25, .range = "metrics"), CELL(OTHERS, OWN, 0.25, .range = "metrics")));
	CHECK_STR(at.verdicts.at[0].statement, "The thread uses the CPU to wait for 25% of the loop, most of it in the range metrics at loop.c:17: it "
	                                       "spins, or reads the clock.");
	made_end(&at);
}

TEST(a_named_part_is_hidden_by_a_device)
{
	struct made at;

	begin_beside_passes(&at, MADE_CELLS(CELL(RUNS, OWN, 0.58, .range = "metrics")));
	CHECK(!made_fires(&at, "named-part", DW_FACT_DEVICE_BUSY, 0.6));
	CHECK(!made_fires(&at, "named-part", DW_FACT_TRACE_DEVICE_UNSEEN, 1));
	made_end(&at);
}

/* ---- programs in C that give all of their work own names ---------------------------------------------- */

/* Two ranges, 88% and 8%, in which the thread computes. */
static void begin_own_names(struct made *at)
{
	made_begin(at, MADE({ DW_FACT_TRACE_PYTHON, 0 }, { DW_FACT_STEP_FORWARD, 0 }, { DW_FACT_STEP_BACKWARD, 0 },
	                    { DW_FACT_STEP_OPTIMIZER, 0 }, { DW_FACT_STEP_PYTHON, 0 }, { DW_FACT_OPERATORS_SHARE, 0 },
	                    { DW_FACT_STEP_NAMED, 0.96 }));
	at->facts.framework = DW_FACTS_C;
	made_range(at, "fit", 0.88);
	made_cells(at, MADE_CELLS(CELL(RUNS, OWN, 0.88, .range = "fit"), CELL(RUNS, OWN, 0.08, .range = "load")));
}

TEST(a_range_that_computes_is_the_work)
{
	struct made at;

	begin_own_names(&at);
	made_judge(&at);
	CHECK_EQ(at.verdicts.fired, 1);
	CHECK_STR(at.verdicts.at[0].statement, "Work takes 96% of the loop, and no wait or overhead stands out; the largest range is fit, 88% at "
	                                       "loop.c:17.");
	/* An optimizer has this name in programs whose passes have others. */
	CHECK(!made_fires(&at, "named-part", DW_FACT_STEP_OPTIMIZER, 0.1));
	made_end(&at);
}

/* A range of this name, in which the thread waits, copies, or makes text, is said by what it does, and where. */
TEST(what_a_range_does_is_the_cause_if_nothing_trains)
{
	static const struct {
		enum dw_account_state state;
		enum dw_activity activity;
		const char *id;
	} causes[] = {
		{ DW_ACCOUNT_WAITS, DW_ACTIVITY_DISK, "waiting-file" }, { DW_ACCOUNT_WAITS, DW_ACTIVITY_LOCK, "waiting-lock" },
		{ DW_ACCOUNT_RUNS, DW_ACTIVITY_COPIES, "copies" },      { DW_ACCOUNT_RUNS, DW_ACTIVITY_TEXT, "text" },
		{ DW_ACCOUNT_RUNS, DW_ACTIVITY_FREES, "allocator" },    { DW_ACCOUNT_RUNS, DW_ACTIVITY_LOOK_UP, "look-ups" },
	};
	struct made at;

	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
		begin_own_names(&at);
		made_cells(&at, (const struct made_cell[]){ { .state = causes[i].state, .activity = causes[i].activity, .part = 0.4, .range = "fit" },
		                                            CELL(RUNS, OWN, 0.48, .range = "fit"), CELL(RUNS, OWN, 0) });
		made_judge(&at);
		CHECK_STR(at.verdicts.at[0].rule->id, causes[i].id);
		CHECK(strstr(at.verdicts.at[0].statement, "most of it in the range fit at loop.c:17"));
		CHECK(made_find(&at, "named-part")->state != DW_RULE_FIRED);
		made_end(&at);
	}
}

/* NumPy, whose functions Python calls, computes most of the step. */
TEST(what_python_only_calls_is_no_larger_part)
{
	struct made at;

	begin_beside_passes(&at, MADE_CELLS(CELL(RUNS, ALGEBRA, 0.37, .range = "metrics"), CELL(RUNS, INTERPRETER, 0.4)));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "python");
	CHECK_EQ(made_find(&at, "named-part")->state, DW_RULE_FIRED);
	made_cells(&at, MADE_CELLS(CELL(RUNS, ALGEBRA, 0.37, .range = "metrics"), CELL(RUNS, INTERPRETER, 0.08)));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "named-part");
	made_end(&at);
}

TEST(page_faults_in_a_range_that_is_the_work_are_a_cause)
{
	struct made at;

	begin_own_names(&at);
	made_cells(&at, MADE_CELLS(CELL(RUNS, FAULT, 0.25)));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "page-faults");
	made_end(&at);
}

/* ---- time in no range --------------------------------------------------------------------------------- */

TEST(time_that_a_thread_waits_for_its_team_is_not_nameless)
{
	struct made at;

	begin_own_names(&at);
	made_set(&at, DW_FACT_STEP_UNNAMED, 0.7);
	CHECK(made_fires_of(&at, "nameless", MADE_CELLS(CELL(RUNS, OWN, 0.3), CELL(SPINS, UNKNOWN, 0.4))));
	CHECK_NEAR(made_find(&at, "nameless")->share.value, 0.3, 1e-9);
	CHECK(!made_fires_of(&at, "nameless", MADE_CELLS(CELL(RUNS, OWN, 0.05), CELL(SPINS, UNKNOWN, 0.65))));
	CHECK(!made_fires_of(&at, "nameless", MADE_CELLS(CELL(RUNS, OWN, 0.05), CELL(OTHERS, OWN, 0.65))));
	CHECK(!made_fires_of(&at, "nameless", MADE_CELLS(CELL(RUNS, OWN, 0.05), CELL(WAITS, SLEEP, 0.65))));
	/* Time without a CPU is of both. */
	CHECK(made_fires_of(&at, "nameless", MADE_CELLS(CELL(RUNS, OWN, 0.3), CELL(NO_CPU, UNKNOWN, 0.4))));
	CHECK_NEAR(made_find(&at, "nameless")->share.value, 0.7, 1e-9);
	made_end(&at);
}

/* What a rule names by what it does is no time without a name. */
TEST(time_that_has_a_rule_is_not_nameless)
{
	struct made at;

	begin_own_names(&at);
	made_set(&at, DW_FACT_STEP_UNNAMED, 0.3);
	CHECK(made_fires_of(&at, "nameless", MADE_CELLS(CELL(RUNS, OWN, 0.3))));
	CHECK(!made_fires_of(&at, "nameless", MADE_CELLS(CELL(RUNS, OWN, 0.02), CELL(RUNS, FILE, 0.28))));
	CHECK(made_find(&at, "waiting-file")->state == DW_RULE_FIRED);
	CHECK(!made_fires_of(&at, "nameless", MADE_CELLS(CELL(RUNS, OWN, 0.02), CELL(RUNS, ALLOCATES, 0.28))));
	/* Each of them is too small to be reported. */
	CHECK(made_fires_of(&at, "nameless", MADE_CELLS(CELL(RUNS, FILE, 0.06), CELL(RUNS, COPIES, 0.06), CELL(RUNS, TEXT, 0.06), CELL(RUNS, FREES, 0.06))));
	CHECK(made_fires_of(&at, "nameless", MADE_CELLS(CELL(RUNS, UNKNOWN, 0.28), CELL(RUNS, FILE, 0.02))));
	made_end(&at);
}

TEST(data_that_threads_make_too_slowly)
{
	struct made at;

	begin_own_names(&at);
	made_range(&at, "fit", 0.3);
	made_cells(&at, MADE_CELLS(CELL(RUNS, OWN, 0.3, .range = "fit"), CELL(WAITS, THREAD, 0.63, .share = DW_SHARE_DATA)));
	made_set(&at, DW_FACT_STEP_DATA, 0.63);
	made_set(&at, DW_FACT_LOOP_DATA_ALL, 0.63);
	made_set(&at, DW_FACT_LOADER_WORKERS, 0);
	CHECK(made_fires(&at, "loader-in-process", DW_FACT_LOADER_THREADS, 0));
	CHECK(!made_fires(&at, "loader-in-process", DW_FACT_LOADER_THREADS, 0.6));
	made_set(&at, DW_FACT_LOADER_THREADS, 0.6);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "Waiting for data takes 63% of the loop: the threads that make it cannot keep up.");
	made_end(&at);
}

TEST(what_waits_in_ranges_is_no_work)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_NAMED, 0 }));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "Work takes 92% of the loop, and no wait or overhead stands out.");
	made_set(&at, DW_FACT_STEP_NAMED, 0.05);
	made_cells(&at, MADE_CELLS(CELL(WAITS, SLEEP, 0.05, .range = "pause")));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "Work takes 92% of the loop, and no wait or overhead stands out.");
	made_end(&at);
}

TEST(memory_that_grows_comes_after_a_loss_of_time)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_MEMORY_GROWTH_SHARE, 0.5 }, { DW_FACT_MEMORY_GROWTH, 276 << 10 },
	                     { DW_FACT_OPERATORS_LARGEST, 0.6 }));
	made_cells(&at, MADE_CELLS(CELL(RUNS, INTERPRETER, 0.31)));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "python");
	CHECK_STR(at.verdicts.at[1].rule->id, "memory-growth");
	CHECK_STR(at.verdicts.at[2].rule->id, "one-operator");
	made_cells(&at, MADE_CELLS(CELL(RUNS, INTERPRETER, 0.05)));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "memory-growth");
	made_end(&at);
}

CHECK_MAIN
