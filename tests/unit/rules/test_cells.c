/* Rules that select cells of an account, on accounts made by hand. */
#include "trials.h"

/* A loop with a part in one cell, in a function of the program. */
static void make(struct made *at, double part, enum dw_account_state state, enum dw_activity activity, bool marked)
{
	made_begin(at, MADE({ DW_FACT_STEP_PYTHON, 0 }));
	at->facts.iterations = marked ? DW_ITERATIONS_MARKED : DW_ITERATIONS_RUN;
	made_cells(at, (const struct made_cell[]){
					   { .state = state, .activity = activity, .part = part, .function = "ask" }, CELL(RUNS, OWN, 0) });
}

static const struct dw_rule *rule_of_cells(size_t number)
{
	for (size_t i = 0; dw_rule_at(i); i++)
		if (made_is_of_activities(dw_rule_at(i)) && number-- == 0)
			return dw_rule_at(i);
	return NULL;
}

static bool selects(const struct dw_rule *rule, unsigned state, unsigned activity)
{
	return rule->cells->activities[state] >> activity & 1;
}

static const struct dw_rule *rule_that_selects(unsigned state, unsigned activity)
{
	for (size_t i = 0; rule_of_cells(i); i++)
		if (selects(rule_of_cells(i), state, activity))
			return rule_of_cells(i);
	return NULL;
}

/* Whatever a thread runs or waits for is one rule's, and no ns is two rules'. */
TEST(each_cell_has_one_rule)
{
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		for (unsigned activity = 0; activity < DW_ACTIVITY_COUNT; activity++) {
			unsigned count = 0;

			for (size_t i = 0; rule_of_cells(i); i++)
				count += selects(rule_of_cells(i), state, activity);
			/* What a thread runs in calls that wait, or in a collector that has records, is too short to name. */
			if (count > 1 || (count == 0 && state == DW_ACCOUNT_WAITS) || (count && state == DW_ACCOUNT_NO_CPU))
				CHECK_FAIL("%s, %s: %u rules", dw_account_state_name(state), dw_activity_name(activity), count);
		}
}

/* A sentence about a time of the host says where it lies. */
TEST(each_sentence_about_cells_has_their_place)
{
	for (size_t i = 0; dw_rule_at(i); i++) {
		const struct dw_rule *rule = dw_rule_at(i);

		if ((rule->cells || rule->cells_of || rule->place) && !strstr(rule->statement, "{cells:"))
			CHECK_FAIL("%s: %s", rule->id, rule->statement);
	}
}

static void check_says(const struct dw_rule *rule, const struct dw_verdict *verdict, const char *share)
{
	if (!strstr(verdict->statement, share))
		CHECK_FAIL("%s: %s", rule->id, verdict->statement);
	if (strstr(rule->statement, "{cells:") && !strstr(verdict->statement, "ask (engine.c:41)"))
		CHECK_FAIL("%s: %s", rule->id, verdict->statement);
}

static void check_rule(const struct dw_rule *rule, enum dw_account_state state, enum dw_activity activity, bool marked)
{
	const struct dw_verdict *verdict;
	struct made at;

	make(&at, 0.5, state, activity, marked);
	made_judge(&at);
	verdict = made_find(&at, rule->id);
	CHECK_EQ(verdict->state, DW_RULE_FIRED);
	CHECK_NEAR(verdict->share.value, 0.5, 1e-9);
	CHECK_STR(at.verdicts.at[0].rule->id, rule->id);
	check_says(rule, verdict, marked ? "50% of the loop" : "50% of the run");
	at.facts.one_process = !marked;
	made_judge(&at);
	check_says(rule, made_find(&at, rule->id), marked ? "50% of the loop" : "50% of the busiest process");
	made_end(&at);
	make(&at, 0.06, state, activity, marked);
	made_judge(&at);
	CHECK_EQ(made_find(&at, rule->id)->state, DW_RULE_QUIET);
	made_end(&at);
}

