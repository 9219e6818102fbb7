/* When a summary is written because a program's steps stand still. */
#include "check.h"

#include "rank/still.c"

#define LEAST_MS ((uint64_t)(DW_WATCH_LEAST_HANG_NS / 1000000))

/* Steps of `usual` ms up to number `steps`. Returns the time of the last look at which they moved. */
static uint64_t run_steps(struct dw_still_gate *gate, uint64_t steps, uint64_t usual)
{
	uint64_t now_ms = 1000;

	for (uint64_t i = 1; i <= steps; i++, now_ms += usual)
		CHECK(!still_gate(gate, i, now_ms));
	return now_ms - usual;
}

TEST(steps_that_move_want_no_summary_and_say_how_long_one_takes)
{
	struct dw_still_gate gate = { 0 };

	run_steps(&gate, 100, 50);
	CHECK(gate.usual_ms > 40 && gate.usual_ms < 60);
}

TEST(before_the_first_steps_nothing_stands_still)
{
	struct dw_still_gate gate = { 0 };

	CHECK(!still_gate(&gate, 0, 100 * LEAST_MS));
	CHECK(!still_gate(&gate, 0, 1000 * LEAST_MS));
}

TEST(a_summary_is_wanted_from_the_shortest_hang_on_and_some_more_after_it)
{
	struct dw_still_gate gate = { 0 };
	uint64_t last_ms = run_steps(&gate, 20, 50), first_ms = 0;
	unsigned wanted = 0;

	for (uint64_t ms = last_ms; ms < last_ms + 10 * LEAST_MS; ms += 1000) {
		bool is = still_gate(&gate, 20, ms);

		first_ms = is && !wanted ? ms : first_ms;
		wanted += is;
	}
	CHECK(first_ms - last_ms >= LEAST_MS && first_ms - last_ms < 2 * LEAST_MS);
	CHECK(wanted >= 2 && wanted <= 4);
}

TEST(another_process_at_the_gate_begins_anew)
{
	struct dw_still_gate gate = { 0 };

	run_steps(&gate, 100, 50);
	CHECK(!still_gate(&gate, 3, 1000000));
	CHECK_EQ(gate.usual_ms, 0);
}

CHECK_MAIN
