/* Which function of the program a sum of cells lies in. */
#include <string.h>

#include "account/account.h"
#include "check.h"

#define MOST 8u
#define MS 1e6

/* A function of "train.py" on the stack in a cell: for how long, and for how long on top. */
struct on_stack {
	const char *function;
	double ms, self_ms;
};

static struct {
	struct dw_account of;
	struct dw_account_cell cells[MOST];
	struct dw_account_place places[MOST][MOST];
	struct dw_source_function functions[MOST][MOST];
} made;

static void begin(void)
{
	memset(&made, 0, sizeof made);
	made.of.cells = made.cells;
	made.of.known = true;
}

/* A cell that rests on so many independent samples; its functions, innermost first. */
static void add(enum dw_sample_where where, enum dw_share share, enum dw_activity activity, double ms, uint64_t samples,
                const struct on_stack *stack)
{
	size_t number = made.of.count++;
	struct dw_account_cell *cell = &made.cells[number];

	*cell = (struct dw_account_cell){ .where = where,
		                              .share = share,
		                              .named = DW_NO_INDEX,
		                              .activity = activity,
		                              .state = DW_ACCOUNT_RUNS,
		                              .ns = ms * MS,
		                              .basis = { samples, samples, samples },
		                              .places = made.places[number] };
	for (; stack->function; stack++) {
		size_t p = cell->place_count++;

		made.functions[number][p] = (struct dw_source_function){ stack->function, "/srv/train.py", 7 };
		made.places[number][p] = (struct dw_account_place){ .function = &made.functions[number][p],
			                                                .line = (uint32_t)(10 * number + p + 1),
			                                                .root = strcmp(stack->function, "main") == 0,
			                                                .ns = stack->ms * MS,
			                                                .self_ns = stack->self_ms * MS };
	}
	made.of.wall_ns = made.of.own_ns += ms * MS;
	made.of.state_ns[DW_ACCOUNT_RUNS] += ms * MS;
	made.of.basis[DW_ACCOUNT_RUNS].samples += samples;
	made.of.basis[DW_ACCOUNT_RUNS].weight += samples;
	made.of.basis[DW_ACCOUNT_RUNS].squares += samples;
}
#define STACK(...) \
	(const struct on_stack[]) \
	{ \
		__VA_ARGS__, \
		{ \
			NULL, 0, 0 \
		} \
	}

static struct dw_account_sum sum_of(struct dw_account_select select)
{
	return dw_account_sum(&made.of, &select);
}

static void check_place(const struct dw_account_sum *sum, const char *function, bool dominates)
{
	REQUIRE(sum->function);
	CHECK_STR(sum->function->name, function);
	CHECK_EQ(sum->dominates, dominates);
}

/* Other cells while the function is the innermost one of the program; not what it calls there, nor what its caller does. What starts the
 * program has no rest. */
TEST(the_rest_of_a_function_is_what_else_it_does_itself)
{
	struct dw_account_sum sum;

	begin();
	add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_TEXT, 50, 50, STACK({ "parse", 40, 40 }, { "main", 50, 10 }));
	add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_OWN, 30, 30, STACK({ "parse", 25, 20 }, { "main", 30, 5 }));
	add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_COPIES, 20, 20, STACK({ "parse", 7, 7 }, { "main", 20, 13 }));
	sum = sum_of(dw_account_select_states(1u << DW_ACCOUNT_RUNS, 1ull << DW_ACTIVITY_TEXT));
	check_place(&sum, "parse", true);
	CHECK_NEAR(sum.rest_ns, 27 * MS, 1);
	sum = sum_of(dw_account_select_states(1u << DW_ACCOUNT_RUNS, 1ull << DW_ACTIVITY_COPIES));
	check_place(&sum, "main", true);
	CHECK_NEAR(sum.rest_ns, 0, 1);
}

/* In each cell the function calls something else, or the same, for so long. */
TEST(a_function_calls_what_it_calls_in_most_of_its_time)
{
	static const struct dw_source_function find = { "find", "/usr/lib/python3.11/re/__init__.py", 3 },
										   find_again = { "find", "/usr/lib/python3.11/re/__init__.py", 9 },
										   dumps = { "dumps", "/usr/lib/python3.11/json/encoder.py", 1 };
	static const struct {
		const struct dw_source_function *callee[3];
		double ms[3];
		const char *called;
	} cases[] = {
		{ { &find, NULL, NULL }, { 100, 0, 0 }, "re.find" },
		{ { &dumps, &find, &find_again }, { 20, 50, 30 }, "re.find" },
		{ { &find, NULL, &find_again }, { 40, 20, 40 }, "re.find" },
		{ { &find, NULL, &dumps }, { 60, 30, 10 }, "" }, /* more than half, by what others leave: not for sure */
		{ { &find, &dumps, NULL }, { 45, 45, 10 }, "" },
		{ { NULL, NULL, NULL }, { 100, 0, 0 }, "" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_account_sum sum;
		char text[80];

		begin();
		add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_INTERPRETER, 60, 60, STACK({ "search", 60, 60 }));
		add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_TEXT, 40, 40, STACK({ "search", 40, 40 }));
		for (size_t k = 0; k < 3; k++)
			dw_account_lead_function(&made.places[k == 2][0].callee, &made.places[k == 2][0].callee_ns, cases[i].callee[k],
			                         cases[i].ms[k] * MS);
		sum = sum_of(dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL));
		CHECK_STR(dw_account_callee(&sum, text), cases[i].called);
	}
}

