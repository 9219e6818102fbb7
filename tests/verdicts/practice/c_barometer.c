/*
 * A forecast of air pressure in C, with one step for each reading of a sensor.
 *
 * Planted: each step waits 2 ms for the sensor.
 * Truth: time of that wait, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>

enum { SECONDS = 3, READINGS = 3000, LAGS = 800 };

static float history[READINGS + LAGS], weights[LAGS], slopes[LAGS];

static float predict(int at)
{
	float sum = 0;

	for (int lag = 0; lag < LAGS; lag++)
		sum += history[at + lag] * weights[lag];
	return sum;
}

static float errors(void)
{
	float loss = 0;

	DWELL_OP("differences");
	for (int lag = 0; lag < LAGS; lag++)
		slopes[lag] = 0;
	for (int at = 0; at < READINGS - 1; at++) {
		float error = predict(at) - history[at + LAGS];

		loss += error * error;
		for (int lag = 0; lag < LAGS; lag++)
			slopes[lag] += error * history[at + lag];
	}
	return loss;
}

static void descend(void)
{
	DWELL_OP("descend");
	for (int lag = 0; lag < LAGS; lag++)
		weights[lag] -= 1e-7f * slopes[lag];
}

int main(void)
{
	struct timespec pause = { 0, 2000000 };
	double began, loop_s, waited_s = 0;
	float loss = 0;
	int steps = 0;

	for (int at = 0; at < READINGS + LAGS; at++)
		history[at] = sinf((float)at * 0.05f);
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;

		DWELL_STEP();
		before = now_s();
		nanosleep(&pause, NULL);
		waited_s += now_s() - before;
		{
			DWELL_ZONE("backward");
			loss = errors();
		}
		{
			DWELL_ZONE("optimizer");
			descend();
		}
	}
	loop_s = now_s() - began;
	fprintf(stderr, "loss %g\n", (double)loss);
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
	       waited_s / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
