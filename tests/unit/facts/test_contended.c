/* Facts of loops while other programs use the CPUs. */
#include "check.h"
#include "facts/facts.h"
#include "format/keys.h"
#include "made.h"

static struct made made;
static const uint64_t ms = 1000000;

#define STEPS 60u
#define VALUE(facts, id) (facts)->at[DW_FACT_##id].value

static void begin_trace(uint32_t flags)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags |= flags;
}

static const struct dw_facts *facts_of(void)
{
	return made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
}

/* Other programs use half of two CPUs up to `end_ms`. */
static void others_run(uint64_t end_ms)
{
	struct dw_entry_machine *machine = dw_encode_machine(&made.process, 100 * ms, end_ms * ms);

	machine->busy_ns = 2 * (end_ms - 100) * ms;
	machine->own_ns = (end_ms - 100) * ms;
	dw_encode_meta(&made.process, "host.cpus", "2", true);
}

static struct dw_entry_usage *usage(uint64_t from_ms, uint64_t to_ms, uint64_t cpu_ms, uint64_t delay_ms)
{
	struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, from_ms * ms, to_ms * ms);

	usage->cpu_ns = usage->process_cpu_ns = cpu_ms * ms;
	usage->delay_ns = delay_ms * ms;
	usage->preemptions = 1;
	return usage;
}

static void range(uint64_t from_ms, uint64_t to_ms, uint32_t op)
{
	dw_encode_begin(&made.stream, from_ms * ms, op);
	dw_encode_end(&made.stream, to_ms * ms);
}

static void step(uint64_t number, uint64_t from_ms, uint64_t to_ms)
{
	dw_encode_step(&made.process, made.thread, number, from_ms * ms, to_ms * ms, 0, DW_STEP_RECORDED);
}

/* Steps of 2 ms, each tenth of 22 ms because it lost its CPU; a reading covers ten of them, and the CPU time of single
 * ones is not known. */
TEST(the_delay_of_a_shared_reading_is_that_of_its_long_step)
{
	const struct dw_facts *facts;
	uint64_t at = 100;

	begin_trace(0);
	for (uint64_t i = 0; i < 10 * STEPS; i++) {
		uint64_t length = i % 10 == 5 ? 22 : 2;

		if (i % 10 == 0)
			usage(at, at + 40, 20, 20);
		step(i, at, at + length);
		at += length;
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, STEP_OUTLIERS), 0);
	CHECK_NEAR(VALUE(facts, CPU_DELAY), 0.5, 1e-6);
	made_close(&made);
}

/* One reading covers all steps of a short loop, in which the thread waited for a tenth. */
TEST(a_reading_of_a_whole_loop_says_nothing_of_its_steps)
{
	const struct dw_facts *facts;

	begin_trace(0);
	usage(100, 100 + STEPS, STEPS * 9 / 10, 0)->waits = 1;
	for (uint64_t i = 0; i < STEPS; i++)
		step(i, 100 + i, 101 + i);
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(!facts->at[DW_FACT_STEP_IDLE].measured);
	CHECK(!facts->at[DW_FACT_CPU_WAITING].measured);
	made_close(&made);
}

/* Of 50 ms the thread runs for 20, waits for a CPU for 20 and for something else for 10. */
TEST(idle_time_is_a_part_of_the_time_in_which_it_could_run)
{
	const struct dw_facts *facts;

	begin_trace(0);
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at = 100 + i * 50;

		usage(at, at + 50, 20, 20)->waits = 1;
		step(i, at, at + 50);
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, STEP_IDLE), 10 / 30.0, 1e-6);
	CHECK_NEAR(VALUE(facts, STEP_UNNAMED), 20 / 30.0, 1e-6);
	CHECK_NEAR(VALUE(facts, CPU_WAITING), 10 / 30.0, 1e-6);
	made_close(&made);
}

/* Two operators of 1 ms in a step and one between the steps. In all steps but each fifth, a thread that has no CPU makes the
 * second and the third last 20 ms longer. */
