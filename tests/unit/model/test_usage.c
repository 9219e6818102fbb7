/* What threads with steps used: readings shared by short steps, gaps, damaged readings. */
#include "made.h"

#include "model/steps/step_usages.h"

static struct made made;
static const uint64_t ms = 1000000;

static void step(uint64_t number, uint64_t from_ms, uint64_t to_ms)
{
	dw_encode_step(&made.process, made.thread, number, from_ms * ms, to_ms * ms, ms, DW_STEP_RECORDED);
}

/* A reading of which half is time on a CPU and a tenth is time without one. */
static void reading(uint64_t from_ms, uint64_t to_ms)
{
	uint64_t length = to_ms > from_ms ? to_ms - from_ms : 0;
	struct dw_entry_usage *entry = dw_encode_usage(&made.process, made.thread, from_ms * ms, to_ms * ms);

	entry->cpu_ns = length * ms / 2;
	entry->delay_ns = length * ms / 10;
	entry->process_cpu_ns = length * ms * 2;
	entry->waits = (uint32_t)length;
	entry->major_faults = 2 * (uint32_t)length;
}

static struct dw_usage_of between(struct dw_model *model, uint64_t from_ms, uint64_t to_ms)
{
	return dw_usage_between(model, 0, from_ms * ms, to_ms * ms);
}

TEST(a_step_has_its_part_of_each_reading)
{
	const struct dw_usage_of *usages;
	struct dw_model *model;

	made_init(&made);
	reading(100, 120);
	reading(120, 130);
	for (uint64_t i = 0; i < 6; i++)
		step(i, 100 + 10 * i, 105 + 10 * i);
	REQUIRE(made_open(&made, NULL) == 0);
	model = made.model;
	usages = dw_model_step_usages(model, NULL);
	CHECK(usages != NULL);
	CHECK_NEAR(usages[0].known, 1, 1e-9);
	CHECK_NEAR(usages[0].wall_ns, 5e6, 1);
	CHECK_NEAR(usages[0].cpu_ns, 2.5e6, 1);
	CHECK_NEAR(usages[2].delay_ns, 5e5, 1);
	CHECK_NEAR(usages[2].process_cpu_ns, 1e7, 1);
	CHECK_NEAR(usages[1].waits, 5, 1e-6);
	CHECK_NEAR(usages[1].major_faults, 10, 1e-6);
	CHECK_NEAR(usages[3].known, 0, 1e-9);
	CHECK(!usages[3].delay_known);
	made_close(&made);
}

TEST(counters_of_a_part_of_the_readings)
{
	struct dw_usage_of usage;

	made_init(&made);
	for (uint64_t i = 0; i < 2; i++) {
		struct dw_entry_usage *entry =
			dw_encode_usage(&made.process, made.thread, (100 + 10 * i) * ms, (110 + 10 * i) * ms);

		entry->cycles = 3000;
		entry->instructions = 6000;
		entry->cache_misses = 30;
		if (i == 0)
			entry->entry.aux |= DW_USAGE_COUNTERS;
	}
	REQUIRE(made_open(&made, NULL) == 0);
	usage = between(made.model, 105, 120);
	CHECK_NEAR(usage.wall_ns, 15e6, 1);
	CHECK_NEAR(usage.counted_ns, 5e6, 1);
	CHECK_NEAR(usage.cycles, 1500, 1e-6);
	CHECK_NEAR(usage.instructions, 3000, 1e-6);
	CHECK_NEAR(usage.cache_misses, 15, 1e-6);
	made_close(&made);
}

TEST(a_span_over_several_readings_and_gaps)
{
	struct dw_model *model;
	struct dw_usage_of usage;

	made_init(&made);
	reading(10, 20);
	reading(20, 30);
	reading(50, 60);
	step(0, 10, 60);
	REQUIRE(made_open(&made, NULL) == 0);
	model = made.model;
	usage = between(model, 10, 60);
	CHECK_NEAR(usage.known, 0.6, 1e-9);
	CHECK_NEAR(usage.wall_ns, 30e6, 1);
	CHECK_NEAR(usage.cpu_ns, 15e6, 1);
	/* A reading begins in a gap: what comes before it is not known. */
	usage = between(model, 15, 25);
	CHECK_NEAR(usage.known, 1, 1e-9);
	CHECK_NEAR(between(model, 32, 45).known, 0, 1e-9);
	made_close(&made);
}

TEST(readings_that_overlap_or_run_backward_are_dropped)
{
	struct dw_model *model;

	made_init(&made);
	reading(10, 20);
	reading(15, 25);
	reading(40, 30);
	reading(30, 30);
	step(0, 10, 40);
	REQUIRE(made_open(&made, NULL) == 0);
	model = made.model;
	CHECK_EQ(dw_model_source(model)->usage_count, 1);
	CHECK_NEAR(between(model, 10, 40).wall_ns, 10e6, 1);
	made_close(&made);
}

TEST(other_programs_are_what_the_program_did_not_use)
{
	struct dw_machine_of machine;

	made_init(&made);
	for (uint64_t i = 0; i < 4; i++) {
		struct dw_entry_machine *entry = dw_encode_machine(&made.process, (100 + 10 * i) * ms, (110 + 10 * i) * ms);

		entry->busy_ns = 16 * ms;
		entry->own_ns = i < 2 ? 4 * ms : 20 * ms;
	}
	step(0, 100, 140);
	REQUIRE(made_open(&made, NULL) == 0);
	machine = dw_machine_between(made.model, 105 * ms, 120 * ms);
	CHECK_NEAR(machine.known, 1, 1e-6);
	CHECK_NEAR(machine.own_ns, 6e6, 10);
	CHECK_NEAR(machine.others_ns, 18e6, 10);
	machine = dw_machine_between(made.model, 120 * ms, 160 * ms);
	CHECK_NEAR(machine.known, 0.5, 1e-6);
	CHECK_NEAR(machine.others_ns, 0, 10);
	CHECK_EQ(made.source->usage_count, 0);
	made_close(&made);
}

CHECK_MAIN
