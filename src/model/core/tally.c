/* Statistics of the durations of many calls; see tally.h. */
#include "model/core/tally.h"

#include "base/numbers.h"
#include "base/order.h"

static unsigned tally_octave(uint64_t duration, unsigned *bucket)
{
	unsigned shift = 58u - (unsigned)__builtin_clzll(duration | DW_TALLY_BUCKETS);

	*bucket = duration >> shift & (DW_TALLY_BUCKETS - 1);
	return shift + (duration >= DW_TALLY_BUCKETS);
}

/* The duration in the middle of the bucket. */
static uint64_t tally_bucket_middle(unsigned octave, unsigned bucket)
{
	unsigned shift;

	if (octave == 0)
		return bucket;
	shift = octave - 1;
	return ((uint64_t)(DW_TALLY_BUCKETS + bucket) << shift) + (((uint64_t)1 << shift) >> 1);
}

#define TALLY_LAST_OCTAVE 59u
#define TALLY_SLACK 2u /* octaves beyond a new extreme: the next extremes are often near */

/* Extends the buckets to the octaves from `low` to `high`. The arena keeps the old buckets, so few
 * large extensions are better than many small ones. False: out of memory. */
static bool tally_reserve(struct dw_tally *tally, struct dw_arena *arena, unsigned low, unsigned high)
{
	unsigned first = tally->first_octave, end = first + tally->octaves;
	uint32_t *buckets;

	if (!tally->octaves) {
		first = low;
		end = high + 1;
	}
	if (tally->octaves && low >= first && high < end)
		return true;
	first = low < first ? low : first;
	end = high >= end ? high + 1 : end;
	buckets = dw_arena_alloc(arena, (end - first) * DW_TALLY_BUCKETS * sizeof *buckets);
	if (!buckets)
		return false;
	if (tally->octaves)
		memcpy(buckets + (tally->first_octave - first) * DW_TALLY_BUCKETS, tally->buckets,
		       tally->octaves * DW_TALLY_BUCKETS * sizeof *buckets);
	tally->buckets = buckets;
	tally->first_octave = (uint16_t)first;
	tally->octaves = (uint16_t)(end - first);
	return true;
}

static bool tally_widen(struct dw_tally *tally, struct dw_arena *arena, unsigned octave)
{
	unsigned low = octave, high = octave;

	if (octave < tally->first_octave)
		low = octave > TALLY_SLACK ? octave - TALLY_SLACK : 0;
	else
		high = octave + TALLY_SLACK < TALLY_LAST_OCTAVE ? octave + TALLY_SLACK : TALLY_LAST_OCTAVE;
	return tally_reserve(tally, arena, low, high);
}

static void tally_put_bucket(struct dw_tally *tally, struct dw_arena *arena, uint64_t duration, uint32_t times)
{
	unsigned bucket, octave = tally_octave(duration, &bucket);

	if (octave - tally->first_octave < tally->octaves || tally_widen(tally, arena, octave))
		tally->buckets[(octave - tally->first_octave) * DW_TALLY_BUCKETS + bucket] += times;
}

/* Moves the samples to buckets, which will also be needed for the octaves from `low` to `high`. */
static bool tally_fill_buckets(struct dw_tally *tally, struct dw_arena *arena, unsigned low, unsigned high)
{
	const uint64_t *samples = tally->samples;

	for (uint32_t i = 0; i < tally->sample_count; i++) {
		unsigned bucket, octave = tally_octave(samples[i], &bucket);

		low = octave < low ? octave : low;
		high = octave > high ? octave : high;
	}
	if (!tally_reserve(tally, arena, low, high))
		return false;
	for (uint32_t i = 0; i < tally->sample_count; i++)
		tally_put_bucket(tally, arena, samples[i], 1);
	tally->sample_count = 0;
	return true;
}

static bool tally_put_sample(struct dw_tally *tally, struct dw_arena *arena, uint64_t duration)
{
	uint32_t count = tally->sample_count;

	if (count == DW_TALLY_EXACT)
		return false;
	if (count == 0 || count == 4 || count == 16) {
		uint64_t *samples = dw_arena_alloc(arena, (count ? count * 4 : 4) * sizeof *samples);

		if (!samples)
			return true;
		if (count)
			memcpy(samples, tally->samples, count * sizeof *samples);
		tally->samples = samples;
	}
	tally->samples[tally->sample_count++] = duration;
	return true;
}

void dw_tally_add_slow(struct dw_tally *tally, struct dw_arena *arena, uint64_t duration)
{
	unsigned bucket, octave = tally_octave(duration, &bucket);

	if (!arena)
		return;
	if (!tally->octaves && (tally_put_sample(tally, arena, duration) ||
	                        !tally_fill_buckets(tally, arena, octave, octave)))
		return;
	tally_put_bucket(tally, arena, duration, 1);
}

struct dw_tally *dw_tallies_create(size_t count)
{
	struct dw_tally *tallies = aligned_alloc(DW_TALLY_BYTES, (count + 1) * sizeof *tallies);