TEST(each_rule_says_its_share_and_place)
{
	for (size_t i = 0; rule_of_cells(i); i++)
		for (unsigned state = 0; state <= DW_ACCOUNT_WAITS; state++)
			for (unsigned activity = 0; activity < DW_ACTIVITY_COUNT; activity++)
				for (unsigned marked = 0;
				     selects(rule_of_cells(i), state, activity) && marked < 1u + !rule_of_cells(i)->unmarked; marked++)
					check_rule(rule_of_cells(i), state, activity, marked);
}

/* Whoever changes the function that is named may save all that it does: the bound has it, and the order of the causes has not. */
TEST(the_bound_has_the_rest_of_the_function)
{
	const struct dw_verdict *copies, *queries;
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_PYTHON, 0 }));
	made_cells(&at, MADE_CELLS(CELL(RUNS, COPIES, 0.30, .function = "order_of"), CELL(RUNS, OWN, 0.20, .function = "order_of"),
	                           CELL(RUNS, QUERIES, 0.35, .function = "sum_of"), CELL(RUNS, ALGEBRA, 0.15, .function = "main")));
	made_judge(&at);
	copies = made_find(&at, "copies");
	CHECK_EQ(copies->state, DW_RULE_FIRED);
	queries = made_find(&at, "queries");
	CHECK(queries < copies);
	CHECK_NEAR(copies->share.value, 0.30, 1e-9);
	CHECK_NEAR(copies->gain_ns / copies->whole_ns, 0.50, 1e-9);
	CHECK_STR(copies->rest, "the rest of order_of");
	CHECK(strstr(copies->hint, " ms if the rest of order_of goes, too ("));
	CHECK_STR(queries->rest, "");
	CHECK_NEAR(queries->gain_ns, queries->time_ns, 1);
	made_end(&at);
}

/* Of the function that starts the program only the line goes: all other lines are there for something else. */
TEST(the_bound_has_the_rest_of_the_line_of_main)
{
	const struct dw_verdict *copies;
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_PYTHON, 0 }));
	made_cells(&at, MADE_CELLS(CELL(RUNS, COPIES, 0.40, .function = "main", .root = true, .line = 20),
	                           CELL(RUNS, INTERPRETER, 0.30, .function = "main", .root = true, .line = 20),
	                           CELL(RUNS, OWN, 0.20, .function = "main", .root = true, .line = 31),
	                           CELL(RUNS, ALGEBRA, 0.10, .function = "sum_of")));
	made_judge(&at);
	copies = made_find(&at, "copies");
	CHECK_EQ(copies->state, DW_RULE_FIRED);
	CHECK_NEAR(copies->gain_ns / copies->whole_ns, 0.70, 1e-9);
	CHECK_STR(copies->rest, "the rest of engine.c:20");
	made_end(&at);
}

/* A sentence about a part of the loop names the function that has most of it: the bound has what else the function does. */
TEST(the_bound_of_a_part_has_the_rest_of_its_function)
{
	const struct dw_verdict *between;
	struct made at;

	made_begin(&at, MADE({ DW_FACT_LOOP_OPERATORS, 0.40 }, { DW_FACT_LOOP_STEPS, 0.5 }));
	made_cells(&at, MADE_CELLS(CELL(RUNS, COPIES, 0.35, .function = "sample", .between = true),
	                           CELL(RUNS, INTERPRETER, 0.20, .function = "sample", .between = true),
	                           CELL(RUNS, ALGEBRA, 0.45, .function = "forward", .share = DW_SHARE_FORWARD)));
	made_judge(&at);
	between = made_find(&at, "between-steps");
	CHECK_EQ(between->state, DW_RULE_FIRED);
	CHECK_NEAR(between->gain_ns / between->whole_ns, 0.55, 1e-9);
	CHECK_STR(between->rest, "the rest of sample");
	made_end(&at);
}

