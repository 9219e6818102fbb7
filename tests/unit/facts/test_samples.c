/* Which functions facts name, of samples made by hand. */
#include "made.h"

#include <math.h>

#include "facts/work.h"
#include "format/keys.h"

static struct made made;
static const uint64_t ms = 1000000;

/* 40 steps of 10 ms with 10 ms between them; half of a step is an operator. Samples of the functions
 * `own` come in turn after the operator, and those of `between` between the steps. */
static void make(bool python, uint32_t steps, const char *const own[2], const char *between)
{
	uint32_t op, native, callers, in_step[2], out;

	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = python ? DW_PROCESS_PYTHON : 0;
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	native = dw_encode_frame(&made.process, "gemm", NULL, 0);
	callers = dw_encode_frame(&made.process, "main", "/srv/train.py", 9);
	callers = dw_encode_stack(&made.process, &callers, 1);
	for (unsigned i = 0; i < 2; i++)
		in_step[i] = dw_encode_frame(&made.process, own[i], "/srv/train.py", 10 * (i + 1));
	out = dw_encode_frame(&made.process, between, "/srv/train.py", 50);
	for (uint64_t i = 0; i < steps; i++) {
		uint64_t at = 100 + 20 * i;

		dw_encode_begin(&made.stream, at * ms, op);
		dw_encode_sample(&made.stream, (at + 2) * ms, native, callers, 1);
		dw_encode_end(&made.stream, (at + 5) * ms);
		dw_encode_sample(&made.stream, (at + 7) * ms, in_step[i % 4 == 0], callers, 1);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 10) * ms, 10 * ms, DW_STEP_RECORDED);
		dw_encode_sample(&made.stream, (at + 15) * ms, out, callers, 1);
	}
}

static const struct dw_fact *fact(const struct dw_facts *facts, enum dw_fact_id id)
{
	return &facts->at[id];
}

static const struct dw_facts *facts_of(void)
{
	return made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
}

TEST(the_function_with_most_of_a_part_is_named)
{
	const struct dw_facts *facts;

	make(true, 40, (const char *const[]){ "tokenize", "pad" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_STEP)->value, 2);
	/* tokenize in 30 steps, pad in 10, log between 39 pairs */
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_PYTHON)->name, "log");
	CHECK(fabs(fact(facts, DW_FACT_SAMPLES_PYTHON)->value - 39.0 / 79) < 1e-9);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_BETWEEN)->name, "log");
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_BETWEEN)->where, "train.py:50");
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_BETWEEN)->value, 1);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_FUNCTION)->name, "gemm");
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_FUNCTION)->value, 0.5);
	CHECK(fact(facts, DW_FACT_SAMPLES_FUNCTION)->low < 0.42 && fact(facts, DW_FACT_SAMPLES_FUNCTION)->high > 0.58);
	CHECK(!fact(facts, DW_FACT_SAMPLES_UNNAMED)->measured);
	made_close(&made);
}

TEST(in_c_the_function_of_time_in_no_range_is_named)
{
	const struct dw_facts *facts;

	make(false, 40, (const char *const[]){ "solve", "check" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_UNNAMED)->name, "solve");
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_UNNAMED)->where, "train.py:10");
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_UNNAMED)->value, 0.75);
	CHECK(!fact(facts, DW_FACT_SAMPLES_PYTHON)->measured);
	made_close(&made);
}

TEST(few_samples_name_nothing)
{
	const struct dw_facts *facts;

	make(true, 6, (const char *const[]){ "tokenize", "pad" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(!fact(facts, DW_FACT_SAMPLES_PYTHON)->measured);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_PYTHON)->missing, "fewer than 20 samples of call stacks lie there");
	made_close(&made);
}

TEST(memory_management_is_a_share_of_its_own)
{
	const struct dw_facts *facts;

	make(false, 40, (const char *const[]){ "malloc", "__memcpy_avx_unaligned" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_ALLOCATION)->value, 0.375);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_COPY)->value, 0.125);
	made_close(&made);
}

TEST(without_samples_the_facts_say_what_to_record)
{
	const struct dw_facts *facts;

	made_init(&made);
	dw_encode_step(&made.process, made.thread, 0, 100, 200, 0, DW_STEP_RECORDED);
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(!fact(facts, DW_FACT_SAMPLES_STEP)->measured);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_STEP)->missing, "record with dwell run --sample 100");
	made_close(&made);
}

CHECK_MAIN
