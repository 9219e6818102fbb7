/*
 * How often dwell diff is wrong: draws series of runs from measured ones and compares them.
 *
 *     calibrate DRAWS [FAST-DRAWS] < FIGURES
 *
 * Each line of FIGURES is "SIDE NANOSECONDS [FAST]", where SIDE is 0 for a run of the program and 1
 * for one with a planted change, and FAST is the fast step (else the same figure is used for both).
 * The runs were recorded in turn: two of side 0, then one of side 1. A draw takes some of these
 * rounds, as someone does who records in turn: false alarms are verdicts between the two runs of
 * side 0, and the planted change is to be found between one of them and the run of side 1.
 *
 * For each number of runs a side it prints, as columns: the runs; of the time per step the share of
 * false alarms, the share in which the planted change was found, and the median of the smallest
 * detectable change; of the fast steps (diff.h) the same two shares, and the change that is found in
 * 95 of 100 draws. With one run a side there is no verdict: the changes are what 95 of 100 pairs of
 * runs differ by at most. "nan": so few runs have no verdict.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "diff/diff.h"

#define CALIBRATE_MOST 1000
#define CALIBRATE_RUNS 10 /* most a side */


enum { PACE, FAST, FIGURES };
static double values[FIGURES][2][CALIBRATE_MOST];
static size_t counts[2];
static size_t rounds[CALIBRATE_MOST], round_count;
static uint64_t calibrate_state = 88172645463325252u;

static size_t calibrate_random(size_t below)
{
	calibrate_state ^= calibrate_state << 13;
	calibrate_state ^= calibrate_state >> 7;
	calibrate_state ^= calibrate_state << 17;
	return (size_t)(calibrate_state >> 11) % below;
}

/* Moves `count` rounds, drawn without repetition, to the front. */
static void calibrate_draw(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t other = i + calibrate_random(round_count - i), kept = rounds[i];

		rounds[i] = rounds[other];
		rounds[other] = kept;
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

struct calibrate_draw {
	double one[FIGURES][CALIBRATE_RUNS], other[FIGURES][CALIBRATE_RUNS], planted[FIGURES][CALIBRATE_RUNS];
};

static void calibrate_take(struct calibrate_draw *draw, size_t runs)
{
	calibrate_draw(runs);
	for (size_t i = 0; i < runs; i++) {
		size_t first = 2 * rounds[i] + calibrate_random(2), second = 4 * rounds[i] + 1 - first;

		for (unsigned figure = 0; figure < FIGURES; figure++) {
			draw->one[figure][i] = values[figure][0][first];
			draw->other[figure][i] = values[figure][0][second];
			draw->planted[figure][i] = values[figure][1][rounds[i]];
		}
	}
}

static struct dw_diff_estimate calibrate_fast(const double *before, const double *after, size_t runs)
{
	struct dw_diff_estimate at;

	if (!dw_diff_estimate_lowest(before, runs, after, runs, true, &at))
		exit(1);
	return at;
}

struct calibrate_counts {
	size_t draws, alarms, hits;
	double *found;
};

static void calibrate_count(struct calibrate_counts *to, const struct dw_diff_estimate *same,
                            const struct dw_diff_estimate *planted, double found)
{
	to->alarms += same->low > 0 || same->high < 0;
	to->hits += planted->low > 0;
	to->found[to->draws++] = found;
}

static void calibrate_print(struct calibrate_counts *counted, bool verdict, double quantile)
{
	double draws = (double)counted->draws;

	printf(" %.4f %.4f %.5f", verdict ? (double)counted->alarms / draws : NAN,
	       verdict ? (double)counted->hits / draws : NAN,
	       calibrate_quantile(counted->found, counted->draws, quantile));
	free(counted->found);
}

static void calibrate_series(size_t runs, size_t draws, size_t fast_draws)
{
	struct calibrate_counts pace = { .found = calloc(draws, sizeof(double)) };
	struct calibrate_counts fast = { .found = calloc(draws, sizeof(double)) };
	struct calibrate_draw draw;

	if (!pace.found || !fast.found)
		exit(1);
	for (size_t i = 0; i < draws; i++) {
		struct dw_diff_estimate same, planted;

		calibrate_take(&draw, runs);
		same = dw_diff_estimate(draw.one[PACE], runs, draw.other[PACE], runs);
		planted = dw_diff_estimate(draw.one[PACE], runs, draw.planted[PACE], runs);
		calibrate_count(&pace, &same, &planted,
		                (runs > 1 ? same.detectable : fabs(same.difference)) / same.before);
		if (i >= fast_draws)
			continue;
		same = calibrate_fast(draw.one[FAST], draw.other[FAST], runs);
		planted = calibrate_fast(draw.one[FAST], draw.planted[FAST], runs);
		/* A change moves the interval, so one that exceeds -low is found. */
		calibrate_count(&fast, &same, &planted,
		                (runs > 1 ? -same.low : fabs(same.difference)) / same.before);
	}
	printf("%zu", runs);
	calibrate_print(&pace, runs > 1, runs > 1 ? 0.5 : 0.95);
	calibrate_print(&fast, dw_diff_can_permute(runs, runs), 0.95);
	printf("\n");
}

int main(int count, char **arguments)
{
	static const size_t series[] = { 1, 3, 5, CALIBRATE_RUNS };
	size_t draws = count > 1 ? (size_t)atol(arguments[1]) : 10000;
	size_t fast_draws = count > 2 ? (size_t)atol(arguments[2]) : 1000;
	char line[256];
	unsigned side;
	double pace, fast;

	while (fgets(line, sizeof line, stdin)) {
		int found = sscanf(line, "%u %lf %lf", &side, &pace, &fast);

		if (found < 2 || side > 1 || counts[side] == CALIBRATE_MOST)
			break;
		values[PACE][side][counts[side]] = pace;
		values[FAST][side][counts[side]++] = found > 2 ? fast : pace;
	}
	round_count = counts[0] / 2 < counts[1] ? counts[0] / 2 : counts[1];
	for (size_t i = 0; i < round_count; i++)
		rounds[i] = i;
	for (size_t i = 0; i < sizeof series / sizeof *series; i++)
		if (series[i] <= round_count)
			calibrate_series(series[i], draws, fast_draws);
	return 0;
}
