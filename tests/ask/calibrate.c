/*
 * How often dwell diff is wrong: draws series of runs from measured ones and compares them.
 *
 *     calibrate DRAWS < FIGURES
 *
 * Each line of FIGURES is "SIDE NANOSECONDS", where SIDE is 0 for a run of the program and 1 for one
 * with a planted change. For each number of runs a side it prints, as columns: the runs; the share of
 * false alarms, where both sides are drawn from the runs of side 0 without a common run; the share in
 * which the planted change was found; and the median of the smallest detectable change. With one run a
 * side there is no verdict: the last column is what 95 of 100 pairs of runs differ by at most.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "diff/diff.h"

#define CALIBRATE_MOST 1000

static double values[2][CALIBRATE_MOST];
static size_t counts[2];
static uint64_t calibrate_state = 88172645463325252u;

static size_t calibrate_random(size_t below)
{
	calibrate_state ^= calibrate_state << 13;
	calibrate_state ^= calibrate_state >> 7;
	calibrate_state ^= calibrate_state << 17;
	return (size_t)(calibrate_state >> 11) % below;
}

/* Moves `count` values, drawn without repetition, to the front. */
static void calibrate_draw(double *from, size_t all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t other = i + calibrate_random(all - i);
		double value = from[i];

		from[i] = from[other];
		from[other] = value;
	}
}

static int calibrate_order(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double calibrate_quantile(double *list, size_t count, double q)
{
	qsort(list, count, sizeof *list, calibrate_order);
	return list[(size_t)(q * (double)(count - 1))];
}

static void calibrate_series(size_t runs, size_t draws)
{
	double *found = calloc(draws, sizeof *found);
	size_t alarms = 0, hits = 0;

	if (!found)
		exit(1);
	for (size_t i = 0; i < draws; i++) {
		struct dw_diff_estimate at;

		calibrate_draw(values[0], counts[0], 2 * runs);
		calibrate_draw(values[1], counts[1], runs);
		at = dw_diff_estimate(values[0], runs, values[0] + runs, runs);
		alarms += at.low > 0 || at.high < 0;
		found[i] = runs > 1 ? at.detectable / at.before : fabs(at.difference) / at.before;
		at = dw_diff_estimate(values[0], runs, values[1], runs);
		hits += at.low > 0;
	}
	printf("%zu %.4f %.4f %.5f\n", runs, (double)alarms / (double)draws, (double)hits / (double)draws,
	       calibrate_quantile(found, draws, runs > 1 ? 0.5 : 0.95));
	free(found);
}

int main(int count, char **arguments)
{
	static const size_t series[] = { 1, 3, 5, 10 };
	size_t draws = count > 1 ? (size_t)atol(arguments[1]) : 10000;
	unsigned side;
	double value;

	while (scanf("%u %lf", &side, &value) == 2 && side < 2 && counts[side] < CALIBRATE_MOST)
		values[side][counts[side]++] = value;
	for (size_t i = 0; i < sizeof series / sizeof *series; i++)
		if (2 * series[i] <= counts[0] && series[i] <= counts[1])
			calibrate_series(series[i], draws);
	return 0;
}