	return tallies ? memset(tallies, 0, (count + 1) * sizeof *tallies) : NULL;
}

static uint64_t tally_scale(uint64_t value, double ratio)
{
	double scaled = (double)value * ratio;

	return ratio == 1.0 ? value : dw_whole(scaled + 0.5);
}

static void tally_merge_buckets(struct dw_tally *into, struct dw_arena *arena,
                                const struct dw_tally *from, double ratio)
{
	for (unsigned i = 0; i < from->octaves * DW_TALLY_BUCKETS; i++) {
		uint64_t middle = tally_bucket_middle(from->first_octave + i / DW_TALLY_BUCKETS, i % DW_TALLY_BUCKETS);

		if (from->buckets[i])
			tally_put_bucket(into, arena, tally_scale(middle, ratio), from->buckets[i]);
	}
}

/* Prepares the buckets of `into` for those of `from`. False: out of memory. */
static bool tally_make_space(struct dw_tally *into, struct dw_arena *arena, const struct dw_tally *from)
{
	unsigned low = from->first_octave, high = low + from->octaves - 1u;

	return into->octaves ? tally_reserve(into, arena, low, high) : tally_fill_buckets(into, arena, low, high);
}

void dw_tally_merge(struct dw_tally *into, struct dw_arena *arena, const struct dw_tally *from, double ratio)
{
	/* Also if `from` counts no calls: another worker may count them, or they belong to another path. */
	into->total += tally_scale(from->total, ratio);
	into->self += tally_scale(from->self, ratio);
	if (!from->count)
		return;
	if (from->octaves && arena && tally_make_space(into, arena, from))
		tally_merge_buckets(into, arena, from, ratio);
	for (uint32_t i = 0; !from->octaves && i < from->sample_count; i++)
		dw_tally_add_slow(into, arena, tally_scale(from->samples[i], ratio));
	uint64_t min = tally_scale(from->min, ratio), max = tally_scale(from->min + from->spread, ratio);
	uint64_t old_max = into->min + into->spread;

	into->min = !into->count || min < into->min ? min : into->min;
	into->spread = (max > old_max ? max : old_max) - into->min;
	into->count += from->count;
	into->open += from->open;
	into->cut += from->cut;
}

static uint64_t tally_clamp(const struct dw_tally *tally, uint64_t value)
{
	uint64_t max = tally->min + tally->spread;

	return value < tally->min ? tally->min : value > max ? max : value;
}

uint64_t dw_tally_quantile(const struct dw_tally *tally, double q)
{
	uint64_t held = tally->sample_count, rank, seen = 0;

	if (tally->octaves)
		held = tally->count;
	if (!held)
		return tally->min;
	/* Nearest rank: the least value such that at least a fraction q of all values are at most
	 * it. */
	rank = (uint64_t)(q * (double)held);
	rank = (double)rank < q * (double)held ? rank + 1 : rank;
	rank = rank ? rank : 1;
	if (!tally->octaves) {
		uint64_t sorted[DW_TALLY_EXACT];

		memcpy(sorted, tally->samples, held * sizeof *sorted);
		qsort(sorted, held, sizeof *sorted, dw_compare_u64);
		return sorted[rank - 1];
	}
	for (unsigned i = 0; i < tally->octaves * DW_TALLY_BUCKETS; i++) {
		seen += tally->buckets[i];
		if (seen >= rank)
			return tally_clamp(tally, tally_bucket_middle(tally->first_octave + i / DW_TALLY_BUCKETS,
			                                              i % DW_TALLY_BUCKETS));
	}
	return tally->min + tally->spread;
}

void dw_tally_stat(const struct dw_tally *tally, double ns_per_tick, struct dw_stat *stat)
{
	bool known = !tally->count || tally->sample_count || tally->octaves;

	*stat = (struct dw_stat){
		.count = tally->count,
		.total_ns = tally_scale(tally->total, ns_per_tick),
		.self_ns = tally_scale(tally->self, ns_per_tick),
		.min_ns = tally_scale(tally->min, ns_per_tick),
		.max_ns = tally_scale(tally->min + tally->spread, ns_per_tick),
		.p50_ns = known ? tally_scale(dw_tally_quantile(tally, 0.50), ns_per_tick) : DW_NOT_KEPT,
		.p99_ns = known ? tally_scale(dw_tally_quantile(tally, 0.99), ns_per_tick) : DW_NOT_KEPT,
		.open = tally->open,
		.cut = tally->cut,
	};
}

void dw_tally_stat_nested(const struct dw_tally *tally, uint64_t nested, double ns_per_tick, struct dw_stat *stat)
{
	dw_tally_stat(tally, ns_per_tick, stat);
	stat->nested_ns = tally_scale(nested, ns_per_tick);
	if (stat->nested_ns > stat->total_ns)
		stat->nested_ns = stat->total_ns;
	stat->total_ns -= stat->nested_ns;
}
