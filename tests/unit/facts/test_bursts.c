/* Facts of a device that is recorded in bursts: they are of a step without what recording adds, if the run tells that. */
#include "check.h"
#include "facts/facts.h"
#include "made.h"

#define ROUNDS 6u
#define STEPS 4u /* of each kind in a round */

static struct made made;
static const uint64_t ms = 1000000;

/* In each round recorded steps of `recorded_ms`, in which the device works at the end for work_ms, then others of other_ms. */
static const struct dw_facts *facts_of(uint64_t recorded_ms, uint64_t work_ms, uint64_t other_ms)
{
	struct dw_encode_events events;
	uint32_t queue, kernel, launch, correlation = 0;
	uint64_t at = 0, number = 0;

	made_init(&made);
	queue = dw_encode_queue(&made.process, dw_encode_device(&made.process, 0, "GPU", DW_API_CUDA), 7, 1, NULL);
	kernel = made_op(&made, DWELL_CATEGORY_DEVICE, "gemm");
	launch = made_op(&made, DWELL_CATEGORY_RUNTIME, "cudaLaunchKernel");
	dw_encode_events_init(&events, &made.process, 0, 0, true);
	for (unsigned step = 0; step < ROUNDS * 2 * STEPS; step++) {
		bool recorded = step % (2 * STEPS) < STEPS;
		uint64_t end = at + (recorded ? recorded_ms : other_ms) * ms, work = end - work_ms * ms;

		if (recorded) {
			dw_encode_begin(&made.stream, work - 2000, launch);
			dw_encode_correlation(&made.stream, ++correlation);
			dw_encode_end(&made.stream, work - 1000);
			dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_KERNEL, .queue = queue,
				.correlation = correlation, .start_ticks = work, .duration_ticks = end - work, .name = kernel });
		} else if (step % (2 * STEPS) == STEPS) {
			dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_GAP, .queue = queue, .start_ticks = at,
				.duration_ticks = STEPS * other_ms * ms });
		}
		dw_encode_step(&made.process, made.thread, number++, at, end, end - at, DW_STEP_RECORDED);
		at = end;
	}
	dw_encode_events_close(&events);
	return made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
}

#define VALUE(facts, id) ((facts)->at[DW_FACT_##id].value)

TEST(idle_time_is_without_what_recording_adds)
{
	const struct dw_facts *facts = facts_of(10, 6, 8);

	REQUIRE(facts && facts->at[DW_FACT_DEVICE_BUSY].measured);
	CHECK_NEAR(facts->device_cost_ns, 2e6, 1);
	CHECK_NEAR(VALUE(facts, DEVICE_STEP), 8e6, 100);
	CHECK_NEAR(VALUE(facts, DEVICE_BUSY), 0.75, 1e-3);
	CHECK_NEAR(VALUE(facts, DEVICE_COMPUTE), 0.75, 1e-3);
	CHECK_NEAR(VALUE(facts, DEVICE_IDLE), 0.25, 1e-3);
	CHECK_NEAR(VALUE(facts, DEVICE_HOST_LATE), 0.25, 0.02); /* the first step begins before the first work */
	made_close(&made);
}

TEST(more_than_the_idle_time_is_not_taken_out_of_it)
{
	const struct dw_facts *facts = facts_of(10, 9, 8);

	REQUIRE(facts && facts->at[DW_FACT_DEVICE_BUSY].measured);
	CHECK(facts->device_cost_ns == 0);
	CHECK_NEAR(VALUE(facts, DEVICE_STEP), 10e6, 100);
	CHECK_NEAR(VALUE(facts, DEVICE_BUSY), 0.9, 1e-3);
	made_close(&made);
}

TEST(without_a_difference_steps_are_as_recorded)
{
	const struct dw_facts *facts = facts_of(10, 6, 10);

	REQUIRE(facts && facts->at[DW_FACT_DEVICE_BUSY].measured);
	CHECK(facts->device_cost_ns == 0);
	CHECK_NEAR(VALUE(facts, DEVICE_BUSY), 0.6, 1e-3);
	made_close(&made);
}

CHECK_MAIN