/* A copy is made in one function and freed in another one: the bound of what can go has both. */
TEST(what_is_copied_is_also_allocated_and_freed)
{
	const struct dw_verdict *copies;
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_PYTHON, 0 }));
	made_cells(&at, MADE_CELLS(CELL(RUNS, COPIES, 0.30, .function = "block"), CELL(RUNS, FREES, 0.20, .function = "liveness"),
	                           CELL(RUNS, OWN, 0.05, .function = "block")));
	made_judge(&at);
	copies = made_find(&at, "copies");
	CHECK_EQ(copies->state, DW_RULE_FIRED);
	CHECK_NEAR(copies->gain_ns / copies->whole_ns, 0.50, 1e-9);
	CHECK(strstr(copies->hint, "if the other work on memory goes, too"));
	made_end(&at);
}

/* A call is one sentence, and no other rule has its time. What makes an object need not be called again. */
TEST(a_call_has_one_sentence_for_all_that_is_done_in_it)
{
	static const struct dw_source_function regex = { "std::regex::regex(char const*)", NULL, 0 };
	static const struct dw_source_function gone = { "std::regex::~regex()", NULL, 0 };

	for (unsigned makes = 0; makes < 2; makes++) {
		const struct dw_verdict *call;
		struct made at;

		made_begin(&at, MADE({ DW_FACT_STEP_PYTHON, 0 }));
		at.facts.iterations = DW_ITERATIONS_RUN;
		made_cells(&at, MADE_CELLS(CELL(RUNS, OWN, 0.28, .function = "order_of", .call = 1),
		                           CELL(RUNS, ALLOCATES, 0.16, .function = "order_of", .call = 1),
		                           CELL(RUNS, COPIES, 0.06, .function = "order_of", .call = 1),
		                           CELL(RUNS, ALLOCATES, 0.09, .function = "parse")));
		at.account.of.calls[0] = (struct dw_account_call){ .callee = &regex, .other = makes ? NULL : &gone, .makes = makes };
		at.account.of.call_count = 1;
		made_judge(&at);
		call = made_find(&at, "call");
		CHECK_EQ(call->state, DW_RULE_FIRED);
		CHECK(call == at.verdicts.at);
		CHECK_STR(call->statement,
		          makes ? "The call of std::regex::regex in order_of (engine.c:41) takes 50% of the run: its own code 28%, "
		                  "allocating and freeing memory 16%, copying and clearing memory 6%."
		                : "The call of std::regex::regex, with that of std::regex::~regex, in order_of (engine.c:41) takes 50% of "
		                  "the run: its own code 28%, allocating and freeing memory 16%, copying and clearing memory 6%.");
		CHECK_NEAR(call->share.value, 0.5, 1e-9);
		CHECK_EQ(!isnan(call->gain_ns), makes);
		CHECK_NEAR(made_find(&at, "allocator")->share.value, 0.09, 1e-9);
		CHECK_EQ(made_find(&at, "copies")->state, DW_RULE_QUIET);
		CHECK_EQ(made_find(&at, "second-call")->state, DW_RULE_QUIET);
		made_end(&at);
	}
}

/* What a function computes itself and what it calls in libraries is its work. It comes before causes of which nobody knows how
 * much can go, if it is more in one place; not where it has no place but main(). */
