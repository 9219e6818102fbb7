/* Facts of change over the run, of hand-made traces. */
#include "made_trace.h"

#include "format/keys.h"

/* Steps of the lengths, each with an operator for all but 1 ms. */
static const struct dw_facts *facts_of_lengths(const uint64_t *lengths, size_t count)
{
	uint64_t at = 10;

	begin_trace(DW_PROCESS_PYTHON);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	for (size_t i = 0; i < count; i++) {
		range(at, at + lengths[i] - 1, op);
		step(i, at, at + lengths[i], lengths[i]);
		at += lengths[i];
	}
	return facts_of();
}

TEST(a_trend_and_a_change_point_are_told_apart)
{
	uint64_t lengths[200];

	for (size_t i = 0; i < 200; i++)
		lengths[i] = 100 + i / 4 + i % 3;
	const struct dw_facts *facts = facts_of_lengths(lengths, 200);
	REQUIRE(facts != NULL);
	CHECK(VALUE(facts, DRIFT_SLOPE) > 0.35 && VALUE(facts, DRIFT_SLOPE) < 0.45);
	CHECK_STR(facts->at[DW_FACT_DRIFT_SLOPE].note, "operators");
	CLOSE(VALUE(facts, DRIFT_CHANGE), 0);
	made_close(&made);

	for (size_t i = 0; i < 200; i++)
		lengths[i] = (i < 120 ? 100 : 125) + i % 3;
	facts = facts_of_lengths(lengths, 200);
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, DRIFT_SLOPE), 0);
	CHECK(VALUE(facts, DRIFT_CHANGE) > 0.23 && VALUE(facts, DRIFT_CHANGE) < 0.27);
	CHECK(VALUE(facts, DRIFT_CHANGE_STEP) >= 115 && VALUE(facts, DRIFT_CHANGE_STEP) <= 125);
	made_close(&made);

	for (size_t i = 0; i < 200; i++) /* the machine is slower from step 120 on */
		lengths[i] = (1000 + 3 * i + i % 3) * (i < 120 ? 100 : 125) / 1000;
	facts = facts_of_lengths(lengths, 200);
	REQUIRE(facts != NULL);
	CHECK(VALUE(facts, DRIFT_SLOPE) > 0.4);
	CLOSE(VALUE(facts, DRIFT_CHANGE), 0);
	made_close(&made);

	for (size_t i = 0; i < 200; i++)
		lengths[i] = 100 + i % 7;
	facts = facts_of_lengths(lengths, 200);
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, DRIFT_SLOPE), 0);
	CLOSE(VALUE(facts, DRIFT_CHANGE), 0);
	made_close(&made);
}

/* 200 steps of 100 ms with a gap after each of them, from `first` to `last` ms. Operators are recorded in each `every`th. */
static const struct dw_facts *facts_of_gaps(double first, double last, size_t every)
{
	uint64_t at = 10;

	begin_trace(DW_PROCESS_PYTHON);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	for (size_t i = 0; i < 200; i++) {
		if (i % every == 0)
			range(at, at + 99, op);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 100) * ms, 100 * ms,
		               i % every ? DW_STEP_REDUCED : DW_STEP_RECORDED);
		at += 100 + (uint64_t)(first + (last - first) * (double)i / 199);
	}
	return facts_of();
}