/* The model is called in training, too: evaluate() is the evaluation. */
TEST(a_part_of_the_run_is_the_function_that_does_little_else)
{
	struct dw_account_sum sum;

	begin();
	add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_UNKNOWN, 600, 60,
	    STACK({ "Net.forward", 600, 600 }, { "main", 600, 0 }));
	add(DW_SAMPLE_BETWEEN, DW_SHARE_EVALUATION, DW_ACTIVITY_UNKNOWN, 400, 40,
	    STACK({ "Net.forward", 380, 380 }, { "evaluate", 400, 20 }, { "main", 400, 0 }));
	sum = sum_of((struct dw_account_select){ .explained = 1u << DW_SHARE_EVALUATION });
	check_place(&sum, "evaluate", true);
	CHECK_EQ(sum.line, 12);
	sum = sum_of(dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL));
	check_place(&sum, "Net.forward", true);
}

/* pack() calls filtered(), and digest() is called by nobody of them. */
TEST(a_second_function_is_none_that_the_first_one_calls)
{
	static const char *const callers[3][2] = { { "filtered", "pack" }, { "pack", "main" }, { "digest", "main" } };
	struct dw_account_sum sum;

	begin();
	add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_OWN, 1000, 1000,
	    STACK({ "main", 1000, 0 }, { "pack", 600, 200 }, { "filtered", 400, 400 }, { "digest", 400, 400 }));
	sum = sum_of(dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL));
	check_place(&sum, "pack", true);
	CHECK(!sum.second); /* who calls it is not known */
	for (size_t i = 0; i < 3; i++)
		for (size_t p = 0; p < 4; p++)
			if (strcmp(made.functions[0][p].name, callers[i][0]) == 0)
				for (size_t c = 0; c < 4; c++)
					if (strcmp(made.functions[0][c].name, callers[i][1]) == 0)
						dw_account_lead_function(&made.places[0][p].caller, &made.places[0][p].caller_ns, &made.functions[0][c],
						                         made.places[0][p].ns);
	sum = sum_of(dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL));
	check_place(&sum, "pack", true);
	REQUIRE(sum.second);
	CHECK_STR(sum.second->name, "digest");
}

static void called_by(size_t number, const struct dw_source_function *caller, double ms)
{
	dw_account_lead_function(&made.places[number][0].caller, &made.places[number][0].caller_ns, caller, ms * MS);
}

/* next() is called by scan() for most of its time, at the line of scan() with most of it. */
TEST(a_place_has_its_caller)
{
	static const struct dw_source_function step = { "sqlite3_step", NULL, 0 };
	static const struct {
		double scan_ms, load_ms, itself_ms, in_callee_ms;
		const char *caller;
		bool passes;
	} cases[] = {
		{ 1000, 0, 0, 1000, "scan (train.py:2)", true },
		{ 800, 200, 0, 700, "scan (train.py:2)", false },
		{ 600, 400, 0, 1000, "", true }, /* no caller has it for sure */
		{ 0, 0, 1000, 0, "", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_account_sum sum;
		char text[300];

		begin();
		add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_QUERIES, 1000, 1000,
		    STACK({ "next", 1000, 1000 }, { "scan", cases[i].scan_ms, 0 }, { "load", cases[i].load_ms, 0 }, { "main", 1000, 0 }));
		called_by(0, &made.functions[0][1], cases[i].scan_ms);
		called_by(0, &made.functions[0][2], cases[i].load_ms);
		called_by(0, &made.functions[0][0], cases[i].itself_ms);
		dw_account_lead_function(&made.places[0][0].callee, &made.places[0][0].callee_ns, cases[i].in_callee_ms > 0 ? &step : NULL,
		                         cases[i].in_callee_ms * MS);
		sum = sum_of(dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL));
		check_place(&sum, "next", true);
		CHECK_STR(dw_account_caller(&sum, text), cases[i].caller);
		CHECK_EQ(sum.passes, cases[i].passes);
	}
}

/* Where a loop loads its own data, the function that computes is the place, and not the one that is called for a sample. */
TEST(data_that_the_loop_makes_lies_in_the_function_that_makes_it)
{
	struct dw_account_sum sum;

	begin();
	add(DW_SAMPLE_IN_STEP, DW_SHARE_DATA, DW_ACTIVITY_UNKNOWN, 600, 600,
	    STACK({ "mel_filters", 500, 500 }, { "Clips.__getitem__", 600, 100 }, { "main", 600, 0 }));
	add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_UNKNOWN, 400, 400, STACK({ "Net.forward", 400, 400 }, { "main", 400, 0 }));
	sum = sum_of((struct dw_account_select){ .explained = 1u << DW_SHARE_DATA });
	check_place(&sum, "mel_filters", true);
}

