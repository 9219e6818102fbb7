/* Rules about parts that the program names: they are no work by default. */
#include "trials.h"

/* The sentence of a part "metrics", which is the largest of a step. */
static const char *sentence_of(struct made *at)
{
	at->facts.at[DW_FACT_STEP_NAMED_PART].name = "metrics";
	at->facts.at[DW_FACT_STEP_NAMED_PART].where = "loop.c:17";
	made_judge(at);
	return at->verdicts.fired ? at->verdicts.at[0].statement : "";
}

#define NAMED { DW_FACT_STEP_FORWARD, 0.2 }, { DW_FACT_STEP_BACKWARD, 0.2 }, { DW_FACT_STEP_NAMED, 0.58 }, \
		{ DW_FACT_STEP_NAMED_PART, 0.58 }, { DW_FACT_STEP_NAMED_LARGEST, 0.58 }

TEST(a_named_part_that_computes_is_the_first_sentence)
{
	struct made at;

	made_begin(&at, MADE(NAMED, { DW_FACT_CPU_WAITING, 0 }, { DW_FACT_OPERATORS_LARGEST, 0.45 },
	                     { DW_FACT_MEMORY_GROWTH_SHARE, 0.5 }, { DW_FACT_MEMORY_GROWTH, 4e6 }));
	CHECK_STR(sentence_of(&at), "The range metrics takes 58% of each step at loop.c:17.");
	made_end(&at);
}

/* One thread works there while its team rests. Where the thread waits for the others, the wait is named, and that once. */
TEST(a_team_that_rests_in_a_named_part_is_a_cause_of_its_own)
{
	struct made at;

	made_begin(&at, MADE(NAMED, { DW_FACT_CPU_WAITING, 0 }, { DW_FACT_SAMPLES_NAMED_CPUS, 1 }, { DW_FACT_SAMPLES_TEAM_CPUS, 2 },
	                     { DW_FACT_TRACE_PYTHON, 0 }));
	at.facts.framework = DW_FACTS_C;
	CHECK_STR(sentence_of(&at), "Threads have too little work in the range metrics at loop.c:17, which takes 58% of each step: "
	                            "they keep 1 CPU busy there, and 2 in another part.");
	CHECK_NEAR(made_find(&at, "team-rests")->share.value, 0.29, 1e-9);
	CHECK(made_find(&at, "named-part")->state != DW_RULE_FIRED);
	CHECK_STR(at.verdicts.at[0].rule->id, "team-rests");
	made_set(&at, DW_FACT_STEP_NAMED_WAITING, 0.2); /* as for a file */
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "named-part");
	made_set(&at, DW_FACT_STEP_NAMED_WAITING, 0);
	made_set(&at, DW_FACT_WAIT_LOCK, 0.3);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "waiting-lock");
	CHECK_EQ(at.verdicts.fired, 1u + (made_find(&at, "compute")->state == DW_RULE_FIRED));
	CHECK_NEAR(at.verdicts.combined_ns, 0.3 * at.verdicts.loop_ns, 1); /* it spins, so it is not idle */
	made_end(&at);
}

/* Nothing else says what trains, and the thread computes there. */
TEST(a_named_part_in_the_c_library_is_no_work)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_NAMED, 0.99 }, { DW_FACT_STEP_NAMED_PART, 0.24 }, { DW_FACT_STEP_NAMED_LARGEST, 0.75 },
	                     { DW_FACT_CPU_WAITING, 0 }, { DW_FACT_TRACE_PYTHON, 0 }, { DW_FACT_STEP_FORWARD, 0 },
	                     { DW_FACT_STEP_BACKWARD, 0 }, { DW_FACT_OPERATORS_SHARE, 0 }));
	at.facts.framework = DW_FACTS_C;
	made_judge(&at);
	CHECK(made_find(&at, "named-part")->state != DW_RULE_FIRED);
	made_set(&at, DW_FACT_SAMPLES_NAMED_LIBRARY, 0.5);
	CHECK_STR(sentence_of(&at), "The range metrics takes 24% of each step at loop.c:17.");
	made_end(&at);
}

/* Beside what a program names as its training, whatever the other range is called. */
TEST(a_range_beside_a_named_pass_is_no_work)
{
	struct made at;

	made_begin(&at, MADE(NAMED, { DW_FACT_CPU_WAITING, 0 }, { DW_FACT_TRACE_PYTHON, 0 }, { DW_FACT_STEP_BACKWARD, 0 },
	                     { DW_FACT_OPERATORS_SHARE, 0 }));
	at.facts.framework = DW_FACTS_C;
	sentence_of(&at);
	CHECK(made_find(&at, "named-part")->state == DW_RULE_FIRED);
	at.facts.at[DW_FACT_STEP_NAMED_PART].name = "learn";
	made_judge(&at);
	CHECK(made_find(&at, "named-part")->state == DW_RULE_FIRED);
	made_set(&at, DW_FACT_STEP_FORWARD, 0);
	made_judge(&at);
	CHECK(made_find(&at, "named-part")->state != DW_RULE_FIRED);
	made_end(&at);
}

