/*
 * Durations of summarised steps: which bucket of a STEPS entry counts a duration. And what a probe found.
 *
 * Shared by the recorder, which fills the buckets, and by the reader. Four buckets an
 * octave, so a bucket's bounds are 19% apart. Without floating point, because the recorder
 * also runs in signal handlers.
 */
#pragma once

#include <stdint.h>

#include "dwell/probe.h"
#include "format/layout.h"

#define DW_STEPS_FIRST_OCTAVE 8u /* the first bucket begins at 2^8 ticks */

/* Thresholds within an octave, 2^(k/4), as fractions of 2^63. */
#define DW_STEPS_QUARTERS { 0x9837f0518db8a96fu, 0xb504f333f9de6484u, 0xd744fccad69d6af4u }

static inline uint32_t dw_steps_bucket(uint64_t ticks)
{
	static const uint64_t quarters[] = DW_STEPS_QUARTERS;
	uint32_t octave, bucket;
	uint64_t fraction;

	if (ticks >> DW_STEPS_FIRST_OCTAVE == 0)
		return 0;
	octave = 63u - (uint32_t)__builtin_clzll(ticks);
	fraction = ticks << (63u - octave);
	bucket = (octave - DW_STEPS_FIRST_OCTAVE) * DW_STEPS_BUCKETS_PER_OCTAVE;
	for (unsigned i = 0; i < 3; i++)
		bucket += fraction >= quarters[i];
	return bucket < DW_STEPS_BUCKETS ? bucket : DW_STEPS_BUCKETS - 1;
}

/* The optimizer whose update ended a step, from 0. */
static inline uint32_t dw_step_optimizer(uint32_t aux)
{
	return aux / DWELL_STEP_OPTIMIZER(1) & 15;
}
