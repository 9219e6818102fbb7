/*
 * Judging: which verdicts are reported, in what order, with what gain and hint. On facts made by
 * hand.
 */
#include "made_facts.h"

/* ---- order and guards ------------------------------------------------------------------------ */

TEST(a_healthy_loop_gets_an_answer_and_nothing_else)
{
	struct judged at;

	healthy(&at);
	judge(&at);
	CHECK_EQ(at.verdicts.fired, 1);
	CHECK_STR(first(&at), "compute");
	CHECK(isnan(at.verdicts.combined_ns));
	done(&at);
}

TEST(without_facts_nothing_is_said)
{
	struct judged at = { 0 };

	dw_facts_init(&at.facts);
	judge(&at);
	CHECK_EQ(at.verdicts.fired, 0);
	done(&at);
}

TEST(few_steps_are_not_firm)
{
	struct judged at;

	healthy(&at);
	set_cells(&at, MADE_CELLS(CELL(RUNS, INTERPRETER, 0.35, .function = "ask")));
	judge(&at);
	CHECK_STR(found(&at, "python")->statement, "The interpreter of Python takes 35% of the loop, most of it in ask (engine.c:41).");
	done(&at);
	set(&at, DW_FACT_STEP_STEADY, 19);
	at.arena = (struct dw_arena){ 0 };
	judge(&at);
	CHECK_STR(found(&at, "python")->statement, "The interpreter of Python may take 35% of the loop, most of it in ask (engine.c:41).");
	done(&at);
}

/* The share is that of a row of the loop's table. */
TEST(an_exact_sum_is_firm_in_few_steps)
{
	struct dw_steady_part data = { .name = "data", .ns = 3e6 };
	const struct dw_loop_parts parts = { .ns = 10e6, .parts = &data, .part_count = 1 };

	for (unsigned missing = 0; missing < 2; missing++) { /* records of so many steps */
		struct judged at;

		healthy(&at);
		set(&at, DW_FACT_STEP_STEADY, 9);
		set(&at, DW_FACT_STEP_COUNT, 9);
		set(&at, DW_FACT_STEP_COUNTED, 9 - missing);
		set(&at, DW_FACT_STEP_DATA, 0.3);
		at.facts.parts = &parts;
		judge(&at);
		CHECK(strstr(found(&at, "loader-in-process")->statement,
		             missing ? "Waiting for data may take 30% of the loop" : "Waiting for data takes 30% of the loop"));
		done(&at);
	}
}

TEST(a_cause_in_steps_that_are_a_small_part_of_the_loop_is_none)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_OPERATORS_SYNCHRONISING, 0.4);
	set(&at, DW_FACT_OPERATORS_SYNCHRONISING_COUNT, 5);
	set(&at, DW_FACT_STEP_PYTHON, 0);
	set(&at, DW_FACT_LOOP_STEPS, 0.14);
	judge(&at);
	CHECK_EQ(found(&at, "synchronising-call")->state, DW_RULE_FIRED);
	done(&at);
	set(&at, DW_FACT_LOOP_STEPS, 0.12); /* 4.8% of the loop */
	at.arena = (struct dw_arena){ 0 };
	judge(&at);
	CHECK(found(&at, "synchronising-call")->state != DW_RULE_FIRED);
	done(&at);
}

TEST(causes_with_overlapping_intervals_are_both_named)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_OPERATORS_SYNCHRONISING, 0.34);
	set(&at, DW_FACT_OPERATORS_SYNCHRONISING_COUNT, 5);
	set(&at, DW_FACT_STEP_PYTHON, 0);
	set(&at, DW_FACT_STEP_DATA, 0.32);
	at.facts.at[DW_FACT_STEP_DATA].high = 0.37;
	judge(&at);
	CHECK_STR(first(&at), "synchronising-call");
	CHECK(found(&at, "synchronising-call")->tied && found(&at, "loader-in-process")->tied);
	done(&at);
	at.facts.at[DW_FACT_STEP_DATA].high = 0.33;
	at.arena = (struct dw_arena){ 0 };
	judge(&at);
	CHECK(!found(&at, "synchronising-call")->tied && !found(&at, "loader-in-process")->tied);
	done(&at);
}

/* Two waits of 100 samples in all: which is longer, they do not say. With 10,000 they do. */
TEST(cells_with_overlapping_intervals_are_both_named)
{
	struct judged at;

	healthy(&at);
	set_cells(&at, MADE_CELLS(CELL(WAITS, LOCK, 0.22), CELL(WAITS, SOCKET, 0.20)));
	for (unsigned few = 0; few < 2; few++) {
		unsigned count = few ? 100 : 10000;

		at.account.of.basis[DW_ACCOUNT_WAITS] = (struct dw_account_basis){ count, count, count };
		judge(&at);
		CHECK_STR(first(&at), "waiting-lock");
		CHECK_EQ(found(&at, "waiting-lock")->tied, few);
		CHECK_EQ(found(&at, "waiting-answer")->tied, few);
		done(&at);
	}
}

