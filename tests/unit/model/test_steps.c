/* Steps, their breakdown and what lies beside them, against known times. */
#include "made.h"

static struct made made;
static const uint64_t ms = 1000000;

static void range(uint64_t from_ms, uint64_t to_ms, uint32_t op)
{
	dw_encode_begin(&made.stream, from_ms * ms, op);
	dw_encode_end(&made.stream, to_ms * ms);
}

static void step(uint64_t number, uint64_t from_ms, uint64_t to_ms)
{
	dw_encode_step(&made.process, made.thread, number, from_ms * ms, to_ms * ms, ms,
	               DW_STEP_RECORDED);
}

static void check_sums(const struct dw_steps *steps)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < steps->count; i++) {
		uint64_t shares = 0;

		for (int share = 0; share < DW_SHARE_COUNT; share++)
			shares += steps->steps[i].share_ns[share];
		CHECK_EQ(shares, steps->steps[i].end_ns - steps->steps[i].start_ns);
		sum += shares;
	}
	CHECK_EQ(steps->steps_ns, sum);
	for (size_t i = 0; i < steps->beside_count; i++)
		sum += steps->besides[i].ns;
	CHECK_EQ(steps->wall_ns, sum);
}

static const struct dw_beside *beside(const struct dw_steps *steps, const char *name)
{
	static const struct dw_beside none;

	for (size_t i = 0; i < steps->beside_count; i++)
		if (strcmp(steps->besides[i].name, name) == 0)
			return &steps->besides[i];
	return &none;
}

/* A step of 10 ms: 2 data, 4 forward (3 in operators), 3 backward, 1 nothing. */
static void make_run(uint32_t flags)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = flags;
	uint32_t data = made_op(&made, DWELL_CATEGORY_DATA, "next batch");
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t backward = made_op(&made, DWELL_CATEGORY_ZONE, "backward");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	uint32_t valid = made_op(&made, DWELL_CATEGORY_EVALUATION, "validation");

	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = 100 + i * 10 + (i >= 5) * 50;

		if (i == 5) { /* 50 ms beside the steps, 40 of them named */
			dw_encode_begin(&made.stream, 150 * ms, valid);
			range(155, 160, data);
			dw_encode_end(&made.stream, 190 * ms);
		}
		range(at, at + 2, data);
		dw_encode_begin(&made.stream, (at + 2) * ms, forward);
		range(at + 2, at + 5, op);
		dw_encode_end(&made.stream, (at + 6) * ms);
		dw_encode_begin(&made.stream, (at + 6) * ms, backward);
		range(at + 6, at + 9, op);
		dw_encode_end(&made.stream, (at + 9) * ms);
		step(i, at, at + 10);
	}
	dw_encode_record(&made.stream, 300 * ms, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "end"),
	                 NULL, 0);
}

TEST(shares_follow_precedence_and_sum_to_the_step)
{
	make_run(DW_PROCESS_PYTHON);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 10);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_DATA], 2 * ms);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_FORWARD], 3 * ms);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_PYTHON], 1 * ms);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_BACKWARD], 3 * ms);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_OTHER], 1 * ms);
	CHECK_EQ(steps->share_ns[DW_SHARE_DATA], 20 * ms);
	CHECK_EQ(steps->p50_ns, 10 * ms);
	check_sums(steps);
	made_close(&made);
}

TEST(outside_python_a_phase_keeps_its_time)
{
	make_run(0);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 10);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_FORWARD], 4 * ms);
	CHECK_EQ(steps->steps[3].share_ns[DW_SHARE_PYTHON], 0);
	made_close(&made);
}

TEST(what_lies_beside_steps_is_named)
{
	make_run(0);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps);
	CHECK_EQ(beside(steps, "start-up")->ns, 100 * ms);
	CHECK_EQ(beside(steps, "evaluation")->ns, 40 * ms);
	CHECK_EQ(beside(steps, "evaluation")->count, 1);
	CHECK_EQ(beside(steps, "other")->ns, 10 * ms);
	CHECK_EQ(beside(steps, "after the last step")->ns, 50 * ms);
	CHECK_EQ(steps->wall_ns, 300 * ms);
	check_sums(steps);
	made_close(&made);
}

TEST(a_slow_step_names_its_culprit)
{
	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	uint32_t gc = made_op(&made, DWELL_CATEGORY_COLLECTOR, "gc");
	uint64_t at = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t length = i == 412 ? 388 : 100;

		dw_encode_begin(&made.stream, at * ms, op);
		if (i == 412)
			range(at + 50, at + 338, gc);
		dw_encode_end(&made.stream, (at + length) * ms);
		step(i, at, at + length);
		at += length;
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 1000);
	size_t count;
	const struct dw_symbol *symbols = dw_model_symbols(made.model, &count);
	REQUIRE(steps->steps[412].slow_symbol != DW_NO_INDEX);
	CHECK_STR(symbols[steps->steps[412].slow_symbol].name, "gc");
	CHECK_EQ(steps->steps[412].slow_extra_ns, 288 * ms);
	CHECK_EQ(steps->steps[412].share_ns[DW_SHARE_COLLECTOR], 288 * ms);
	CHECK_EQ(steps->steps[411].slow_symbol, DW_NO_INDEX);
	check_sums(steps);
	made_close(&made);
}

TEST(ranges_are_cut_at_step_borders)
{
	made_init(&made);
	uint32_t data = made_op(&made, DWELL_CATEGORY_DATA, "data");

	range(5, 25, data); /* over the end of step 0, all of 1 and the beginning of 2 */
	for (uint64_t i = 0; i < 3; i++)
		step(i, i * 10, i * 10 + 10);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 3);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(steps->steps[i].share_ns[DW_SHARE_DATA], (i == 1 ? 10 : 5) * ms);
	check_sums(steps);
	made_close(&made);
}

TEST(an_open_step_lasts_to_the_end_and_is_no_percentile)
{
	made_init(&made);
	uint32_t data = made_op(&made, DWELL_CATEGORY_DATA, "data");

	step(0, 10, 20);
	dw_encode_step(&made.process, made.thread, 1, 20 * ms, 0, 0, DW_STEP_RECORDED);
	range(30, 90, data);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps && steps->count == 2);
	CHECK(steps->steps[1].open);
	CHECK_EQ(steps->steps[1].end_ns, 90 * ms);
	CHECK_EQ(steps->p99_ns, 10 * ms);
	CHECK_EQ(steps->steps[1].share_ns[DW_SHARE_DATA], 60 * ms);
	check_sums(steps);
	made_close(&made);
}

TEST(no_steps_is_no_error)
{
	made_init(&made);
	dw_encode_end(&made.stream, 5);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_steps *steps = dw_model_steps(made.model, NULL);
	REQUIRE(steps);
	CHECK_EQ(steps->count, 0);
	CHECK_EQ(steps->wall_ns, 0);
	CHECK_NEAR(dw_model_coverage(made.model), 1.0, 0);
	made_close(&made);
}

CHECK_MAIN
