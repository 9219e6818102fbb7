/* What is kept of the durations of many calls; see tally.h. */
#include "model/tally.h"

#include <stdlib.h>
#include <string.h>

static unsigned octave_of(uint64_t duration, unsigned *bucket)
{
	unsigned exponent = 63u - (unsigned)__builtin_clzll(duration | DW_TALLY_BUCKETS);

	*bucket = duration >> (exponent - 5) & (DW_TALLY_BUCKETS - 1);
	return exponent - 5 + (duration >= DW_TALLY_BUCKETS);
}

/* The bucket's middle. */
static uint64_t middle(unsigned octave, unsigned bucket)
{
	unsigned shift;

	if (octave == 0)
		return bucket;
	shift = octave - 1;
	return ((uint64_t)(DW_TALLY_BUCKETS + bucket) << shift) + (((uint64_t)1 << shift) >> 1);
}

static void put_bucket(struct dw_tally *tally, struct dw_arena *arena, uint64_t duration,
                       uint32_t times)
{
	unsigned bucket, octave = octave_of(duration, &bucket);
	uint32_t **buckets = &tally->histogram->octaves[octave];

	if (!*buckets)
		*buckets = dw_arena_alloc(arena, DW_TALLY_BUCKETS * sizeof **buckets);
	if (*buckets)
		(*buckets)[bucket] += times;
}

/* From samples to buckets. */
static bool pour(struct dw_tally *tally, struct dw_arena *arena)
{
	tally->histogram = dw_arena_alloc(arena, sizeof *tally->histogram);
	if (!tally->histogram)
		return false;
	for (uint32_t i = 0; i < tally->sample_count; i++)
		put_bucket(tally, arena, tally->samples[i], 1);
	tally->sample_count = 0;
	return true;
}

static bool put_sample(struct dw_tally *tally, struct dw_arena *arena, uint64_t duration)
{
	if (tally->sample_count == DW_TALLY_EXACT)
		return false;
	if (tally->sample_count == tally->sample_capacity) {
		uint32_t capacity = tally->sample_capacity ? tally->sample_capacity * 4 : 4;
		uint64_t *samples = dw_arena_alloc(arena, capacity * sizeof *samples);

		if (!samples)
			return true;
		if (tally->sample_count)
			memcpy(samples, tally->samples, tally->sample_count * sizeof *samples);
		tally->samples = samples;
		tally->sample_capacity = capacity;
	}
	tally->samples[tally->sample_count++] = duration;
	return true;
}

void dw_tally_add_slow(struct dw_tally *tally, struct dw_arena *arena, uint64_t duration)
{
	if (!tally->histogram && (put_sample(tally, arena, duration) || !pour(tally, arena)))
		return;
	put_bucket(tally, arena, duration, 1);
}

static uint64_t scale(uint64_t value, double ratio)
{
	double scaled = (double)value * ratio;

	return ratio == 1.0 ? value : scaled < 1.8e19 ? (uint64_t)(scaled + 0.5) : UINT64_MAX;
}

static void merge_histogram(struct dw_tally *into, struct dw_arena *arena,
                            const struct dw_histogram *from, double ratio)
{
	for (unsigned octave = 0; octave < DW_TALLY_OCTAVES; octave++)
		for (unsigned bucket = 0; from->octaves[octave] && bucket < DW_TALLY_BUCKETS; bucket++)
			if (from->octaves[octave][bucket])
				put_bucket(into, arena, scale(middle(octave, bucket), ratio),
				           from->octaves[octave][bucket]);
}

void dw_tally_merge(struct dw_tally *into, struct dw_arena *arena, const struct dw_tally *from,
                    double ratio)
{
	if (!from->count)
		return;
	if (from->histogram && (into->histogram || pour(into, arena)))
		merge_histogram(into, arena, from->histogram, ratio);
	for (uint32_t i = 0; i < from->sample_count; i++)
		dw_tally_add_slow(into, arena, scale(from->samples[i], ratio));
	uint64_t min = scale(from->min - 1, ratio), max = scale(from->max, ratio);
	into->min = (min < into->min - 1 ? min : into->min - 1) + 1;
	into->max = max > into->max ? max : into->max;
	into->count += from->count;
	into->total += scale(from->total, ratio);
	into->self += scale(from->self, ratio);
	into->open += from->open;
	into->cut += from->cut;
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static uint64_t clamp(const struct dw_tally *tally, uint64_t value)
{
	return value < tally->min - 1 ? tally->min - 1 : value > tally->max ? tally->max : value;
}

uint64_t dw_tally_quantile(const struct dw_tally *tally, double q)
{
	uint64_t held = tally->sample_count, rank, seen = 0;

	if (tally->histogram)
		held = tally->count;
	if (!held)
		return tally->count ? tally->min - 1 : 0;
	/* Nearest rank: the least value that at least q of all are not above. */
	rank = (uint64_t)(q * (double)held);
	rank = (double)rank < q * (double)held ? rank + 1 : rank;
	rank = rank ? rank : 1;
	if (!tally->histogram) {
		uint64_t sorted[DW_TALLY_EXACT];

		memcpy(sorted, tally->samples, held * sizeof *sorted);
		qsort(sorted, held, sizeof *sorted, compare);
		return sorted[rank - 1];
	}
	for (unsigned octave = 0; octave < DW_TALLY_OCTAVES; octave++)
		for (unsigned bucket = 0;
		     tally->histogram->octaves[octave] && bucket < DW_TALLY_BUCKETS; bucket++) {
			seen += tally->histogram->octaves[octave][bucket];
			if (seen >= rank)
				return clamp(tally, middle(octave, bucket));
		}
	return tally->max;
}

void dw_tally_stat(const struct dw_tally *tally, double ns_per_tick, struct dw_stat *stat)
{
	*stat = (struct dw_stat){
		.count = tally->count,
		.total_ns = scale(tally->total, ns_per_tick),
		.self_ns = scale(tally->self, ns_per_tick),
		.min_ns = tally->count ? scale(tally->min - 1, ns_per_tick) : 0,
		.max_ns = scale(tally->max, ns_per_tick),
		.p50_ns = scale(dw_tally_quantile(tally, 0.50), ns_per_tick),
		.p99_ns = scale(dw_tally_quantile(tally, 0.99), ns_per_tick),
		.open = tally->open,
		.cut = tally->cut,
	};
}