TEST(work_in_one_function_is_ranked_by_its_time)
{
	static const struct {
		double own, libraries, text;
		bool root, first;
		const char *says;
	} cases[] = {
		{ 0.5, 0.3, 0.1, false, true, "The program's own code, with the libraries that it calls, takes 80% of the run, 100% of it in ask" },
		{ 0.8, 0.001, 0.1, false, true, "The program's own code takes 80% of the run, 100% of it in ask" },
		{ 0.1, 0.2, 0.6, false, false, "The program's own code, with the libraries that it calls, takes 30% of the run" },
		{ 0.8, 0.05, 0.1, true, false, "The program's own code, with the libraries that it calls, takes 85% of the run" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_verdict *work;
		struct made at;

		made_begin(&at, MADE({ DW_FACT_STEP_PYTHON, 0 }, { DW_FACT_STEP_COUNT, 1 })); /* a run is one iteration */
		at.facts.iterations = DW_ITERATIONS_RUN;
		made_cells(&at, MADE_CELLS(CELL(RUNS, OWN, cases[i].own, .function = "ask"),
		                           CELL(RUNS, ALGEBRA, cases[i].libraries, .function = "ask"),
		                           CELL(RUNS, TEXT, cases[i].text, .function = "read")));
		for (size_t place = 0; place < 2; place++)
			at.account.places[place].root = cases[i].root;
		made_judge(&at);
		work = made_find(&at, "own-code");
		CHECK_EQ(work->state, DW_RULE_FIRED);
		CHECK_EQ(work == at.verdicts.at, cases[i].first);
		if (!strstr(work->statement, cases[i].says))
			CHECK_FAIL("%s", work->statement);
		made_end(&at);
	}
}

/* Threads for which it waits run Python, and call code of libraries: that is counted as its own would be. */
TEST(python_of_other_threads_has_its_libraries)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_PYTHON, 0 }));
	at.facts.iterations = DW_ITERATIONS_RUN;
	made_cells(&at, MADE_CELLS(CELL(OTHERS, INTERPRETER, 0.4, .function = "ask"), CELL(OTHERS, PACKAGE, 0.2, .function = "ask")));
	made_judge(&at);
	CHECK_STR(made_find(&at, "python")->statement, "The interpreter of Python takes 40% of the run, 60% with the code of libraries that it "
	                                               "runs, most of it in ask (engine.c:41).");
	made_end(&at);
}

/* Linux delays an acknowledgement by 40 ms: a message that is sent by two calls waits for it. Others wait for longer, or less. */
TEST(a_wait_for_a_delayed_acknowledgement_has_its_remedy)
{
	static const struct {
		double each_ms;
		bool delayed;
	} cases[] = { { 44, true }, { 79, true }, { 20, false }, { 120, false } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t count;
		struct made at;

		make(&at, 0.9, DW_ACCOUNT_WAITS, DW_ACTIVITY_SOCKET, false);
		count = (uint64_t)(at.account.cells[0].ns / (cases[i].each_ms * 1e6)) + 1;
		at.account.cells[0].ns = (double)count * cases[i].each_ms * 1e6;
		at.account.cells[0].basis = (struct dw_account_basis){ count, count, count };
		made_judge(&at);
		CHECK_EQ(strstr(made_find(&at, "waiting-answer")->remedy, "TCP_NODELAY") != NULL, cases[i].delayed);
		made_end(&at);
	}
}

/* What a program computes is no cause of steps that have other names. */
TEST(marked_steps_are_no_code_of_their_own)
{
	static const enum dw_activity work[] = { DW_ACTIVITY_OWN, DW_ACTIVITY_ALGEBRA, DW_ACTIVITY_UNKNOWN,
		                                     DW_ACTIVITY_STARTS };

	for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
		struct made at;

		make(&at, 0.9, DW_ACCOUNT_RUNS, work[i], true);
		made_judge(&at);
		CHECK_EQ(made_find(&at, rule_that_selects(DW_ACCOUNT_RUNS, work[i])->id)->state, DW_RULE_NOT_MEASURED);
		CHECK_STR(at.verdicts.at[0].rule->id, "compute");
		made_end(&at);
	}
}

/* Nothing else is known of these steps. */
TEST(marked_steps_of_which_no_rule_says_anything_are_code)
{
	struct made at;

	make(&at, 0.9, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN, true);
	made_set(&at, DW_FACT_TRACE_DEVICE_UNSEEN, 1);
	made_judge(&at);
	REQUIRE(at.verdicts.fired);
	CHECK_STR(at.verdicts.at[0].statement,
	          "The program's own code takes 90% of the loop, 100% of it in ask (engine.c:41).");
	made_end(&at);
}