/* 200 steps of 100 ms with a gap after each of them, of 1 ms or, from step 80 on, of 60. */
TEST(a_time_between_steps_that_begins_is_a_change_point)
{
	const struct dw_facts *facts;
	uint64_t at = 10;

	begin_trace(DW_PROCESS_PYTHON);
	for (size_t i = 0; i < 200; i++) {
		step(i, at, at + 100, 100);
		at += i < 79 ? 101 : 160;
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_RANGE(VALUE(facts, DRIFT_GAPS_CHANGE), 0.25, 0.27); /* 120 * 59 of 27,260 ms */
	CHECK_RANGE(VALUE(facts, DRIFT_GAPS_STEP), 78, 82);
	CHECK(!facts->at[DW_FACT_DRIFT_GAPS].measured);
	made_close(&made);
}

TEST(a_growing_time_between_steps_is_a_trend)
{
	const struct dw_facts *facts;

	for (size_t every = 1; every <= 5; every += 4) {
		facts = facts_of_gaps(2, 120, every);
		REQUIRE(facts != NULL);
		CHECK(VALUE(facts, DRIFT_GAPS) > 0.33 && VALUE(facts, DRIFT_GAPS) < 0.39); /* 58 of 161 ms */
		made_close(&made);
	}

	facts = facts_of_gaps(60, 60, 1);
	REQUIRE(facts != NULL);
	CHECK(!facts->at[DW_FACT_DRIFT_GAPS].measured);
	made_close(&made);

	facts = facts_of_gaps(60, 90, 1); /* a clock may do that */
	REQUIRE(facts != NULL);
	CHECK(!facts->at[DW_FACT_DRIFT_GAPS].measured);
	made_close(&made);
}

/* A phase that is one operator. */
static void phase(uint64_t from_ms, uint64_t to_ms, uint32_t id, uint32_t op)
{
	dw_encode_begin(&made.stream, from_ms * ms, id);
	range(from_ms, to_ms, op);
	dw_encode_end(&made.stream, to_ms * ms);
}

/* 200 steps with forward, backward and Python between them, whose lengths change in the middle. */
static const struct dw_facts *facts_of_halves(const uint64_t before[3], const uint64_t after[3])
{
	uint64_t at = 10;

	begin_trace(DW_PROCESS_PYTHON);
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	for (size_t i = 0; i < 200; i++) {
		const uint64_t *parts = i < 100 ? before : after;
		uint64_t length = parts[0] + parts[1] + parts[2] + i % 3;

		phase(at, at + parts[0] + i % 3, forward, op);
		phase(at + length - parts[1], at + length, backward, op);
		step(i, at, at + length, length);
		at += length;
	}
	return facts_of();
}

TEST(later_steps_that_call_more_operators)
{
	const struct dw_facts *facts;
	uint64_t at = 10;

	begin_trace(DW_PROCESS_PYTHON);
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward"), op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t calls = i < 100 ? 2 : 3, length = 50 * calls + i % 3;

		for (uint64_t call = 0; call < calls; call++)
			phase(at + 50 * call, at + 50 * (call + 1), forward, op);
		step(i, at, at + length, length);
		at += length;
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(VALUE(facts, DRIFT_WORK) > 0.49 && VALUE(facts, DRIFT_WORK) < 0.51);
	made_close(&made);
	/* As many operators, which take longer. */
	facts = facts_of_halves((uint64_t[]){ 50, 100, 20 }, (uint64_t[]){ 50, 200, 20 });
	REQUIRE(facts != NULL);
	CHECK(!facts->at[DW_FACT_DRIFT_WORK].measured);
	made_close(&made);
}

TEST(the_pace_of_all_parts_is_told_from_that_of_one)
{
	/* All parts get slower by a fifth: the clock. */
	const struct dw_facts *facts = facts_of_halves((uint64_t[]){ 50, 100, 20 }, (uint64_t[]){ 60, 120, 24 });

	REQUIRE(facts != NULL);
	CHECK(VALUE(facts, DRIFT_CHANGE) > 0.18 && VALUE(facts, DRIFT_CHANGE) < 0.22);
	CHECK(VALUE(facts, DRIFT_OWN) < 0.2);
	made_close(&made);
	/* Python alone gets slower, while the clock gets faster by a tenth: the steps are as long. */
	facts = facts_of_halves((uint64_t[]){ 50, 100, 20 }, (uint64_t[]){ 45, 90, 35 });
	REQUIRE(facts != NULL);
	CHECK(VALUE(facts, DRIFT_CHANGE) > 0.06);
	CHECK_STR(facts->at[DW_FACT_DRIFT_CHANGE].note, "python");
	CHECK(VALUE(facts, DRIFT_OWN) > 0.8);
	made_close(&made);
	/* Nothing changes. */
	facts = facts_of_halves((uint64_t[]){ 50, 100, 20 }, (uint64_t[]){ 50, 100, 20 });
	REQUIRE(facts != NULL);
	CHECK(!facts->at[DW_FACT_DRIFT_OWN].measured);
	made_close(&made);
}

/* Steps of a program in C whose ranges have no names: the function in which it mainly is is named in place of a part. */
TEST(steps_without_parts_have_the_function_of_the_loop)
{
	uint64_t at = 10;
	uint32_t find, main_at;

	begin_trace(0);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	main_at = dw_encode_frame(&made.process, "main", "/srv/book.c", 9);
	main_at = dw_encode_stack(&made.process, &main_at, 1);
	find = dw_encode_frame(&made.process, "order_find", "/srv/book.c", 91);
	for (size_t i = 0; i < 200; i++) {
		uint64_t length = 20 + i / 10;

		for (uint64_t t = 0; t < length; t++)
			dw_encode_sample(&made.stream, (at + t) * ms + ms / 2, find, main_at, 1);
		step(i, at, at + length, length);
		at += length;
	}
	const struct dw_facts *facts = facts_of();

	REQUIRE(facts != NULL);
	CHECK(VALUE(facts, DRIFT_SLOPE) > 0.5);
	CHECK(facts->at[DW_FACT_DRIFT_SLOPE].note == NULL);
	CHECK_STR(facts->at[DW_FACT_DRIFT_SLOPE].name, "order_find (book.c:91)");
	made_close(&made);
}

CHECK_MAIN
