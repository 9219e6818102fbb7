/*
 * A regression of crop yields whose update solves a system of equations.
 *
 * Planted: the update factorises a dense matrix for each group of weights in each step.
 * Truth: time of the update, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 5, GROUPS = 3, SIZE = 144, FIELDS = 64 };

static float weights[GROUPS][SIZE][SIZE], slopes[GROUPS][SIZE][SIZE], fields[FIELDS][SIZE], values[FIELDS][SIZE];
static float curvature[SIZE][SIZE], factor[SIZE][SIZE];

static void forward(int group)
{
	DWELL_ZONE("forward");
	for (int field = 0; field < FIELDS; field++)
		for (int unit = 0; unit < SIZE; unit++) {
			float sum = 0;

			for (int at = 0; at < SIZE; at++)
				sum += weights[group][unit][at] * fields[field][at];
			values[field][unit] = sum;
		}
}

static void backward(int group)
{
	DWELL_ZONE("backward");
	for (int field = 0; field < FIELDS; field++)
		for (int unit = 0; unit < SIZE; unit++)
			for (int at = 0; at < SIZE; at++)
				slopes[group][unit][at] += (values[field][unit] - 1) * fields[field][at] / FIELDS;
}

static void update(int group)
{
	DWELL_ZONE("optimizer");
	for (int i = 0; i < SIZE; i++)
		for (int k = 0; k <= i; k++)
			curvature[i][k] = 0.95f * curvature[i][k] + slopes[group][i][k] * slopes[group][k][i] * 1e-3f + (i == k) * 2.0f;
	for (int i = 0; i < SIZE; i++)
		for (int k = 0; k <= i; k++) {
			float sum = curvature[i][k];

			for (int at = 0; at < k; at++)
				sum -= factor[i][at] * factor[k][at];
			factor[i][k] = i == k ? sqrtf(sum > 0.1f ? sum : 0.1f) : sum / factor[k][k];
		}
	for (int column = 0; column < SIZE; column += 3)
		for (int i = 0; i < SIZE; i++) {
			float sum = slopes[group][i][column];

			for (int at = 0; at < i; at++)
				sum -= factor[i][at] * weights[group][at][column] * 1e-3f;
			weights[group][i][column] -= 1e-4f * sum / factor[i][i];
		}
	for (int i = 0; i < SIZE; i++)
		for (int k = 0; k < SIZE; k++)
			slopes[group][i][k] = 0;
}

int main(void)
{
	struct watch watch;

	srand(6);
	for (int field = 0; field < FIELDS; field++)
		for (int at = 0; at < SIZE; at++)
			fields[field][at] = (float)(rand() % 100) / 1000;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int group = 0; group < GROUPS; group++) {
			forward(group);
			backward(group);
		}
		planted_begin(&watch);
		for (int group = 0; group < GROUPS; group++)
			update(group);
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