/* An account of records alone has no samples that could say what a thread did. */
TEST(without_samples_no_cell_is_judged)
{
	struct made at;

	make(&at, 0.5, DW_ACCOUNT_RUNS, DW_ACTIVITY_UNKNOWN, false);
	memset(at.account.of.basis, 0, sizeof at.account.of.basis);
	made_judge(&at);
	CHECK_EQ(made_find(&at, "libraries")->state, DW_RULE_NOT_MEASURED);
	CHECK_STR(made_find(&at, "libraries")->missing, "dwell run");
	made_end(&at);
	/* Records say where Python calls operators. */
	make(&at, 0.5, DW_ACCOUNT_RUNS, DW_ACTIVITY_INTERPRETER, true);
	memset(at.account.of.basis, 0, sizeof at.account.of.basis);
	made_judge(&at);
	CHECK_EQ(made_find(&at, "python")->state, DW_RULE_FIRED);
	made_end(&at);
}

/* The kernel says that the thread waits, whether samples say for what or not. */
TEST(without_samples_a_wait_is_one_if_the_kernel_says_so)
{
	struct made at;

	make(&at, 0.5, DW_ACCOUNT_WAITS, DW_ACTIVITY_UNKNOWN, true);
	memset(at.account.of.basis, 0, sizeof at.account.of.basis);
	made_judge(&at);
	CHECK_EQ(made_find(&at, "idle")->state, DW_RULE_FIRED);
	made_end(&at);
	at.account.of.waits_known = false; /* it may be a wait for a CPU */
	made_judge(&at);
	CHECK_EQ(made_find(&at, "idle")->state, DW_RULE_NOT_MEASURED);
	made_end(&at);
}

/* 10% of 10 samples may be 2%; of 100 samples they are 5% or more. */
TEST(few_samples_say_nothing_surely)
{
	struct made at;

	make(&at, 0.1, DW_ACCOUNT_RUNS, DW_ACTIVITY_COPIES, true);
	at.account.cells[1].share = at.account.cells[0].share; /* records do not tell them apart */
	for (unsigned few = 0; few < 2; few++) {
		unsigned count = few ? 10 : 100, own = count / 10;

		at.account.of.basis[DW_ACCOUNT_RUNS] = (struct dw_account_basis){ count, count, count };
		at.account.cells[0].basis = (struct dw_account_basis){ own, own, own };
		at.account.cells[1].basis = (struct dw_account_basis){ count - own, count - own, count - own };
		made_slice(&at.account);
		made_judge(&at);
		CHECK_EQ(made_find(&at, "copies")->state, few ? DW_RULE_QUIET : DW_RULE_FIRED);
		made_end(&at);
	}
}

/* Time without a CPU is other programs': shares are of the rest, so that a full machine changes none. */
TEST(shares_are_of_the_time_with_a_cpu)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0.5 }, { DW_FACT_CPU_OTHERS, 0.6 }));
	CHECK(made_fires_of(&at, "sleeping", MADE_CELLS(CELL(NO_CPU, UNKNOWN, 0.5), CELL(WAITS, SLEEP, 0.04, .function = "ask"))));
	CHECK_NEAR(made_find(&at, "sleeping")->share.value, 0.08, 1e-9);
	CHECK(!made_fires_of(&at, "sleeping", MADE_CELLS(CELL(NO_CPU, UNKNOWN, 0.2), CELL(WAITS, SLEEP, 0.04))));
	made_end(&at);
}

