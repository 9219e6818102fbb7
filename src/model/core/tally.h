/*
 * A tally: statistics of the durations of many calls.
 *
 * Count, sums, extremes and percentiles, in ticks. Up to 64 durations are stored as they are, so
 * that few calls have exact percentiles. More are counted in buckets, 32 an octave, which is within
 * 1.6%. There are buckets for the octaves from the shortest to the longest duration: durations of
 * one name are in few octaves. Adding is inline and is the reader's innermost loop. If memory runs
 * out, percentiles are lost, but not sums.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "model/core/stat.h"

#define DW_TALLY_EXACT 64u
#define DW_TALLY_BUCKETS 32u /* in an octave */

/* The size of a cache line. Arrays of many tallies are aligned to it. */
#define DW_TALLY_BYTES 64u
struct dw_tally {
	uint64_t count, total, self;
	uint64_t min, spread;           /* the longest is min + spread; both are 0 in an empty tally */
	union {
		uint64_t *samples;
		uint32_t *buckets;          /* of `octaves` octaves, beginning with `first_octave` */
	};
	uint32_t sample_count;          /* capacity of `samples`: 0, 4, 16, 64 */
	uint16_t first_octave, octaves; /* octaves == 0: `samples` is used */
	uint32_t open, cut;             /* how many of `count` have no end, or a recycled one */
};
_Static_assert(sizeof(struct dw_tally) == DW_TALLY_BYTES, "a tally is a line");

/* Returns `count` empty tallies, for free(). NULL: out of memory. */
struct dw_tally *dw_tallies_create(size_t count);
/* Samples and buckets are in the arena. */
/* `arena` NULL: only sums and extremes, no percentiles. Then it must be NULL for every call on this
 * tally. */
void dw_tally_add_slow(struct dw_tally *tally, struct dw_arena *arena, uint64_t duration);
/* Adds `from` to `into`: counts as they are, times multiplied by `ratio`. */
void dw_tally_merge(struct dw_tally *into, struct dw_arena *arena, const struct dw_tally *from, double ratio);
/* The q-th quantile in ticks; 0 if the tally is empty. */
uint64_t dw_tally_quantile(const struct dw_tally *tally, double q);
void dw_tally_stat(const struct dw_tally *tally, double ns_per_tick, struct dw_stat *stat);
/* The same if `nested` ticks of the durations are within other calls of the same row. */
void dw_tally_stat_nested(const struct dw_tally *tally, uint64_t nested, double ns_per_tick, struct dw_stat *stat);

/* For one row: computes the time in which at least one call of it is open. */
struct dw_nesting {
	uint64_t since;
	uint64_t nested; /* sum of durations minus that time, so far */
	uint64_t open;
};

static inline void dw_nesting_begin(struct dw_nesting *nesting, uint64_t ticks)
{
	if (!nesting->open++)
		nesting->since = ticks;
}

static inline void dw_nesting_end(struct dw_nesting *nesting, uint64_t ticks, uint64_t duration)
{
	nesting->nested += duration;
	if (!--nesting->open)
		nesting->nested -= ticks - nesting->since;
}

/* For a duration below or above all before, which has been counted already. */
static __attribute__((noinline, unused)) void dw_tally_add_extreme(struct dw_tally *tally, uint64_t duration)
{
	uint64_t max = tally->min + tally->spread;

	tally->min = tally->count == 1 || duration < tally->min ? duration : tally->min;
	tally->spread = (duration > max ? duration : max) - tally->min;
}

/* Buckets that are still to be counted up. The buckets of many names do not fit in the caches that
 * are near the processor. A pass that prefetches a bucket and counts it up some calls later does
 * not wait for it. All of a worker's tallies share this list, and nobody else may change them before
 * dw_tally_flush(). */
#define DW_TALLY_PENDING 32u
struct dw_tally_pending {
	uint32_t *at[DW_TALLY_PENDING], next;
	uint32_t none; /* for entries that are not used */
};

static inline void dw_tally_pending_init(struct dw_tally_pending *pending)
{
	pending->next = 0;
	for (unsigned i = 0; i < DW_TALLY_PENDING; i++)
		pending->at[i] = &pending->none;
}

static __attribute__((noinline, unused)) void dw_tally_flush(struct dw_tally_pending *pending)
{
	for (unsigned i = 0; i < DW_TALLY_PENDING; i++) {
		++*pending->at[i];
		pending->at[i] = &pending->none;
	}
}

static inline __attribute__((always_inline)) void
dw_tally_count(uint32_t *bucket, struct dw_tally_pending *pending)
{
	uint32_t **slot;

	if (!pending) {
		++*bucket;
		return;
	}
	__builtin_prefetch(bucket, 1);
	slot = &pending->at[pending->next++ % DW_TALLY_PENDING];
	++**slot;
	*slot = bucket;
}

/* Sums and extremes alone: for every call on a tally without percentiles. */
static inline __attribute__((always_inline)) void dw_tally_add_sums(struct dw_tally *tally, uint64_t duration, uint64_t self)
{
	tally->count++;
	tally->total += duration;
	tally->self += self;
	if (__builtin_expect(duration - tally->min > tally->spread, 0))
		dw_tally_add_extreme(tally, duration);
}

/* With `pending` NULL, the bucket is counted up at once. */
static inline __attribute__((always_inline)) void
dw_tally_add_later(struct dw_tally *tally, struct dw_arena *arena,
                   struct dw_tally_pending *pending, uint64_t duration, uint64_t self)
{
	dw_tally_add_sums(tally, duration, self);
	/* Octave 0 is 0..31, octave n begins at 2^(n+4). The bucket, counted from octave 0: */
	unsigned shift = 58u - (unsigned)__builtin_clzll(duration | DW_TALLY_BUCKETS);
	unsigned bucket = (shift * DW_TALLY_BUCKETS) + (unsigned)(duration >> shift) -
	                  tally->first_octave * DW_TALLY_BUCKETS;

	if (__builtin_expect(bucket < tally->octaves * DW_TALLY_BUCKETS, 1)) {
		dw_tally_count(&tally->buckets[bucket], pending);
		return;
	}
	if (pending) /* the buckets may be moved */
		dw_tally_flush(pending);
	dw_tally_add_slow(tally, arena, duration);
}

static inline __attribute__((always_inline)) void
dw_tally_add(struct dw_tally *tally, struct dw_arena *arena, uint64_t duration, uint64_t self)
{
	dw_tally_add_later(tally, arena, NULL, duration, self);
}