TEST(a_second_function_is_named_if_it_has_half_as_much_of_its_own)
{
	static const struct {
		struct on_stack first, second;
		const char *named;
	} cases[] = {
		{ { "norm", 600, 600 }, { "overlap", 400, 400 }, "overlap" },
		{ { "norm", 600, 600 }, { "overlap", 1000, 400 }, "overlap" }, /* its callees' time is not counted twice */
		{ { "norm", 800, 800 }, { "overlap", 200, 200 }, NULL },       /* little beside the first */
		{ { "pack", 600, 100 }, { "filter", 400, 400 }, NULL },        /* may be what the first one calls */
		{ { "pack", 900, 500 }, { "filter", 500, 500 }, NULL },        /* is what it calls */
	};
	struct dw_account_sum sum;
	char text[300];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_OWN, 1000, 400,
		    STACK(cases[i].first, cases[i].second, { "main", 1000, 0 }));
		sum = sum_of(dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL));
		CHECK(!sum.second == !cases[i].named);
		CHECK_STR(dw_account_second_place(&sum, text), cases[i].named ? "overlap (train.py:2)" : "");
		if (sum.second)
			CHECK_NEAR(sum.second_ns, 400 * MS, 1);
	}
}

TEST(a_part_of_the_run_that_no_function_is_lies_where_it_is_called)
{
	struct dw_account_sum sum;

	begin();
	add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_UNKNOWN, 600, 60,
	    STACK({ "Net.forward", 600, 600 }, { "main", 600, 0 }));
	add(DW_SAMPLE_BETWEEN, DW_SHARE_COLLECTOR, DW_ACTIVITY_COLLECTOR, 400, 40, STACK({ "main", 400, 400 }));
	sum = sum_of((struct dw_account_select){ .explained = 1u << DW_SHARE_COLLECTOR });
	check_place(&sum, "main", true);
	CHECK_EQ(sum.line, 11);
}

TEST(cells_are_selected_by_where_they_lie)
{
	struct dw_account_select select = dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACCOUNT_ALL);
	struct dw_account_sum sum;

	begin();
	add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_INTERPRETER, 700, 70,
	    STACK({ "train", 700, 700 }, { "main", 700, 0 }));
	add(DW_SAMPLE_BETWEEN, DW_SHARE_OTHER, DW_ACTIVITY_INTERPRETER, 300, 30,
	    STACK({ "Tracker.add", 200, 200 }, { "log", 300, 100 }, { "main", 300, 0 }));
	CHECK_NEAR(sum_of(select).ns, 1000 * MS, 1);
	select.where = 1u << DW_SAMPLE_BETWEEN;
	sum = sum_of(select);
	CHECK_NEAR(sum.ns, 300 * MS, 1);
	check_place(&sum, "log", true);
}

/* Half of two samples may be chance. */
TEST(a_function_dominates_if_samples_suffice)
{
	static const struct {
		uint64_t samples;
		double part;
		bool dominates;
	} cases[] = { { 2, 0.5, false }, { 40, 0.5, true }, { 2, 1, true }, { 40, 0.4, false } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_account_sum sum;

		begin();
		add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_TEXT, 100, cases[i].samples,
		    STACK({ "parse", 100 * cases[i].part, 100 * cases[i].part }, { "read", 40, 0 }));
		sum = sum_of(dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACTIVITY_SET(TEXT)));
		REQUIRE(sum.function);
		CHECK_EQ(sum.dominates, cases[i].dominates);
	}
}

/* Files of one package are one library. Samples come in any order. */
TEST(a_library_is_named_if_most_of_the_time_is_in_calls_of_it)
{
	static const char umath[] = "/py/site-packages/numpy/core/_multiarray_umath.so",
					  methods[] = "/py/site-packages/numpy/core/_methods.py",
					  torch[] = "/py/site-packages/torch/lib/libtorch_cpu.so";
	static const struct {
		const char *from[3];
		double ms[3];
		const char *library;
	} cases[] = {
		{ { umath, torch, methods }, { 40, 20, 40 }, "numpy" }, { { torch, umath, methods }, { 20, 40, 40 }, "numpy" },
		{ { umath, torch, NULL }, { 40, 40, 20 }, NULL },       { { NULL, torch, umath }, { 60, 30, 10 }, NULL },
		{ { torch, NULL, torch }, { 50, 10, 40 }, "torch" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_account_sum sum;
		char name[64];

		begin();
		add(DW_SAMPLE_IN_STEP, DW_SHARE_OTHER, DW_ACTIVITY_PACKAGE, 100, 100, STACK({ "train", 100, 100 }));
		for (size_t k = 0; k < 3; k++)
			dw_account_lead(&made.cells[0].library, &made.cells[0].library_ns, cases[i].from[k], cases[i].ms[k] * MS);
		sum = sum_of(dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACTIVITY_SET(PACKAGE)));
		CHECK_EQ(sum.library != NULL, cases[i].library != NULL);
		if (sum.library && cases[i].library)
			CHECK_STR(dw_library_name(sum.library, name), cases[i].library);
	}
}

CHECK_MAIN
