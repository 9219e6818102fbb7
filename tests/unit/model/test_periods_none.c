/* Periods: runs that repeat nothing, bad input, and very long runs. */
#include <time.h>

#include "periods_run.h"

/* ---- nothing repeats ----------------------------------------------------------------------------- */

static void check_none(void)
{
	const struct dw_period *period = run_end();

	if (!period || period->count)
		CHECK_FAIL("%zu iterations of \"%s\"", period ? period->count : 0, period ? period->name : "");
	made_close(&made);
}

TEST(a_run_without_records_has_none)
{
	run_begin();
	check_none();
}

TEST(different_names_are_none)
{
	run_begin();
	chain("op", 0, 200, 100);
	check_none();
}

TEST(one_operator_is_none)
{
	run_begin();
	for (int i = 0; i < 300; i++)
		call(operator("mul"), 100);
	check_none();
}

TEST(four_repetitions_are_none)
{
	run_begin();
	for (int i = 0; i < 4; i++)
		call(zone("step"), 100);
	check_none();
}

/* The two convolutions of each occur six times. */
TEST(three_repetitions_are_none_though_some_operators_recur)
{
	run_begin();
	for (int i = 0; i < 3; i++) {
		call(operator("conv"), 100);
		call(operator("norm"), 30);
		call(operator("conv"), 100);
		chain("rest", 0, 6, 50);
	}
	check_none();
}

TEST(what_has_less_than_half_of_the_time_is_none)
{
	run_begin();
	call(zone("solve"), 50000);
	for (int i = 0; i < 50; i++)
		call(zone("print"), 100);
	call(zone("write"), 20000);
	check_none();
}

/* Parameters are copied to a device; the first copy starts it. */
TEST(one_long_call_among_short_ones_is_none)
{
	run_begin();
	for (int i = 0; i < 20; i++) {
		call(operator("to"), i == 1 ? 1000000 : 10);
		call(operator("copy"), 10);
	}
	chain("op", 0, 100, 100);
	check_none();
}

TEST(one_range_around_the_run_is_none)
{
	run_begin();
	enter(zone("main"));
	chain("op", 0, 50, 100);
	leave();
	check_none();
}

/* ---- bad input ----------------------------------------------------------------------------------- */

/* Each range ends after the next one has begun. */
TEST(ranges_that_overlap)
{
	uint32_t one = 1;

	run_begin();
	enter(zone("step"));
	for (int i = 0; i < 30; i++) {
		at += 100;
		enter(zone("step"));
		at += 10;
		dw_encode_record(&made.stream, at, DW_END_OF, 0, &one, 1);
	}
	at += 100;
	leave();
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK(period->count == 0 || period->count >= 15);
	made_close(&made);
}

TEST(a_clock_that_jumps_backward)
{
	run_begin();
	for (int i = 0; i < 40; i++) {
		chain("op", 0, 5, 100);
		if (i % 10 == 5)
			at -= 700;
	}
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK_EQ(period->count, 40);
	made_close(&made);
}

/* Recycled in an iteration, and ranges open at the end. */
TEST(a_trace_that_is_cut_in_the_middle)
{
	run_begin();
	for (int i = 0; i < 40; i++) {
		chain("op", i == 0 ? 3 : 0, 5, 100);
		if (i == 20) {
			call(operator("op0"), 100);
			dw_encode_gap(&made.stream, 3);
			made.stream.last_ticks = at += 5000;
		}
	}
	enter(operator("op0"));
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK_RANGE(period->count, 38, 42);
	made_close(&made);
}

/* ---- many ---------------------------------------------------------------------------------------- */

TEST(a_million_iterations)
{
	const int count = check_is_slow() ? 100000 : 1000000;
	uint32_t ops[3];
	clock_t began;

	run_begin();
	ops[0] = operator("load");
	ops[1] = operator("compute");
	ops[2] = operator("store");
	for (int i = 0; i < count; i++)
		for (int k = 0; k < 3; k++)
			call(ops[k], 100);
	began = clock();
	const struct dw_period *period = run_end();

	REQUIRE(period && period->count == (size_t)count);
	CHECK((double)(clock() - began) / CLOCKS_PER_SEC < 20);
	made_close(&made);
}

/* More events than are looked at: the iterations are those of the first part. */
TEST(more_events_than_are_looked_at)
{
	uint32_t ops[5];
	char name[8];

	if (check_is_slow())
		return;
	run_begin();
	for (unsigned k = 0; k < 5; k++) {
		snprintf(name, sizeof name, "op%u", k);
		ops[k] = operator(name);
	}
	for (int i = 0; i < 1000000; i++)
		for (int k = 0; k < 5; k++)
			call(ops[k], 100);
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK_EQ(period->count, (1u << 22) / 5 + 1);
	made_close(&made);
}

TEST(ten_thousand_names)
{
	run_begin();
	for (int i = 0; i < 20; i++)
		chain("op", 0, 10000, 10);
	const struct dw_period *period = run_end();

	REQUIRE(period);
	CHECK_EQ(period->count, 20);
	CHECK_STR(period->name, "op0");
	made_close(&made);
}

CHECK_MAIN
