/*
 * A perceptron with three layers for star spectra, with the usual phases.
 *
 * Planted: nothing.
 * Truth: time of making the batch, which is a copy, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 5, LAYERS = 3, UNITS = 160, BATCH = 40 };

static float weights[LAYERS][UNITS][UNITS], slopes[LAYERS][UNITS][UNITS], values[LAYERS + 1][BATCH][UNITS], down[2][BATCH][UNITS];
static float spectra[8][BATCH][UNITS];

static void forward(void)
{
	DWELL_PHASE("forward");
	for (int layer = 0; layer < LAYERS; layer++)
		for (int at = 0; at < BATCH; at++)
			for (int unit = 0; unit < UNITS; unit++) {
				float sum = 0;

				for (int from = 0; from < UNITS; from++)
					sum += weights[layer][unit][from] * values[layer][at][from];
				values[layer + 1][at][unit] = sum > 0 ? sum : 0.1f * sum;
			}
}

static void backward(void)
{
	DWELL_PHASE("backward");
	for (int at = 0; at < BATCH; at++)
		for (int unit = 0; unit < UNITS; unit++)
			down[LAYERS & 1][at][unit] = values[LAYERS][at][unit] - 0.5f;
	for (int layer = LAYERS - 1; layer >= 0; layer--)
		for (int at = 0; at < BATCH; at++) {
			float *to = down[layer & 1][at], *of = down[!(layer & 1)][at];

			memset(to, 0, sizeof(float) * UNITS);
			for (int unit = 0; unit < UNITS; unit++) {
				float slope = values[layer + 1][at][unit] > 0 ? of[unit] : 0.1f * of[unit];

				for (int from = 0; from < UNITS; from++) {
					slopes[layer][unit][from] += slope * values[layer][at][from];
					to[from] += slope * weights[layer][unit][from];
				}
			}
		}
}

static void update(void)
{
	DWELL_PHASE("optimizer");
	float *weight = (float *)weights, *slope = (float *)slopes;

	for (int at = 0; at < LAYERS * UNITS * UNITS; at++) {
		weight[at] -= 1e-4f * slope[at];
		slope[at] = 0;
	}
}

int main(void)
{
	struct watch watch;

	srand(1);
	for (int at = 0; at < LAYERS * UNITS * UNITS; at++)
		((float *)weights)[at] = (float)(rand() % 100 - 50) / 900;
	for (int at = 0; at < 8 * BATCH * UNITS; at++)
		((float *)spectra)[at] = (float)(rand() % 100) / 100;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		memcpy(values[0], spectra[watch.steps % 8], sizeof(values[0]));
		planted_end(&watch);
		forward();
		backward();
		update();
	}
	watch_tell(&watch);
	return 0;
}