/* What may be saved of the first one is not known: half of it at most is assumed, whatever its share is of. */
TEST(a_cause_without_a_bound_is_ranked_by_half_of_its_time)
{
	static const double waits[] = { 0.22, 0.18 };

	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		struct judged at;

		healthy(&at);
		set(&at, DW_FACT_STEP_STEADY, 50);
		set(&at, DW_FACT_DRIFT_CHANGE, 0.4);
		set(&at, DW_FACT_DRIFT_CHANGE_STEP, 31);
		set_cells(&at, MADE_CELLS(CELL(WAITS, LOCK, waits[i])));
		judge(&at);
		CHECK(isnan(found(&at, "change-point")->gain_ns));
		CHECK_STR(first(&at), i ? "change-point" : "waiting-lock");
		done(&at);
	}
}

TEST(shares_of_step_and_loop_are_ranked_by_time)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_LOOP_STEPS, 0.5);
	set(&at, DW_FACT_LOOP_CHECKPOINT_ALL, 0.45);
	set(&at, DW_FACT_LOOP_WALL, 62 * 20e6);
	set_cells(&at, MADE_CELLS(CELL(RUNS, DISK, 0.45, .share = DW_SHARE_CHECKPOINT)));
	set(&at, DW_FACT_OPERATORS_SYNCHRONISING, 0.60);
	set(&at, DW_FACT_OPERATORS_SYNCHRONISING_COUNT, 5);
	set(&at, DW_FACT_STEP_PYTHON, 0);
	judge(&at);
	CHECK_STR(first(&at), "checkpoint");
	done(&at);
}

TEST(gains_together_are_at_most_the_parts_they_come_from)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_STEP_DATA, 0.30);
	set(&at, DW_FACT_OPERATORS_SYNCHRONISING, 0.20);
	set(&at, DW_FACT_OPERATORS_SYNCHRONISING_COUNT, 5);
	set(&at, DW_FACT_STEP_PYTHON, 0);
	set(&at, DW_FACT_STEP_OPTIMIZER, 0.66);
	judge(&at);
	CHECK(at.verdicts.combined_ns <= at.verdicts.loop_ns);
	CHECK(at.verdicts.combined_ns > 4.9e6);
	for (size_t i = 0; i < at.verdicts.fired; i++)
		CHECK(isnan(at.verdicts.at[i].gain_ns) ||
		      at.verdicts.at[i].gain_ns <= at.verdicts.loop_ns);
	done(&at);
}

TEST(a_share_does_not_exceed_its_whole)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_OPERATORS_SYNCHRONISING, 2.5);
	set(&at, DW_FACT_OPERATORS_SYNCHRONISING_COUNT, 5);
	set(&at, DW_FACT_STEP_PYTHON, 0);
	judge(&at);
	CHECK(found(&at, "synchronising-call")->share.value <= 1);
	done(&at);
}

/* ---- hints ----------------------------------------------------------------------------------- */

TEST(hints_do_not_suggest_what_was_recorded)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_OPERATORS_LAYOUT, 0.35);
	set(&at, DW_FACT_OPERATORS_COPIES, 0);
	judge(&at);
	CHECK(strstr(found(&at, "layout-copies")->hint, "dwell run --shapes"));
	done(&at);
	set(&at, DW_FACT_TRACE_SHAPES, 1);
	at.arena = (struct dw_arena){ 0 };
	judge(&at);
	CHECK(!strstr(found(&at, "layout-copies")->hint, "dwell run --shapes"));
	CHECK(strstr(found(&at, "layout-copies")->hint, "--group-by shape"));
	done(&at);
}

