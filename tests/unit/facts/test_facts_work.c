/* Facts of arithmetic, of the lengths of steps and of the sizes of their inputs. */
#include "check.h"
#include "facts/facts.h"
#include "format/keys.h"
#include "made.h"

#define STEPS 40

static struct made made;
static const uint64_t ms = 1000000;

#define VALUE(facts, id) ((facts)->at[DW_FACT_##id].value)

static void begin_trace(void)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = DW_PROCESS_PYTHON;
}

static const struct dw_facts *facts_of(void)
{
	return made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
}

static void range(uint64_t from_ms, uint64_t to_ms, uint32_t op)
{
	dw_encode_begin(&made.stream, from_ms * ms, op);
	dw_encode_end(&made.stream, to_ms * ms);
}

static void step(uint64_t number, uint64_t from_ms, uint64_t length_ms)
{
	dw_encode_step(&made.process, made.thread, number, from_ms * ms, (from_ms + length_ms) * ms,
	               length_ms * ms, DW_STEP_RECORDED);
}

/* ---- products far below the peak ------------------------------------------------------------ */

/* An operator with two arguments of rows x columns. */
static uint32_t shaped(const char *name, const int64_t left[2], const int64_t right[2])
{
	const struct dwell_tensor tensors[2] = { { left, 2, DWELL_FLOAT32 }, { right, 2, DWELL_FLOAT32 } };

	return dw_encode_op(&made.process, DWELL_CATEGORY_OPERATOR, name, NULL,
	                    dw_encode_shapes(&made.process, tensors, 2), NULL, 0);
}

/* Steps of 20 ms: a product with 2 MFLOP in 5 ms (0.4 GFLOP/s), one of `rows` rows with a column in 10 ms, and an
 * elementwise operator, which is slow on every machine. The peak is 1 GFLOP/s. In each step the thread waits for a CPU
 * for delay_ms. */
static const struct dw_facts *facts_of_products(int64_t rows, uint64_t delay_ms)
{
	const int64_t thousand[2] = { 1000, 1000 }, one[2] = { 1, 1000 }, few[2] = { rows, 1000 };
	const int64_t column[2] = { 1000, 1 };
	struct dw_entry_usage *usage;
	uint32_t fast, slow, each;

	begin_trace();
	dw_encode_meta(&made.process, DW_KEY_PEAK_FLOPS, "1000000000", true);
	fast = shaped("aten::mm", one, thousand);
	slow = shaped("aten::matmul", few, column);
	each = shaped("aten::relu", one, one);
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at = 100 + i * 20;

		usage = dw_encode_usage(&made.process, made.thread, at * ms, (at + 20) * ms);
		usage->delay_ns = delay_ms * ms;
		usage->cpu_ns = usage->process_cpu_ns = (20 - delay_ms) * ms;
		range(at, at + 5, fast);
		range(at + 5, at + 15, slow);
		range(at + 15, at + 19, each);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 20) * ms, (20 - delay_ms) * ms, DW_STEP_RECORDED);
	}
	return facts_of();
}

TEST(a_fast_product_hides_no_slow_one)
{
	const struct dw_facts *facts = facts_of_products(500, 0); /* 1 M in 10 ms */

	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, FLOPS_SLOW), 0.5, 1e-6);
	CHECK_NEAR(VALUE(facts, FLOPS_SLOW_SHARE), 0.1, 1e-6);
	CHECK_STR(facts->at[DW_FACT_FLOPS_SLOW].name, "aten::matmul");
	made_close(&made);

	facts = facts_of_products(2000, 0); /* 4 M in 10 ms */
	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, FLOPS_SLOW), 0, 1e-6);
	CHECK(!facts->at[DW_FACT_FLOPS_SLOW_SHARE].measured);
	made_close(&made);
}

TEST(a_wait_for_a_cpu_makes_no_product_slow)
{
	const struct dw_facts *facts = facts_of_products(500, 10); /* 1 M in 10 ms, 5 of them on a CPU */

	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, FLOPS_SLOW_SHARE), 0.2, 1e-6);
	made_close(&made);
	facts = facts_of_products(1000, 10);
	REQUIRE(facts != NULL);
	CHECK(!facts->at[DW_FACT_FLOPS_SLOW_SHARE].measured);
	made_close(&made);
}

/* ---- first steps with a shape ----------------------------------------------------------------- */

/* Each tenth step is the first of a shape and takes 30 ms, the others take 10 and repeat it. */
static const struct dw_facts *facts_of_shapes(bool reduced)
{
	uint64_t at = 100;
	uint32_t op = 0;

	begin_trace();
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t length = i % 10 == 5 ? 30 : 10;
		const int64_t rows[2] = { (int64_t)(i + 5) / 10 + 1, 4 };
		bool drops = reduced && length == 30;

		op = shaped("aten::mm", rows, rows);
		if (!drops)
			range(at, at + length - 1, op);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + length) * ms, length * ms, drops ? DW_STEP_REDUCED : DW_STEP_RECORDED);
		at += length;
	}
	return facts_of();
}

