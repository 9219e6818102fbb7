/* Durations of summarised steps: buckets of a quarter octave, from 2^8 ticks. */
#include "check.h"

#include <math.h>

#include "format/steps.h"

TEST(a_bucket_begins_at_its_power_of_two)
{
	for (uint32_t i = 1; i < DW_STEPS_BUCKETS; i++) {
		uint64_t first = (uint64_t)ceil(exp2(8 + i / 4.0));

		CHECK_EQ(dw_steps_bucket(first), i);
		CHECK_EQ(dw_steps_bucket(first - 1), i - 1);
	}
}

TEST(the_first_and_the_last_bucket_hold_the_rest)
{
	CHECK_EQ(dw_steps_bucket(0), 0);
	CHECK_EQ(dw_steps_bucket(1), 0);
	CHECK_EQ(dw_steps_bucket(255), 0);
	CHECK_EQ(dw_steps_bucket((uint64_t)1 << 40), DW_STEPS_BUCKETS - 1);
	CHECK_EQ(dw_steps_bucket(UINT64_MAX), DW_STEPS_BUCKETS - 1);
}

CHECK_MAIN