/* A step has no part of a page fault. */
TEST(what_less_than_each_step_has_is_counted_in_100_of_them)
{
	static const struct { double faults; const char *text; } cases[] = {
		{ 0.648, ": 65 page faults in 100 steps." }, { 0.001, ": 1 page fault in 100 steps." }, { 0.997, ": 1 page fault a step." },
		{ 166.3, ": 166 page faults a step." },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct made at;

		make(&at, 0.3, DW_ACCOUNT_RUNS, DW_ACTIVITY_FAULT, true);
		made_set(&at, DW_FACT_CPU_FAULTS_MINOR, cases[i].faults);
		made_judge(&at);
		check_says(made_find(&at, "page-faults")->rule, made_find(&at, "page-faults"), cases[i].text);
		made_end(&at);
	}
}

/* Few samples that lie in no one function may be anything's, unless they are most of the loop. */
TEST(what_few_samples_show_is_said_with_its_place)
{
	static const struct {
		double part;
		const char *function;
		uint64_t samples;
		bool said;
	} cases[] = { { 0.2, NULL, 5, false }, { 0.2, "ask", 5, true }, { 0.2, NULL, 1000, true }, { 0.6, NULL, 9, true } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t own = cases[i].samples, all = (uint64_t)((double)own / cases[i].part), rest = all / 5;
		struct made at;

		make(&at, cases[i].part, DW_ACCOUNT_RUNS, DW_ACTIVITY_INTERPRETER, true);
		made_cells(&at, (const struct made_cell[]){ { .state = DW_ACCOUNT_RUNS, .activity = DW_ACTIVITY_INTERPRETER, .part = cases[i].part,
		                                              .function = cases[i].function },
		                                            CELL(RUNS, OWN, 0.8 - cases[i].part), CELL(RUNS, OWN, 0) });
		at.account.of.basis[DW_ACCOUNT_RUNS] = (struct dw_account_basis){ all, all, all };
		at.account.cells[0].basis = (struct dw_account_basis){ own, own, own };
		at.account.cells[1].basis = (struct dw_account_basis){ all - own - rest, all - own - rest, all - own - rest };
		at.account.cells[2].basis = (struct dw_account_basis){ rest, rest, rest };
		made_slice(&at.account);
		made_judge(&at);
		if ((made_find(&at, "python")->state == DW_RULE_FIRED) != cases[i].said)
			CHECK_FAIL("%g of the loop in %s by %u samples", cases[i].part, cases[i].function ? cases[i].function : "no function",
			           (unsigned)own);
		made_end(&at);
	}
}

/* Nobody knows for what: then it must be known where. */
TEST(a_wait_for_something_unknown_is_said_with_its_place)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_CPU_DELAY, 0 }));
	CHECK(!made_fires_of(&at, "idle", MADE_CELLS(CELL(WAITS, UNKNOWN, 0.3))));
	CHECK(made_fires_of(&at, "idle", MADE_CELLS(CELL(WAITS, UNKNOWN, 0.3, .function = "ask"))));
	CHECK(made_fires_of(&at, "idle", MADE_CELLS(CELL(WAITS, UNKNOWN, 0.3, .range = "notarise"))));
	CHECK(made_fires_of(&at, "idle", MADE_CELLS(CELL(WAITS, UNKNOWN, 0.6))));
	made_end(&at);
}

/* Of what a device hides, the host need not do less. */
TEST(a_device_that_computes_hides_what_the_host_does)
{
	for (size_t i = 0; rule_of_cells(i); i++)
		for (unsigned busy = 0; !rule_of_cells(i)->unmarked && busy < 2; busy++) {
			struct made at;
			unsigned activity = 0, state = 0;

			while (!selects(rule_of_cells(i), state, activity))
				if (++activity == DW_ACTIVITY_COUNT) {
					activity = 0;
					state++;
				}
			make(&at, 0.3, (enum dw_account_state)state, (enum dw_activity)activity, true);
			made_set(&at, DW_FACT_DEVICE_BUSY, busy ? 0.99 : 0.05);
			made_judge(&at);
			if ((made_find(&at, rule_of_cells(i)->id)->state == DW_RULE_FIRED) == busy)
				CHECK_FAIL("%s, and a device is %s", rule_of_cells(i)->id, busy ? "busy" : "idle");
			made_end(&at);
		}
}