TEST(a_named_part_that_waits_is_the_first_sentence)
{
	struct made at;

	made_begin(&at, MADE(NAMED, { DW_FACT_CPU_WAITING, 0.5 }, { DW_FACT_WAIT_FILE, 0.5 }, { DW_FACT_STEP_IDLE_NAMED, 0.5 }));
	at.facts.at[DW_FACT_CPU_WAITING].note = "files 50% of the loop";
	CHECK_STR(sentence_of(&at), "The range metrics takes 58% of each step at loop.c:17; the steps' thread waits for 50% of "
	                            "each step (files 50% of the loop).");
	CHECK_STR(at.verdicts.at[1].rule->id, "waiting-file");
	CHECK_EQ(made_find(&at, "compute")->state, DW_RULE_QUIET);
	made_end(&at);
}

/* The wait is of the loop, and slow steps in it wait longer than usual ones. */
TEST(a_wait_that_takes_about_as_long_comes_after_the_named_part)
{
	struct made at;

	made_begin(&at, MADE(NAMED, { DW_FACT_WAIT_LOCK, 0.62 }, { DW_FACT_STEP_IDLE_NAMED, 0.62 }));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "named-part");
	CHECK_STR(at.verdicts.at[1].rule->id, "waiting-lock");
	made_set(&at, DW_FACT_WAIT_LOCK, 0.8); /* the part does not hold so much */
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "waiting-lock");
	made_end(&at);
}

TEST(a_named_part_is_reported_if_it_is_the_largest)
{
	struct made at;

	made_begin(&at, MADE(NAMED));
	CHECK(made_fires(&at, "named-part", DW_FACT_STEP_NAMED_PART, 0.21));
	CHECK(!made_fires(&at, "named-part", DW_FACT_STEP_NAMED_PART, 0.19));
	CHECK(!made_fires(&at, "named-part", DW_FACT_STEP_BACKWARD, 0.6));
	CHECK(!made_fires(&at, "named-part", DW_FACT_STEP_PYTHON, 0.6));
	CHECK(!made_fires(&at, "named-part", DW_FACT_DEVICE_BUSY, 0.6));
	/* Operators say what a range around the whole step does. */
	made_set(&at, DW_FACT_OPERATORS_SHARE, 0.9);
	CHECK(!made_fires(&at, "named-part", DW_FACT_STEP_NAMED_PART, 0.99));
	made_set(&at, DW_FACT_OPERATORS_SHARE, 0.3);
	CHECK(made_fires(&at, "named-part", DW_FACT_STEP_NAMED_PART, 0.99));
	CHECK_EQ(made_without(&at, "named-part", DW_FACT_STEP_NAMED_PART), DW_RULE_NOT_MEASURED);
	made_end(&at);
}

/* ---- programs in C that give all of their work own names ---------------------------------------------- */

/* Two ranges, 88% and 8%, in which the thread computes. */
static void begin_own_names(struct made *at)
{
	made_begin(at, MADE({ DW_FACT_TRACE_PYTHON, 0 }, { DW_FACT_STEP_FORWARD, 0 }, { DW_FACT_STEP_BACKWARD, 0 },
	                    { DW_FACT_STEP_OPTIMIZER, 0 }, { DW_FACT_STEP_PYTHON, 0 }, { DW_FACT_OPERATORS_SHARE, 0 },
	                    { DW_FACT_STEP_NAMED, 0.96 }, { DW_FACT_STEP_NAMED_LARGEST, 0.88 }, { DW_FACT_STEP_NAMED_PART, 0.88 },
	                    { DW_FACT_CPU_WAITING, 0 }, { DW_FACT_STEP_NAMED_WAITING, 0 }, { DW_FACT_SAMPLES_NAMED_LIBRARY, 0.02 }));
	at->facts.framework = DW_FACTS_C;
	at->facts.at[DW_FACT_STEP_NAMED_LARGEST].name = "fit";
	at->facts.at[DW_FACT_STEP_NAMED_LARGEST].where = "engine.c:41";
}