TEST(first_steps_with_a_shape_are_known_if_all_steps_were_recorded)
{
	const struct dw_facts *facts = facts_of_shapes(false);

	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, OPERATORS_NEW_SHAPES), 5, 1e-6);
	CHECK_NEAR(VALUE(facts, OPERATORS_FIRST_SHAPES), 80.0 / 480, 0.01);
	made_close(&made);
	facts = facts_of_shapes(true);
	REQUIRE(facts != NULL);
	CHECK(!facts->at[DW_FACT_OPERATORS_FIRST_SHAPES].measured);
	CHECK(!facts->at[DW_FACT_OPERATORS_NEW_SHAPES].measured);
	made_close(&made);
}

/* ---- lengths of steps ------------------------------------------------------------------------ */

/* Every fourth step takes 30 ms, the others 10: a quarter of the steps have 20 ms more than the median. */
TEST(what_steps_take_beyond_the_median)
{
	const struct dw_facts *facts;
	uint64_t at = 100, all = 0;
	uint32_t op;

	begin_trace();
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t length = i % 4 == 2 ? 30 : 10;

		range(at, at + length - 1, op);
		step(i, at, length);
		at += length;
		all += length;
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, STEP_EXCESS), 20.0 * STEPS / 4 / (double)all, 0.01);
	made_close(&made);
}

/* ---- sizes of inputs ------------------------------------------------------------------------- */

/* Steps whose forward keeps a block of these bytes until the step ends. */
static const struct dw_facts *facts_of_sizes(const uint64_t *bytes)
{
	uint32_t forward, op, cpu, freed;

	begin_trace();
	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	cpu = dw_encode_op(&made.process, DWELL_CATEGORY_ALLOCATION, "activation", "cpu", 0, NULL, 0);
	freed = made_op(&made, DWELL_CATEGORY_ALLOCATION, "free");
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at = 100 + i * 20, block[2] = { 4096 + i * 16, bytes[i] };

		dw_encode_begin(&made.stream, at * ms, forward);
		dw_encode_begin(&made.stream, (at + 1) * ms, op);
		dw_encode_record(&made.stream, (at + 2) * ms, DW_ALLOC, cpu, block, 4);
		dw_encode_end(&made.stream, (at + 5) * ms);
		dw_encode_end(&made.stream, (at + 10) * ms);
		dw_encode_record(&made.stream, (at + 15) * ms, DW_FREE, freed, block, 2);
		step(i, at, 20);
	}
	return facts_of();
}

TEST(inputs_that_grow_from_step_to_step)
{
	const struct dw_facts *facts;
	uint64_t bytes[STEPS];

	for (uint64_t i = 0; i < STEPS; i++)
		bytes[i] = (100 + 2 * i) * 10000;
	facts = facts_of_sizes(bytes);
	REQUIRE(facts != NULL);
	CHECK(facts->at[DW_FACT_INPUT_TREND].measured);
	CHECK_NEAR(VALUE(facts, INPUT_TREND), 2.0 * (STEPS - 1) / (100 + STEPS - 1), 0.01);
	made_close(&made);

	for (uint64_t i = 0; i < STEPS; i++) /* larger from the middle on: a change, no trend */
		bytes[i] = (i < STEPS / 2 ? 100 : 180) * 10000;
	facts = facts_of_sizes(bytes);
	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, INPUT_TREND), 0, 1e-9);
	made_close(&made);

	for (uint64_t i = 0; i < STEPS; i++) /* different from step to step */
		bytes[i] = (100 + i * 37 % 80) * 10000;
	facts = facts_of_sizes(bytes);
	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, INPUT_TREND), 0, 1e-9);
	made_close(&made);
}

/* Texts that are made word by word: each grows for 20 steps, and there is no trend over the run. */
TEST(inputs_that_grow_until_the_next_one_begins)
{
	static const struct {
		unsigned by, of;
		bool grows;
	} cases[] = { { 1, 20, true }, { 1, 5, true }, { 37, 80, false }, { 19, 20, false } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_facts *facts;
		uint64_t bytes[STEPS];

		for (uint64_t at = 0; at < STEPS; at++)
			bytes[at] = (100 + at * cases[i].by % cases[i].of) * 10000;
		facts = facts_of_sizes(bytes);
		REQUIRE(facts != NULL);
		CHECK_NEAR(VALUE(facts, INPUT_TREND), 0, 1e-9);
		CHECK_EQ(VALUE(facts, INPUT_GROWS) > 0.5, cases[i].grows);
		CHECK_EQ(VALUE(facts, INPUT_GROWS) > 0, cases[i].grows);
		made_close(&made);
	}
}

/* ---- growth of memory ------------------------------------------------------------------------ */

/* Inputs become larger in the course of the run, and each step frees what it made: no memory is kept. */
TEST(larger_inputs_are_no_growth)
{
	const struct dw_facts *facts;
	uint64_t bytes[STEPS];

	for (uint64_t i = 0; i < STEPS; i++)
		bytes[i] = (i + 2) << 20;
	facts = facts_of_sizes(bytes);
	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, MEMORY_GROWTH), 0, 1e-9);
	made_close(&made);
}

CHECK_MAIN
