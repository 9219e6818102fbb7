/* Gates and captures: what is recorded, and when a capture ends. */
#include "check.h"

#include "dwell/probe.h"
#include "format/control.h"

#define SECOND 3000000000u /* ticks */

static struct dw_head head;
static struct dw_control control;

static void make_gates(void)
{
	head = (struct dw_head){ .next_gate = 3 };
	control = (struct dw_control){ .mask = 0x6, .gates = { { .open = 1 }, { .open = 0 },
		{ .open = 0, .profiles = 0x8 } } };
	dw_control_compute_all(&head, &control);
}

TEST(a_gate_lets_through_what_schedule_and_profiles_want)
{
	make_gates();
	CHECK_EQ(control.gates[0].mask, 0x6);
	CHECK_EQ(control.gates[1].mask, 0);
	CHECK_EQ(control.gates[2].mask, 0x8);
}

TEST(a_capture_opens_closed_gates_and_leaves_them_as_they_were)
{
	uint64_t capture = dw_control_capture(0x10, 10ull * SECOND);

	make_gates();
	CHECK(dw_control_begin_capture(&head, &control, capture, 9ull * SECOND));
	CHECK_EQ(control.gates[0].mask, 0x16);
	CHECK_EQ(control.gates[1].mask, 0x10);
	CHECK_EQ(control.gates[2].mask, 0x18);
	dw_control_end_capture(&head, &control, capture);
	CHECK_EQ(control.gates[0].mask, 0x6);
	CHECK_EQ(control.gates[1].mask, 0);
	CHECK_EQ(control.gates[2].mask, 0x8);
}

TEST(nothing_but_a_capture)
{
	make_gates();
	control.mask = DWELL_MASK_NONE;
	dw_control_compute_all(&head, &control);
	CHECK_EQ(control.gates[0].mask, DWELL_MASK_NONE);
	CHECK(dw_control_begin_capture(&head, &control, dw_control_capture(0x10, 5ull * SECOND), SECOND));
	CHECK_EQ(control.gates[0].mask, 0x10);
}

TEST(one_capture_at_a_time_until_its_time_has_passed)
{
	uint64_t first = dw_control_capture(0x10, 10ull * SECOND);
	uint64_t second = dw_control_capture(0x10, 30ull * SECOND);

	make_gates();
	CHECK(dw_control_begin_capture(&head, &control, first, 9ull * SECOND));
	CHECK(!dw_control_begin_capture(&head, &control, second, 10ull * SECOND - 1));
	CHECK(dw_control_begin_capture(&head, &control, second, 11ull * SECOND)); /* its server died */
	dw_control_end_capture(&head, &control, first); /* late: it ends nobody else's */
	CHECK_EQ(control.gates[1].mask, 0x10);
	dw_control_look(&head, &control, 30ull * SECOND - 1);
	CHECK_EQ(control.gates[1].mask, 0x10);
	dw_control_look(&head, &control, 31ull * SECOND);
	CHECK_EQ(control.gates[1].mask, 0);
	CHECK_EQ(control.capture, 0);
}

TEST(the_end_may_wrap)
{
	uint64_t wrap = 1ull << (32 + DW_CAPTURE_SHIFT);
	uint64_t capture = dw_control_capture(1, wrap + SECOND);

	CHECK(!dw_control_capture_over(capture, wrap - SECOND));
	CHECK(!dw_control_capture_over(capture, wrap + SECOND - 1));
	CHECK(dw_control_capture_over(capture, wrap + SECOND + (2u << DW_CAPTURE_SHIFT)));
	CHECK_EQ(dw_control_capture(1, 5) >> 32, 1);
}

CHECK_MAIN