TEST(a_range_that_computes_is_the_work)
{
	struct made at;

	begin_own_names(&at);
	made_judge(&at);
	CHECK_EQ(at.verdicts.fired, 1);
	CHECK_STR(at.verdicts.at[0].statement, "Work takes 96% of each step, and no wait or overhead stands out; the largest range is fit, 88% at "
	                                       "engine.c:41.");
	/* An optimizer has this name in programs whose passes have others. */
	CHECK(!made_fires(&at, "named-part", DW_FACT_STEP_OPTIMIZER, 0.1));
	/* A program with a barrier at the end of each loop waits a little. */
	CHECK(!made_fires(&at, "named-part", DW_FACT_STEP_NAMED_WAITING, 0.08));
	CHECK(!made_fires(&at, "named-part", DW_FACT_SAMPLES_NAMED_LIBRARY, 0.2));
	made_end(&at);
}

/* NumPy, whose functions Python calls, computes most of the step. */
TEST(what_python_only_calls_is_no_larger_part)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_FORWARD, 0 }, { DW_FACT_STEP_BACKWARD, 0 }, { DW_FACT_STEP_OPTIMIZER, 0 },
	                     { DW_FACT_STEP_PYTHON, 0.6 }, { DW_FACT_STEP_NAMED, 0.37 }, { DW_FACT_STEP_NAMED_PART, 0.37 }));
	at.facts.at[DW_FACT_STEP_NAMED_PART].name = "planes";
	CHECK(!made_fires(&at, "named-part", DW_FACT_SAMPLES_ENGINE, 0.1));
	CHECK(made_fires(&at, "named-part", DW_FACT_SAMPLES_ENGINE, 0.94));
	made_end(&at);
}

TEST(a_range_that_waits_calls_libraries_or_moves_data_is_no_work)
{
	struct made at;

	begin_own_names(&at);
	CHECK(made_fires(&at, "named-part", DW_FACT_STEP_NAMED_WAITING, 0.3));
	CHECK(made_fires(&at, "named-part", DW_FACT_SAMPLES_NAMED_LIBRARY, 0.4));
	CHECK(made_fires(&at, "named-part", DW_FACT_SAMPLES_NAMED_MOVES, 0.7));
	CHECK(!made_fires(&at, "named-part", DW_FACT_SAMPLES_NAMED_MOVES, 0.5));
	/* Few samples do not say so surely. */
	made_set(&at, DW_FACT_SAMPLES_NAMED_LIBRARY, 0.4);
	at.facts.at[DW_FACT_SAMPLES_NAMED_LIBRARY].low = 0.1;
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "compute");
	/* Without samples, the waits of the step may be those of the range. */
	made_set(&at, DW_FACT_CPU_WAITING, 0.3);
	CHECK_EQ(made_without(&at, "named-part", DW_FACT_STEP_NAMED_WAITING), DW_RULE_FIRED);
	made_end(&at);
}

/* A rule and "named-part" fire, and nothing else. `first`: the rule comes first. */
static void check_order(const struct made *at, const char *id, bool first)
{
	CHECK_EQ(at->verdicts.fired, 2);
	CHECK_STR(at->verdicts.at[0].rule->id, first ? id : "named-part");
	CHECK_STR(at->verdicts.at[1].rule->id, first ? "named-part" : id);
}

/* With 0.8 of its time they are most likely why it takes so long. Alone, work would come after it. */
TEST(page_faults_that_explain_a_range_come_before_it)
{
	struct made at;

	begin_own_names(&at);
	made_set(&at, DW_FACT_STEP_NAMED_PART, 0.28);
	made_set(&at, DW_FACT_STEP_NAMED_WAITING, 0.12);
	made_set(&at, DW_FACT_CPU_FAULTS_MAJOR, 0);
	for (unsigned explain = 0; explain < 2; explain++) {
		made_set(&at, DW_FACT_CPU_FAULTS_MINOR, explain ? 5000 : 4000);
		made_judge(&at);
		check_order(&at, "page-faults", explain);
	}
	made_end(&at);
}

/* That of a range in which the thread makes and frees objects. */
TEST(an_allocator_with_a_third_of_a_ranges_time_comes_before_it)
{
	struct made at;

	begin_own_names(&at);
	made_set(&at, DW_FACT_STEP_NAMED_PART, 0.85);
	made_set(&at, DW_FACT_SAMPLES_NAMED_LIBRARY, 0.4);
	for (unsigned third = 0; third < 2; third++) {
		made_set(&at, DW_FACT_MEMORY_ALLOCATOR, third ? 0.31 : 0.2);
		made_judge(&at);
		check_order(&at, "allocator", third);
	}
	made_end(&at);
}

