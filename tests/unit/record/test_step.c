/* The schedule: torch's letters, as printed by torch.profiler.schedule (R, S recorded). */
#include "check.h"

#include "record/step.c"

static void check_plan(struct dw_control control, const char *letters)
{
	for (size_t step = 0; letters[step]; step++) {
		bool want = letters[step] == 'R' || letters[step] == 'S';

		if (schedule_active(&control, step) != want)
			CHECK_FAIL("%s: step %zu", letters, step);
	}
}

#define PLAN(...) (struct dw_control){ __VA_ARGS__ }

TEST(schedules_as_torch_has_them)
{
	check_plan(PLAN(.wait = 1, .warmup = 1, .active = 2), ".wRS.wRS.wRS.wRS.wRS.wRS");
	check_plan(PLAN(.wait = 1, .warmup = 1, .active = 2, .repeat = 2), ".wRS.wRS............");
	check_plan(PLAN(.skip_first = 10, .wait = 5, .warmup = 1, .active = 3, .repeat = 2),
	           "...............wRRS.....wRRS............");
	check_plan(PLAN(.active = 1), "SSSSSSSSSS");
	check_plan(PLAN(.wait = 2, .active = 1, .repeat = 3), "..S..S..S...............");
	check_plan(PLAN(.skip_first = 3, .wait = 1, .warmup = 4, .active = 1), "....wwwwS.wwwwS.wwwwS.");
}

TEST(skip_first_wait_leaves_out_the_first_wait)
{
	check_plan(PLAN(.skip_first = 10, .skip_first_wait = 1, .wait = 20, .warmup = 1, .active = 2),
	           "..........wRS....................wRS....................wRS.");
	check_plan(PLAN(.skip_first = 3, .skip_first_wait = 1, .wait = 5, .warmup = 1, .active = 2,
	                .repeat = 2),
	           "...wRS.....wRS..............................................");
	check_plan(PLAN(.skip_first = 3, .wait = 5, .warmup = 1, .active = 2, .repeat = 2),
	           "........wRS.....wRS.........................................");
}

TEST(numbers_beyond_32_bits)
{
	struct dw_control control = PLAN(.wait = UINT32_MAX, .warmup = UINT32_MAX, .active = 2);
	uint64_t cycle = (uint64_t)UINT32_MAX * 2 + 2;

	CHECK(!schedule_active(&control, cycle - 3));
	CHECK(schedule_active(&control, cycle - 2));
	CHECK(schedule_active(&control, cycle - 1));
	CHECK(!schedule_active(&control, cycle));
}

CHECK_MAIN