TEST(operators_have_the_times_of_a_fast_step)
{
	const struct dw_facts *facts;
	uint32_t first, second, between;
	uint64_t at = 100;

	begin_trace(DW_PROCESS_PYTHON);
	first = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	second = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::add");
	between = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::sum");
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t lost = i % 5 ? 20 : 0;

		usage(at, at + 3 + 2 * lost, 3 + lost, lost);
		range(at, at + 1, first);
		range(at + 1, at + 2 + lost, second);
		step(i, at, at + 2 + lost);
		at += 2 + lost;
		range(at, at + 1 + lost, between);
		at += 1 + lost;
	}
	others_run(at);
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, OPERATORS_LARGEST), 0.5, 1e-3);
	CHECK_NEAR(VALUE(facts, LOOP_OPERATORS), 1 / 3.0, 1e-3);
	made_close(&made);
}

/* Steps of 3 ms, and after each tenth 20 ms without a CPU; one reading covers ten of them. Samples show that the thread runs
 * in the steps only. */
TEST(time_between_steps_in_which_the_thread_does_not_run_is_a_wait_for_a_cpu)
{
	for (unsigned sampled = 0; sampled < 2; sampled++) {
		const struct dw_facts *facts;
		uint64_t at = 100;
		uint32_t work;

		begin_trace(0);
		dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
		work = dw_encode_frame(&made.process, "work", "net.c", 7);
		for (uint64_t i = 0; i < 4 * STEPS; i++) {
			if (i % 10 == 0)
				usage(at, at + 50, 30, 20);
			for (uint64_t t = 0; t < 3 && sampled; t++)
				dw_encode_sample(&made.stream, (at + t) * ms + ms / 2, work, 0, 1);
			step(i, at, at + 3);
			at += i % 10 == 9 ? 23 : 3;
		}
		others_run(at);
		facts = facts_of();
		REQUIRE(facts != NULL);
		if (sampled)
			CHECK(VALUE(facts, LOOP_UNNAMED) < 0.02);
		else
			CHECK(VALUE(facts, LOOP_UNNAMED) > 0.1);
		made_close(&made);
	}
}

/* A range of 10 ms, and after it time in no range that grows from 2 to 14 ms. */
TEST(time_in_no_range_that_grows_is_the_part_that_changes)
{
	const struct dw_facts *facts;
	uint32_t learn;
	uint64_t at = 100;

	begin_trace(0);
	learn = made_op(&made, DWELL_CATEGORY_ZONE, "learn");
	for (uint64_t i = 0; i < 4 * STEPS; i++) {
		uint64_t rest = 2 + i / 20;

		range(at, at + 10, learn);
		step(i, at, at + 10 + rest);
		at += 10 + rest;
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(VALUE(facts, DRIFT_SLOPE) > 0.4);
	CHECK_STR(facts->at[DW_FACT_DRIFT_SLOPE].note, "unnamed");
	made_close(&made);
}

/* From the middle on, steps last 30 ms and not 10. Two threads work in them, if `team`. */
static const struct dw_facts *facts_of_change(bool team)
{
	uint64_t at = 100;
	uint32_t work;

	begin_trace(0);
	work = made_op(&made, DWELL_CATEGORY_ZONE, "work");
	for (uint64_t i = 0; i < 2 * STEPS; i++) {
		uint64_t length = i < STEPS ? 10 : 30;
		struct dw_entry_usage *used = usage(at, at + length + 5, length + 5, 0);

		if (team)
			used->process_cpu_ns += used->cpu_ns / 2;
		range(at, at + length, work);
		step(i, at, at + length + 5);
		at += length + 5;
	}
	others_run(at);
	return facts_of();
}

TEST(what_changes_is_not_known_of_a_team_that_others_disturb)
{
	const struct dw_facts *facts = facts_of_change(false);

	REQUIRE(facts != NULL);
	CHECK(VALUE(facts, DRIFT_CHANGE) > 1);
	CHECK(VALUE(facts, DRIFT_OWN) > 0.9);
	made_close(&made);
	facts = facts_of_change(true);
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, DRIFT_OWN), 0);
	made_close(&made);
}

CHECK_MAIN
