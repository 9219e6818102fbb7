/* The class of the iteration in the account: cells of slow ones, and what they take beyond others. */
#include "made_steps.h"

/* 40 iterations: each runs 8 ms in step() and 2 ms behind it. Two write 60 ms after their steps. The first one is
 * longer. */
static void make_slow(void)
{
	begin_run(0, 0);
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		runs(i == 0 ? 48 : 8, NULL, "step");
		end_step();
		if (i == 12 || i == 31) {
			runs(30, "write", "save_all");
			waits(30, "fsync", "save_all");
		}
		runs(i + 1 < 40 ? 2 : 0, NULL, "log");
	}
}

static double ms_of_class(const struct dw_account *of, enum dw_iteration_class class)
{
	double ns = 0;

	for (size_t i = 0; i < of->count; i++)
		ns += of->cells[i].class == class ? of->cells[i].ns : 0;
	return ns / (double)MS;
}

TEST(cells_have_the_class_of_their_iteration)
{
	const struct dw_account *of;

	make_slow();
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_EQ(of->classes[DW_ITERATION_STEADY].count, 37);
	CHECK_EQ(of->classes[DW_ITERATION_WARM_UP].count, 1);
	CHECK_EQ(of->classes[DW_ITERATION_SLOW].count, 2);
	CHECK_NEAR(ms_of_class(of, DW_ITERATION_WARM_UP), 50, 1e-3);
	CHECK_NEAR(ms_of_class(of, DW_ITERATION_SLOW), 2 * 70, 1e-3);
	CHECK_NEAR(ms_of_class(of, DW_ITERATION_STEADY), 37 * 10 - 2, 1e-3);
	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
		CHECK_NEAR(of->classes[class].ns / (double)MS, ms_of_class(of, (enum dw_iteration_class) class), 1e-3);
	made_close(&made);
}

/* Waits lie in the slow iterations alone, and with them the function that waits. */
TEST(a_class_has_the_states_of_its_iterations)
{
	struct dw_account_select slow = dw_account_select_states(1u << DW_ACCOUNT_WAITS, DW_ACCOUNT_ALL);
	const struct dw_account *of;
	struct dw_account_sum sum;

	make_slow();
	of = account();
	REQUIRE(of);
	slow.classes = 1u << DW_ITERATION_SLOW;
	sum = dw_account_sum(of, &slow);
	CHECK_NEAR(sum.ns / (double)MS, 60, 1);
	REQUIRE(sum.function);
	CHECK_STR(sum.function->name, "save_all");
	slow.classes = 1u << DW_ITERATION_STEADY;
	CHECK_NEAR(dw_account_sum(of, &slow).ns / (double)MS, 0, 1);
	made_close(&made);
}

/* Short iterations: a sample takes as long as half of one, so that all samples lie in slow iterations. These are not what the program
 * does, and the samples stand for all iterations. */
TEST(samples_that_make_iterations_slow_are_of_all)
{
	struct dw_account_select own = dw_account_select_states(1u << DW_ACCOUNT_RUNS, 1ull << DW_ACTIVITY_OWN);
	const struct dw_account *of;
	struct dw_account_sum sum;
	uint32_t frames[2], stacks[2];

	begin_run(0, 0);
	stacks[0] = stack_of(NULL, "price", &frames[0]);
	stacks[1] = stack_of("malloc", "price", &frames[1]);
	for (unsigned i = 0; i < 200; i++) {
		uint64_t ms = i % 10 == 5 ? 16 : 10;

		begin_step();
		if (ms == 16)
			dw_encode_sample(&made.stream, now_ms * MS + MS, frames[i / 10 % 2], stacks[i / 10 % 2], 106);
		now_ms += ms;
		kernel.run_ms += ms;
		end_step();
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_EQ(of->classes[DW_ITERATION_SLOW].count, 0);
	CHECK_EQ(of->classes[DW_ITERATION_STEADY].count, 200);
	sum = dw_account_sum(of, &own);
	CHECK_NEAR(sum.ns / (double)MS, 1060, 1);
	CHECK_NEAR(sum.low_ns / sum.ns, 0.6, 0.1); /* 10 of 20 independent samples */
	made_close(&made);
}

TEST(what_slow_iterations_take_beyond_others_has_a_place)
{
	struct dw_account_select slow = dw_account_select_states((1u << DW_ACCOUNT_STATE_COUNT) - 1, DW_ACCOUNT_ALL);
	const struct dw_account *of;
	struct dw_account_sum sum;

	make_slow();
	of = account();
	REQUIRE(of);
	slow.classes = 1u << DW_ITERATION_SLOW;
	CHECK_NEAR(dw_account_sum(of, &slow).ns / (double)MS, 140, 1e-3);
	slow.beyond = true;
	sum = dw_account_sum(of, &slow);
	CHECK_NEAR(sum.ns / (double)MS, 140 - 2 * 368 / 37.0, 1e-3);
	CHECK(sum.low_ns > 110 * MS);
	REQUIRE(sum.function);
	CHECK_STR(sum.function->name, "save_all");
	CHECK(sum.dominates);
	slow.classes = 1u << DW_ITERATION_WARM_UP;
	sum = dw_account_sum(of, &slow);
	CHECK_NEAR(sum.ns / (double)MS, 50 - 368 / 37.0, 1e-3);
	REQUIRE(sum.function);
	CHECK_STR(sum.function->name, "step");
	made_close(&made);
}

/* A run without iterations is one, and steady. */
TEST(a_run_without_iterations_has_one_class)
{
	const struct dw_account *of;

	begin_run(0, 0);
	runs(50, NULL, "work");
	of = account();
	REQUIRE(of);
	CHECK_EQ(dw_account_iterations(of, 1u << DW_ITERATION_STEADY), 1);
	CHECK_EQ(dw_account_iterations(of, ~0u), 1);
	CHECK_NEAR(ms_of_class(of, DW_ITERATION_STEADY), of->wall_ns / (double)MS, 1e-3);
	made_close(&made);
}

CHECK_MAIN