TEST(copies_and_clears_are_one_cause_with_the_operator_that_asks_for_them)
{
	const struct dw_verdict *verdict;
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_OPERATORS_LAYOUT, 0);
	set(&at, DW_FACT_OPERATORS_COPIES, 0.1);
	set(&at, DW_FACT_OPERATORS_CLEARS, 0.25);
	judge(&at);
	verdict = found(&at, "layout-copies");
	CHECK(strstr(verdict->statement, "Copying and clearing memory takes 34% of the loop."));
	CHECK(!strstr(verdict->hint, "sparse=True") && !strstr(verdict->hint, "channels_last"));
	done(&at);
	at.arena = (struct dw_arena){ 0 };
	set(&at, DW_FACT_GRADIENTS_EMBEDDINGS, 0.9);
	judge(&at);
	CHECK(strstr(found(&at, "layout-copies")->hint, "sparse=True"));
	done(&at);
	at.arena = (struct dw_arena){ 0 };
	set(&at, DW_FACT_OPERATORS_MOVED, 0.3);
	at.facts.at[DW_FACT_OPERATORS_MOVED].name = "aten::embedding_dense_backward";
	at.facts.at[DW_FACT_OPERATORS_MOVED].where = "train.py:51";
	set(&at, DW_FACT_OPERATORS_CLEARS, 0.05);
	judge(&at);
	verdict = found(&at, "layout-copies");
	CHECK(strstr(verdict->statement,
	             "Copies and changes of layout take 15% of the loop, most of it for aten::embedding_dense_backward at train.py:51."));
	CHECK(strstr(verdict->hint, "channels_last") && !strstr(verdict->hint, "sparse=True"));
	done(&at);
}

TEST(foreign_traces_get_no_options_of_dwell_run)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_STEP_PYTHON, 0.35);
	at.facts.foreign = true;
	judge(&at);
	CHECK(!strstr(found(&at, "python")->hint, "dwell run"));
	done(&at);
}

TEST(hints_do_not_suggest_what_is_in_use)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_OPERATORS_SMALL, 0.5);
	set(&at, DW_FACT_OPERATORS_SMALL_COUNT, 1500);
	set(&at, DW_FACT_OPERATORS_SMALL_MEAN, 2.6e3);
	set(&at, DW_FACT_OPERATORS_COUNT, 1560);
	set(&at, DW_FACT_STEP_PYTHON, 0.05);
	set(&at, DW_FACT_OPERATORS_COMPILED, 0);
	set(&at, DW_FACT_OPTIMIZER_FUSED, 0);
	judge(&at);
	CHECK(strstr(found(&at, "small-operators")->hint, "torch.compile"));
	CHECK(strstr(found(&at, "small-operators")->hint, "fused"));
	done(&at);
	set(&at, DW_FACT_OPERATORS_COMPILED, 2);
	set(&at, DW_FACT_OPTIMIZER_FUSED, 1);
	at.arena = (struct dw_arena){ 0 };
	judge(&at);
	CHECK(!strstr(found(&at, "small-operators")->hint, "torch.compile"));
	CHECK(!strstr(found(&at, "small-operators")->hint, "fused"));
	done(&at);
}

TEST(remedies_are_in_the_words_of_the_framework)
{
	static const struct {
		enum dw_facts_framework framework;
		const char *word;
	} cases[] = {
		{ DW_FACTS_C, "less often" },          { DW_FACTS_PYTORCH, "async_save" },
		{ DW_FACTS_LIGHTNING, "every_n_train_steps" }, { DW_FACTS_IGNITE, "every=" },
		{ DW_FACTS_JAX, "orbax" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct judged at;

		healthy(&at);
		set(&at, DW_FACT_LOOP_CHECKPOINT_ALL, 0.45);
		set_cells(&at, MADE_CELLS(CELL(RUNS, DISK, 0.45, .share = DW_SHARE_CHECKPOINT)));
		at.facts.framework = cases[i].framework;
		judge(&at);
		CHECK(strstr(found(&at, "checkpoint")->hint, cases[i].word));
		done(&at);
	}
}

/* A program trains for a short time, and then makes a text word by word: the sentence about what follows the last step says that, with
 * its remedy. A cause that takes less than half of it does not stand for it. */
TEST(what_follows_the_last_step_is_judged_as_a_run)
{
	struct judged after, run;

	for (unsigned most = 0; most < 2; most++) {
		healthy(&after);
		after.facts.iterations = DW_ITERATIONS_PERIOD;
		after.facts.follows = true;
		set(&after, DW_FACT_STEP_BACKWARD, 0);
		set(&after, DW_FACT_STEP_FORWARD, most ? 0.8 : 0.4);
		set(&after, DW_FACT_INPUT_GROWS, 0.95);
		healthy(&run);
		set(&run, DW_FACT_RUN_AFTER, 0.6);
		run.facts.after = &after.facts;
		judge(&run);
		CHECK_STR(first(&run), "after-steps");
		CHECK(strstr(run.verdicts.at[0].statement, "What follows the last step takes 60% of the run") == run.verdicts.at[0].statement);
		CHECK_EQ(strstr(run.verdicts.at[0].statement, "Calls of the model take 78% of it") != NULL, most);
		CHECK_EQ(strstr(run.verdicts.at[0].remedy, "compute only what is new") != NULL, most);
		done(&run);
	}
}

CHECK_MAIN
