/* Facts of parts that the program names, and of the waits in them. */
#include "check.h"
#include "facts/facts.h"
#include "made.h"

#define STEPS 40

static struct made made;
static const uint64_t ms = 1000000;

#define VALUE(facts, id) ((facts)->at[DW_FACT_##id].value)
#define CLOSE(value, expected) CHECK_NEAR(value, expected, 0.005)

static void begin_trace(void)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->pid = 100; /* the tid of made.thread */
}

static void range(uint64_t from_ms, uint64_t to_ms, uint32_t op)
{
	dw_encode_begin(&made.stream, from_ms * ms, op);
	dw_encode_end(&made.stream, to_ms * ms);
}

/* Steps of 50 ms: 15 of forward, which computes, and 35 in "metrics", where the thread runs for 5 ms and waits for 30. */
static const struct dw_facts *facts_of_waits(void)
{
	uint32_t forward, operator, metrics, rare;

	begin_trace();
	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	operator = made_op(&made, DWELL_CATEGORY_OPERATOR, "linear");
	metrics = dw_encode_op(&made.process, DWELL_CATEGORY_ZONE, "metrics", NULL, 0, "src/loop.c", 17);
	rare = made_op(&made, DWELL_CATEGORY_ZONE, "rare");
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at = 100 + i * 50;
		struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, at * ms, (at + 50) * ms);

		usage->cpu_ns = usage->process_cpu_ns = 20 * ms;
		dw_encode_begin(&made.stream, at * ms, forward);
		range(at, at + 15, operator);
		dw_encode_end(&made.stream, (at + 15) * ms);
		range(at + 15, at + 50, i == 0 ? rare : metrics);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 50) * ms, 20 * ms, DW_STEP_RECORDED);
	}
	return made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
}

TEST(the_name_that_takes_most_of_a_step)
{
	const struct dw_facts *facts = facts_of_waits();

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, STEP_NAMED), 0.7);
	CLOSE(VALUE(facts, STEP_NAMED_LARGEST), 0.7 * 39 / 40);
	CHECK_STR(facts->at[DW_FACT_STEP_NAMED_LARGEST].name, "metrics");
	CHECK_STR(facts->at[DW_FACT_STEP_NAMED_LARGEST].where, "loop.c:17");
	CLOSE(VALUE(facts, CPU_WAITING), 0.6);
	made_close(&made);
}

/* A first step that waits long is none of the usual ones. */
TEST(waits_of_the_first_step_do_not_count)
{
	const struct dw_facts *facts;
	uint32_t metrics;
	uint64_t at = 100;

	begin_trace();
	metrics = made_op(&made, DWELL_CATEGORY_ZONE, "metrics");
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t length = i == 0 ? 2000 : 50;
		struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, at * ms, (at + length) * ms);

		usage->cpu_ns = usage->process_cpu_ns = 50 * ms;
		range(at, at + length, metrics);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + length) * ms, 50 * ms, DW_STEP_RECORDED);
		at += length;
	}
	facts = made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, STEP_WARM_UP), 1);
	CLOSE(VALUE(facts, CPU_WAITING), 0);
	made_close(&made);
}

/* ---- many names ---------------------------------------------------------------------------------- */

#define NAMES 10000

/* Each step has 250 names of its own. */
TEST(ten_thousand_names)
{
	const struct dw_facts *facts;
	const struct dw_steady *steady;
	double sum = 0;
	char name[32];

	begin_trace();
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "part %u", i);
		range(100 + i, 101 + i, made_op(&made, DWELL_CATEGORY_ZONE, name));
	}
	for (uint64_t i = 0; i < STEPS; i++)
		dw_encode_step(&made.process, made.thread, i, (100 + i * 250) * ms, (350 + i * 250) * ms, 250 * ms, DW_STEP_RECORDED);
	facts = made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, STEP_NAMED), 1);
	CHECK_NEAR(VALUE(facts, STEP_NAMED_LARGEST), 1.0 / NAMES, 1e-9);
	steady = dw_facts_steady(made.model, NULL);
	REQUIRE(steady != NULL);
	CHECK_EQ(steady->part_count, NAMES);
	for (size_t i = 0; i < steady->part_count; i++)
		sum += steady->parts[i].ns;
	CHECK_NEAR(sum, steady->ns, 1);
	made_close(&made);
}

/* ---- steps that share a reading ------------------------------------------------------------------- */

/* Steps of 2 ms, of which each tenth loses its CPU for 20 ms in "late"; a reading covers ten of them. */
TEST(a_step_that_lost_its_cpu_is_not_slow)
{
	const struct dw_facts *facts;
	uint32_t late, rest;
	uint64_t at = 100;

	made_init(&made);
	late = made_op(&made, DWELL_CATEGORY_ZONE, "late");
	rest = made_op(&made, DWELL_CATEGORY_ZONE, "rest");
	for (uint64_t i = 0; i < 10 * STEPS; i++) {
		uint64_t length = i % 10 == 5 ? 22 : 2;

		if (i % 10 == 0) {
			struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, at * ms, (at + 40) * ms);

			usage->cpu_ns = usage->process_cpu_ns = 20 * ms;
			usage->delay_ns = 20 * ms;
			usage->preemptions = 1;
		}
		dw_encode_begin(&made.stream, at * ms, late);
		dw_encode_end(&made.stream, (at + length - 1) * ms);
		dw_encode_begin(&made.stream, (at + length - 1) * ms, rest);
		dw_encode_end(&made.stream, (at + length) * ms);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + length) * ms, 2 * ms, DW_STEP_RECORDED);
		at += length;
	}
	facts = made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, STEP_OUTLIERS), 0);
	CLOSE(VALUE(facts, CPU_WAITING), 0);
	/* 9 steps of 2 ms with 1 ms in it, and one that counts as 2 ms with 21 of 22. By the clock it is 75%. */
	CLOSE(VALUE(facts, STEP_NAMED_LARGEST), (9 + 2 * 21.0 / 22) / 20);
	made_close(&made);
}

CHECK_MAIN