TEST(a_range_beside_passes_is_no_work)
{
	struct made at;

	begin_own_names(&at);
	made_set(&at, DW_FACT_STEP_NAMED, 0.32);
	made_set(&at, DW_FACT_STEP_NAMED_PART, 0.24);
	made_set(&at, DW_FACT_STEP_FORWARD, 0.3);
	made_set(&at, DW_FACT_STEP_BACKWARD, 0.38);
	at.facts.at[DW_FACT_STEP_NAMED_PART].name = "to double";
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "The range to double takes 24% of each step.");
	made_set(&at, DW_FACT_STEP_NAMED_PART, 0.17); /* another one has 15% */
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "The range to double takes 17% of each step, all ranges under the program's own "
	                                       "names 32%.");
	made_set(&at, DW_FACT_STEP_NAMED, 0.18);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "compute");
	made_end(&at);
}

/* A range of 83%, then of 60%, in which the thread waits for a lock for 53% of the step; then for 20%, and for the others elsewhere. */
TEST(a_wait_comes_before_the_range_that_holds_it)
{
	struct made at;

	begin_own_names(&at);
	made_set(&at, DW_FACT_STEP_NAMED_PART, 0.83);
	made_set(&at, DW_FACT_STEP_NAMED_WAITING, 0.53);
	made_set(&at, DW_FACT_WAIT_LOCK, 0.53);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "waiting-lock");
	CHECK_STR(at.verdicts.at[1].rule->id, "named-part");
	made_set(&at, DW_FACT_STEP_NAMED_PART, 0.6);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "waiting-lock");
	made_set(&at, DW_FACT_STEP_NAMED_WAITING, 0.2);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "named-part");
	made_end(&at);
}

TEST(time_that_a_thread_waits_for_its_team_is_not_nameless)
{
	struct made at;

	begin_own_names(&at);
	made_set(&at, DW_FACT_STEP_UNNAMED, 0.7);
	CHECK(made_fires(&at, "nameless", DW_FACT_SAMPLES_TEAM, 0.5));
	CHECK(!made_fires(&at, "nameless", DW_FACT_SAMPLES_TEAM, 0.95));
	made_end(&at);
}

TEST(data_that_threads_make_too_slowly)
{
	struct made at;

	begin_own_names(&at);
	made_set(&at, DW_FACT_STEP_NAMED_LARGEST, 0.3);
	made_set(&at, DW_FACT_STEP_NAMED_PART, 0.3);
	made_set(&at, DW_FACT_STEP_DATA, 0.63);
	made_set(&at, DW_FACT_LOOP_DATA_ALL, 0.63);
	made_set(&at, DW_FACT_LOADER_WORKERS, 0);
	CHECK(made_fires(&at, "loader-in-process", DW_FACT_LOADER_THREADS, 0));
	CHECK(!made_fires(&at, "loader-in-process", DW_FACT_LOADER_THREADS, 0.6));
	made_set(&at, DW_FACT_LOADER_THREADS, 0.6);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "Waiting for data takes 63% of each step: the threads that make it cannot keep up.");
	made_end(&at);
}

TEST(what_waits_in_ranges_is_no_work)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_NAMED, 0 }));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "Work takes 92% of each step, and no wait or overhead stands out.");
	made_set(&at, DW_FACT_STEP_NAMED, 0.05);
	made_set(&at, DW_FACT_STEP_IDLE_NAMED, 0.05);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].statement, "Work takes 92% of each step, and no wait or overhead stands out.");
	made_end(&at);
}

TEST(a_wait_that_is_known_is_none_for_threads_without_a_cpu)
{
	struct made at;

	made_begin(&at, MADE(NAMED, { DW_FACT_CPU_THREAD, 0.4 }, { DW_FACT_CPU_DELAY, 0.04 }, { DW_FACT_CPU_BUSY, 1.5 },
	                     { DW_FACT_CPU_OTHERS, 0.02 }, { DW_FACT_CPU_CPUS, 2 }));
	CHECK(made_fires(&at, "oversubscribed", DW_FACT_STEP_IDLE_NAMED, 0));
	CHECK(!made_fires(&at, "oversubscribed", DW_FACT_STEP_IDLE_NAMED, 0.55));
	made_end(&at);
}

TEST(memory_that_grows_comes_after_a_loss_of_time)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_MEMORY_GROWTH_SHARE, 0.5 }, { DW_FACT_MEMORY_GROWTH, 276 << 10 }, { DW_FACT_STEP_PYTHON, 0.31 },
	                     { DW_FACT_OPERATORS_LARGEST, 0.6 }));
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "python");
	CHECK_STR(at.verdicts.at[1].rule->id, "memory-growth");
	CHECK_STR(at.verdicts.at[2].rule->id, "one-operator");
	made_set(&at, DW_FACT_STEP_PYTHON, 0.05);
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "memory-growth");
	made_end(&at);
}

CHECK_MAIN
