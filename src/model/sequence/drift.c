/*
 * Tests whether the times of a position rise or fall over the run.
 *
 * Up to DW_DRIFT_SAMPLES iterations are sampled. Their distances are irregular, so that a periodic
 * event does not look like a trend. The samples are divided into DW_DRIFT_BLOCKS blocks. The
 * medians of the blocks are tested for a trend with the Mann-Kendall test (corrected for ties). The
 * size of the trend is the Theil-Sen slope. Both tolerate outliers. A drift is marked if chance
 * makes such a trend in less than one of a hundred sequences (0.01 / positions) and if it is at
 * least 5% of the median over the run.
 */
#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "model/sequence/drift.h"

#define LEAST_BLOCKS 10u
#define LEAST_CHANGE 0.05
#define CHANCE 0.01

/* Pseudorandom bits, which are the same in every run. */
static uint64_t drift_mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
	value = (value ^ value >> 27) * 0x94d049bb133111ebu;
	return value ^ value >> 31;
}

uint32_t dw_drift_choose(uint64_t total, uint64_t chosen[DW_DRIFT_SAMPLES])
{
	if (total <= DW_DRIFT_SAMPLES) {
		for (uint64_t i = 0; i < total; i++)
			chosen[i] = i;
		return (uint32_t)total;
	}
	/* Divides the iterations into DW_DRIFT_SAMPLES intervals and chooses a random one of each. */
	for (uint64_t i = 0; i < DW_DRIFT_SAMPLES; i++) {
		uint64_t from = i * total / DW_DRIFT_SAMPLES, to = (i + 1) * total / DW_DRIFT_SAMPLES;

		chosen[i] = from + drift_mix(i + 1) % (to - from);
	}
	return DW_DRIFT_SAMPLES;
}

/* Sorts the values. */
static double drift_median(double *values, size_t count)
{
	dw_sort_numbers(values, count);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

struct block {
	double time; /* its position in the run, in blocks */
	double value;
};

static uint32_t drift_take_blocks(const float *samples, uint32_t count, struct block *blocks)
{
	uint32_t wanted = count < DW_DRIFT_BLOCKS ? count : DW_DRIFT_BLOCKS, taken = 0;

	for (uint32_t b = 0; b < wanted; b++) {
		double values[DW_DRIFT_EACH + 1];
		size_t held = 0;

		for (uint32_t i = b * count / wanted; i < (b + 1) * count / wanted; i++)
			if (samples[i] > 0)
				values[held++] = (double)samples[i];
		if (held)
			blocks[taken++] = (struct block){ (double)b, drift_median(values, held) };
	}
	return taken;
}

/* The probability that chance alone makes at least such a trend, by the Mann-Kendall test. */
static double drift_chance(const struct block *blocks, uint32_t count)
{
	double sum = 0, variance = (double)count * (count - 1) * (2.0 * count + 5);
	double sorted[DW_DRIFT_BLOCKS];

	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = blocks[i].value;
		for (uint32_t j = i + 1; j < count; j++)
			sum += (blocks[j].value > blocks[i].value) - (blocks[j].value < blocks[i].value);
	}
	dw_sort_numbers(sorted, count);
	for (uint32_t i = 0, same; i < count; i += same) {
		for (same = 1; i + same < count && !(sorted[i + same] > sorted[i]);)
			same++;
		variance -= (double)same * (same - 1) * (2.0 * same + 5);
	}
	if (!(variance > 0))
		return 1;
	sum = fabs(sum) > 1 ? fabs(sum) - 1 : 0;
	return erfc(sum / sqrt(variance / 18) / sqrt(2));
}

static double drift_slope(const struct block *blocks, uint32_t count)
{
	double slopes[DW_DRIFT_BLOCKS * (DW_DRIFT_BLOCKS - 1) / 2];
	size_t held = 0;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++)
			slopes[held++] = (blocks[j].value - blocks[i].value) / (blocks[j].time - blocks[i].time);
	return drift_median(slopes, held);
}

double dw_drift_of(const float samples[DW_DRIFT_SAMPLES], uint32_t count, uint32_t tests, bool *drifts)
{
	struct block blocks[DW_DRIFT_BLOCKS];
	uint32_t held = drift_take_blocks(samples, count, blocks);
	double values[DW_DRIFT_BLOCKS], change;

	*drifts = false;
	if (held < LEAST_BLOCKS)
		return NAN;
	for (uint32_t i = 0; i < held; i++)
		values[i] = blocks[i].value;
	if (drift_chance(blocks, held) >= CHANCE / (tests ? tests : 1))
		return 0;
	change = drift_slope(blocks, held) * (blocks[held - 1].time - blocks[0].time) / drift_median(values, held);
	*drifts = fabs(change) >= LEAST_CHANGE;
	return change;
}
