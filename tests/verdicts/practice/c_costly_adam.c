/*
 * A text model in C with an Adam of its own.
 *
 * Planted: the update calls pow() and sqrt() in double precision for each weight.
 * Truth: time of the update, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 6, BATCH = 96, INPUTS = 320, OUTPUTS = 256 };

static float inputs[BATCH][INPUTS], errors[BATCH][OUTPUTS];
static float weights[OUTPUTS][INPUTS], slopes[OUTPUTS][INPUTS], mean[OUTPUTS][INPUTS],
    square[OUTPUTS][INPUTS];

static void forward(void)
{
	DWELL_ZONE("forward");
	for (int item = 0; item < BATCH; item++)
		for (int output = 0; output < OUTPUTS; output++) {
			float sum = -(float)(item == output);

			for (int at = 0; at < INPUTS; at++)
				sum += weights[output][at] * inputs[item][at];
			errors[item][output] = sum;
		}
}

static void backward(void)
{
	DWELL_ZONE("backward");
	for (int item = 0; item < BATCH; item++)
		for (int output = 0; output < OUTPUTS; output++)
			for (int at = 0; at < INPUTS; at++)
				slopes[output][at] += errors[item][output] * inputs[item][at];
}

static void adam(int step)
{
	DWELL_ZONE("optimizer");
	for (int output = 0; output < OUTPUTS; output++)
		for (int at = 0; at < INPUTS; at++) {
			double slope = slopes[output][at];

			mean[output][at] = (float)(0.9 * mean[output][at] + 0.1 * slope);
			square[output][at] = (float)(0.999 * square[output][at] + 0.001 * pow(slope, 2.0));
			weights[output][at] -= (float)(1e-4 * mean[output][at] / (1 - pow(0.9, step)) /
			                               (sqrt(square[output][at] / (1 - pow(0.999, step))) +
			                                pow(10.0, -8.0)));
			slopes[output][at] = 0;
		}
}

int main(void)
{
	struct watch watch;

	for (int item = 0; item < BATCH; item++)
		for (int at = 0; at < INPUTS; at++)
			inputs[item][at] = (float)((item * 7 + at * 13) % 29) / 29;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		forward();
		backward();
		planted_begin(&watch);
		adam(watch.steps + 1);
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