/* Records say what the time is for: data is no wait for a lock, whatever the thread does until it comes. */
TEST(what_records_explain_is_no_rules_of_activities)
{
	static const enum dw_share explained[] = { DW_SHARE_COLLECTOR, DW_SHARE_DATA,       DW_SHARE_COMMUNICATION,
		                                       DW_SHARE_DEVICE,    DW_SHARE_CHECKPOINT, DW_SHARE_EVALUATION };

	for (size_t i = 0; i < sizeof explained / sizeof *explained; i++) {
		struct made at;

		made_begin(&at, MADE({ DW_FACT_STEP_PYTHON, 0 }));
		CHECK(!made_fires_of(&at, "waiting-lock", MADE_CELLS(CELL(WAITS, LOCK, 0.5, .share = explained[i]))));
		CHECK(made_fires_of(&at, "waiting-lock", MADE_CELLS(CELL(WAITS, LOCK, 0.5, .share = DW_SHARE_OPTIMIZER))));
		made_end(&at);
	}
}

/* ---- words ------------------------------------------------------------------------------------------------ */

static void check_statement(const struct made_cell *cells, const char *id, const char *statement)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_PYTHON, 0 }));
	made_cells(&at, cells);
	made_judge(&at);
	CHECK_STR(made_find(&at, id)->statement, statement);
	made_end(&at);
}

TEST(a_sentence_has_the_function_and_the_range)
{
	check_statement(
		MADE_CELLS(CELL(WAITS, SOCKET, 0.3, .range = "ask server", .function = "fetch")), "waiting-answer",
		"Waiting for sockets or other descriptors takes 30% of the loop, most of it in fetch (engine.c:41), in the range ask server at "
		"loop.c:17.");
	check_statement(
		MADE_CELLS(CELL(WAITS, SOCKET, 0.3, .range = "ask server")), "waiting-answer",
		"Waiting for sockets or other descriptors takes 30% of the loop, most of it in the range ask server at loop.c:17.");
	check_statement(
		MADE_CELLS(CELL(WAITS, SOCKET, 0.3, .function = "fetch")), "waiting-answer",
		"Waiting for sockets or other descriptors takes 30% of the loop, most of it in fetch (engine.c:41).");
	check_statement(MADE_CELLS(CELL(WAITS, SOCKET, 0.3)), "waiting-answer",
	                "Waiting for sockets or other descriptors takes 30% of the loop.");
}

/* A place with less than half of the time is not most of it. */
TEST(a_sentence_has_only_places_with_most_of_the_time)
{
	check_statement(MADE_CELLS(CELL(RUNS, COPIES, 0.1, .range = "pack", .function = "pack_row"),
	                           CELL(RUNS, COPIES, 0.11, .range = "unpack", .function = "unpack_row"),
	                           CELL(RUNS, CLEARS, 0.12)),
	                "copies", "Copying and clearing memory takes 33% of the loop, most of it in pack_row (engine.c:41) and unpack_row (engine.c:41).");
	check_statement(
		MADE_CELLS(CELL(RUNS, COPIES, 0.1, .range = "pack", .function = "pack_row"),
	               CELL(RUNS, CLEARS, 0.11, .range = "pack", .function = "reset_row"), CELL(RUNS, CLEARS, 0.12)),
		"copies", "Copying and clearing memory takes 33% of the loop, most of it in the range pack at loop.c:17.");
}

TEST(a_range_without_a_line_is_named)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_PYTHON, 0 }));
	made_cells(&at, MADE_CELLS(CELL(WAITS, SLEEP, 0.3, .range = "pause")));
	at.account.symbols[0].file = NULL;
	made_judge(&at);
	CHECK_STR(made_find(&at, "sleeping")->statement,
	          "The program sleeps for 30% of the loop, most of it in the range pause.");
	made_end(&at);
}

CHECK_MAIN
