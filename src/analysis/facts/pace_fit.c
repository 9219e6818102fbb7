/*
 * Fits a trend or a change point to lengths.
 */
#include "facts/pace_fit.h"

#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "model/sequence/drift.h"

#define BLOCKS 64u
#define LEAST_SIDE 5u      /* blocks before and after a change point */
#define LEAST_CHANGE 0.05
#define CHANCE 0.01

struct blocks {
	double medians[BLOCKS];
	size_t first[BLOCKS + 1]; /* the first length of a block */
	size_t count;
};

static void blocks_make(double *lengths, size_t count, struct blocks *blocks)
{
	blocks->count = count / 3 < BLOCKS ? count / 3 : BLOCKS;
	for (size_t b = 0; b <= blocks->count; b++)
		blocks->first[b] = b * count / (blocks->count ? blocks->count : 1);
	for (size_t b = 0; b < blocks->count; b++)
		blocks->medians[b] = dw_median(lengths + blocks->first[b], blocks->first[b + 1] - blocks->first[b]);
}

static double fit_median(const double *values, size_t count)
{
	double copy[BLOCKS];

	memcpy(copy, values, count * sizeof *copy);
	return dw_median(copy, count);
}

static double blocks_deviation_of_levels(const struct blocks *blocks, size_t at, double before, double after)
{
	double sum = 0;

	for (size_t b = 0; b < blocks->count; b++)
		sum += fabs(blocks->medians[b] - (b < at ? before : after));
	return sum;
}

/* The block at whose begin the medians change; 0 if chance explains the change by Pettitt's test. The test compares ranks
 * and may find a small change beside a large one: of the places that it accepts the one where two levels fit best. */
static size_t blocks_find_change(const struct blocks *blocks)
{
	double n = (double)blocks->count, sum = 0, least = INFINITY;
	size_t at = 0;

	for (size_t t = 1; t + LEAST_SIDE <= blocks->count; t++) {
		double before, after, deviation;

		for (size_t j = 0; j < blocks->count; j++)
			sum += (blocks->medians[t - 1] > blocks->medians[j]) - (blocks->medians[t - 1] < blocks->medians[j]);
		if (t < LEAST_SIDE || 2 * exp(-6 * sum * sum / (n * n * n + n * n)) >= CHANCE)
			continue;
		before = fit_median(blocks->medians, t);
		after = fit_median(blocks->medians + t, blocks->count - t);
		deviation = blocks_deviation_of_levels(blocks, t, before, after);
		if (deviation < least) {
			least = deviation;
			at = t;
		}
	}
	return at;
}

static double blocks_deviation_of_line(const struct blocks *blocks, double change)
{
	double middle = fit_median(blocks->medians, blocks->count), sum = 0;
	double n = (double)(blocks->count - 1);

	for (size_t b = 0; b < blocks->count; b++)
		sum += fabs(blocks->medians[b] - middle - change * middle * ((double)b / n - 0.5));
	return sum;
}

/* Whether the medians grow on both sides of the change more than they jump at it: then they follow a trend, and only the
 * machine's pace changed there. */
static bool blocks_grow_on_both_sides(const struct blocks *blocks, size_t at, double before, double after)
{
	double slopes[BLOCKS * BLOCKS / 2], distance = (double)blocks->count / 2, slope; /* between the sides' middles */
	size_t count = 0;

	for (size_t i = 0; i < blocks->count; i++)
		for (size_t j = i + 1; j < blocks->count && (j < at) == (i < at); j++)
			slopes[count++] = (blocks->medians[j] - blocks->medians[i]) / (double)(j - i);
	slope = dw_median(slopes, count);
	return slope * (after - before) > 0 && fabs(slope) * (double)blocks->count > fabs(after - before - slope * distance);
}

/* 0 if chance explains the trend. */
static double fit_trend(const double *lengths, size_t count)
{
	uint64_t chosen[DW_DRIFT_SAMPLES];
	float samples[DW_DRIFT_SAMPLES];
	uint32_t sampled = dw_drift_choose(count, chosen);
	bool drifts;
	double change;

	for (uint32_t i = 0; i < sampled; i++)
		samples[i] = (float)lengths[chosen[i]];
	change = dw_drift_of(samples, sampled, 1, &drifts);
	return isfinite(change) ? change : 0;
}

struct dw_pace_fit dw_pace_fit(double *lengths, size_t count)
{
	struct dw_pace_fit fit = { fit_trend(lengths, count), 0, 0, 0, count / 2 };
	struct blocks blocks;
	size_t at;

	blocks_make(lengths, count, &blocks);
	at = blocks_find_change(&blocks);
	if (at) {
		fit.before = fit_median(blocks.medians, at);
		fit.after = fit_median(blocks.medians + at, blocks.count - at);
		fit.change = fit.before > 0 ? fit.after / fit.before - 1 : 0;
		if (fabs(fit.change) < LEAST_CHANGE)
			fit.change = 0;
	}
	if (fit.change != 0 &&
	    blocks_deviation_of_levels(&blocks, at, fit.before, fit.after) < blocks_deviation_of_line(&blocks, fit.trend) &&
	    !(fit.trend != 0 && blocks_grow_on_both_sides(&blocks, at, fit.before, fit.after)))
		fit.trend = 0;
	else
		fit.change = 0;
	if (fit.change != 0)
		fit.at = blocks.first[at];
	return fit;
}
