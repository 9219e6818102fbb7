/*
 * A tally: what is kept of the durations of many calls.
 *
 * Count, sums, extremes and percentiles in ticks. Up to 64 durations are kept as
 * they are, so that few calls have exact percentiles; beyond, they are counted in
 * buckets, 32 an octave, which is within 1.6%. Octaves take memory when they are
 * first met: durations of one name lie in few of them. Adding is inline and is
 * the reader's innermost loop; running out of memory loses percentiles, no sums.
 */
#ifndef DW_MODEL_TALLY_H
#define DW_MODEL_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/model.h"

#define DW_TALLY_EXACT 64u
#define DW_TALLY_BUCKETS 32u /* an octave */
#define DW_TALLY_OCTAVES 60u

struct dw_histogram {
	uint32_t *octaves[DW_TALLY_OCTAVES];
};

struct dw_tally {
	uint64_t count, total, self, min, max;
	struct dw_histogram *histogram; /* NULL up to DW_TALLY_EXACT calls */
	uint64_t *samples;
	uint32_t sample_count, sample_capacity;
	uint64_t open, cut;
};

/* A zeroed tally is an empty one; its memory is the arena's. */
void dw_tally_add_slow(struct dw_tally *tally, struct dw_arena *arena, uint64_t duration);
/* Counts are added as they are, times multiplied by `ratio`. */
void dw_tally_merge(struct dw_tally *into, struct dw_arena *arena, const struct dw_tally *from,
                    double ratio);
/* The q-th quantile in ticks; 0 of an empty one. */
uint64_t dw_tally_quantile(const struct dw_tally *tally, double q);
void dw_tally_stat(const struct dw_tally *tally, double ns_per_tick, struct dw_stat *stat);

static inline __attribute__((always_inline)) void
dw_tally_add(struct dw_tally *tally, struct dw_arena *arena, uint64_t duration, uint64_t self)
{
	/* count == 0 <=> min == 0 was never set: kept off by one so that zero memory is empty */
	uint64_t min = tally->min - 1;

	tally->count++;
	tally->total += duration;
	tally->self += self;
	tally->min = (duration < min ? duration : min) + 1;
	tally->max = duration > tally->max ? duration : tally->max;
	if (__builtin_expect(tally->histogram != NULL, 1)) {
		unsigned exponent = 63u - (unsigned)__builtin_clzll(duration | DW_TALLY_BUCKETS);
		unsigned octave = exponent - 5 + (duration >= DW_TALLY_BUCKETS);
		uint32_t *buckets = tally->histogram->octaves[octave];

		if (__builtin_expect(buckets != NULL, 1)) {
			buckets[duration >> (exponent - 5) & (DW_TALLY_BUCKETS - 1)]++;
			return;
		}
	}
	dw_tally_add_slow(tally, arena, duration);
}

#endif
