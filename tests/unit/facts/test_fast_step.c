/* The fast step: the sum of the fast pieces of a step. */
#include <string.h>

#include "check.h"
#include "facts/facts.h"
#include "made.h"

static struct made made;
static const uint64_t ms = 1000000;
static uint64_t now; /* ms */

static void range(uint32_t op, uint64_t length_ms)
{
	dw_encode_begin(&made.stream, now * ms, op);
	now += length_ms;
	dw_encode_end(&made.stream, now * ms);
}

static void begin_trace(void)
{
	made_init(&made);
	now = 100;
}

/* Ends a step that began at `from`; the next one begins 5 ms later. */
static void end_step(uint64_t number, uint64_t from)
{
	dw_encode_step(&made.process, made.thread, number, from * ms, now * ms, 0, DW_STEP_RECORDED);
	now += 5;
}

static void check_fast_step(double expected_ms)
{
	const struct dw_fast_step *fast = made_open(&made, NULL) ? NULL : dw_facts_fast_step(made.model, &made.error);

	REQUIRE(fast != NULL);
	CHECK_NEAR(fast->ns / (double)ms, expected_ms, 1e-3);
	made_close(&made);
}

/* Something disturbs each step, now its first operator and now its second: all steps take 10 ms. */
TEST(no_step_is_undisturbed)
{
	begin_trace();
	uint32_t first = made_op(&made, DWELL_CATEGORY_OPERATOR, "first");
	uint32_t second = made_op(&made, DWELL_CATEGORY_OPERATOR, "second");

	for (uint64_t i = 0; i < 200; i++) {
		uint64_t from = now;

		range(first, i % 2 ? 3 : 6);
		now += 1;
		range(second, i % 2 ? 6 : 3);
		end_step(i, from);
	}
	check_fast_step(3 + 1 + 3);
}

/* The fast one of a thousand occurrences is the tenth, so that a few wrong times do not matter. */
TEST(the_shortest_time_is_not_the_fast_one)
{
	begin_trace();
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");

	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t from = now;

		range(op, i % 111 == 0 ? 9 : 10); /* ten of them */
		end_step(i, from);
	}
	check_fast_step(9);
	begin_trace();
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t from = now;

		range(op, i % 112 == 0 ? 9 : 10); /* nine */
		end_step(i, from);
	}
	check_fast_step(10);
}

/* Calls of one name differ by their number in the step, also if they are nested. */
TEST(a_name_has_a_piece_for_each_call)
{
	begin_trace();
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");

	for (uint64_t i = 0; i < 50; i++) {
		uint64_t from = now;

		range(op, 5);
		dw_encode_begin(&made.stream, now * ms, op);
		now += 2;
		range(op, 1);
		now += 2;
		dw_encode_end(&made.stream, now * ms);
		end_step(i, from);
	}
	check_fast_step(10);
}

/* A piece that half of the steps have counts half. */
TEST(a_piece_counts_as_often_as_it_occurs)
{
	begin_trace();
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	uint32_t rare = made_op(&made, DWELL_CATEGORY_OPERATOR, "every second time");

	for (uint64_t i = 0; i < 100; i++) {
		uint64_t from = now;

		range(op, 4);
		if (i % 2)
			range(rare, 6);
		end_step(i, from);
	}
	check_fast_step(4 + 3);
}

/* The collector and dwell's own ranges interrupt any piece: it goes on after them, and their time does
 * not count. */
TEST(interruptions_do_not_count)
{
	begin_trace();
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	uint32_t collector = made_op(&made, DWELL_CATEGORY_COLLECTOR, "gc generation 0");
	uint32_t chunk = made_op(&made, DWELL_CATEGORY_PROFILER, "dwell: new chunk");

	for (uint64_t i = 0; i < 100; i++) {
		uint64_t from = now;

		dw_encode_begin(&made.stream, now * ms, op);
		now += 2;
		range(i % 2 ? collector : chunk, 3);
		now += 2;
		dw_encode_end(&made.stream, now * ms);
		end_step(i, from);
	}
	check_fast_step(4);
}

/* A step without ranges is one piece. */
TEST(steps_without_ranges)
{
	begin_trace();
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t from = now;

		now += i < 3 ? 20 : i % 100 < 2 ? 19 : 21 + i % 7;
		end_step(i, from);
	}
	check_fast_step(19);
}

/* More pieces than the limit: those beyond it are a part of the last one. */
TEST(many_pieces)
{
	begin_trace();
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");

	for (uint64_t i = 0; i < 3; i++) {
		uint64_t from = now;

		for (unsigned k = 0; k < 70000; k++)
			range(op, 1);
		end_step(i, from);
	}
	check_fast_step(70000);
}

/* A piece belongs to the innermost range; the rest of a step to none. */
TEST(names_have_their_own_time)
{
	const struct dw_fast_step *fast;
	const struct dw_symbol *symbols;
	size_t count;

	begin_trace();
	uint32_t outer = made_op(&made, DWELL_CATEGORY_OPERATOR, "outer");
	uint32_t inner = made_op(&made, DWELL_CATEGORY_OPERATOR, "inner");
	uint32_t collector = made_op(&made, DWELL_CATEGORY_COLLECTOR, "gc generation 0");

	for (uint64_t i = 0; i < 100; i++) {
		uint64_t from = now;

		now += 3;
		dw_encode_begin(&made.stream, now * ms, outer);
		now += i % 3 ? 1 : 4;
		range(inner, 2);
		if (i % 2)
			range(collector, 9);
		now += 5;
		dw_encode_end(&made.stream, now * ms);
		range(inner, i % 5 ? 8 : 7);
		now += 1;
		end_step(i, from);
	}
	fast = made_open(&made, NULL) ? NULL : dw_facts_fast_step(made.model, &made.error);
	REQUIRE(fast != NULL);
	symbols = dw_model_symbols(made.model, &count);
	for (size_t i = 0; i < count; i++) {
		bool is_outer = strcmp(symbols[i].name, "outer") == 0, is_inner = strcmp(symbols[i].name, "inner") == 0;

		CHECK_NEAR(fast->of_symbols[i] / (double)ms, is_outer ? 1 + 5 : is_inner ? 2 + 7 : 0, 1e-3);
	}
	CHECK_NEAR(fast->of_symbols[count] / (double)ms, 3 + 1, 1e-3);
	CHECK_NEAR(fast->ns / (double)ms, 6 + 9 + 4, 1e-3);
	made_close(&made);
}

/* The whole run is one. */
TEST(no_steps)
{
	begin_trace();
	range(made_op(&made, DWELL_CATEGORY_OPERATOR, "op"), 5);
	check_fast_step((double)now);
}

CHECK_MAIN
