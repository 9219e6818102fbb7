/*
 * Fits a two-layer model of tides in C.
 *
 * Planted: nothing. Truth: time of choosing the rows of a step, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdio.h>

enum { SECONDS = 3, ROWS = 4096, BATCH = 256, INPUTS = 192, UNITS = 256 };

static float rows[ROWS][INPUTS], first[UNITS][INPUTS], second[UNITS];
static float hidden[BATCH][UNITS], errors[BATCH], slopes[UNITS][INPUTS];
static int chosen[BATCH];

static void choose(int step)
{
	for (int row = 0; row < BATCH; row++)
		chosen[row] = (step * 977 + row * 131) % ROWS;
}

static void enter(void)
{
	DWELL_OP("enter");
	for (int row = 0; row < BATCH; row++)
		for (int unit = 0; unit < UNITS; unit++) {
			float sum = 0;

			for (int input = 0; input < INPUTS; input++)
				sum += rows[chosen[row]][input] * first[unit][input];
			hidden[row][unit] = sum > 0 ? sum : 0;
		}
}

static void leave(void)
{
	DWELL_OP("leave");
	for (int row = 0; row < BATCH; row++) {
		errors[row] = -(float)(chosen[row] % 7) / 7;
		for (int unit = 0; unit < UNITS; unit++)
			errors[row] += hidden[row][unit] * second[unit];
	}
}

static void differentiate(void)
{
	DWELL_OP("differentiate");
	for (int unit = 0; unit < UNITS; unit++)
		for (int input = 0; input < INPUTS; input++)
			slopes[unit][input] = 0;
	for (int row = 0; row < BATCH; row++)
		for (int unit = 0; unit < UNITS; unit++) {
			float slope = hidden[row][unit] > 0 ? errors[row] * second[unit] : 0;

			for (int input = 0; input < INPUTS; input++)
				slopes[unit][input] += slope * rows[chosen[row]][input];
		}
}

static void descend(void)
{
	DWELL_OP("sgd");
	for (int unit = 0; unit < UNITS; unit++)
		for (int input = 0; input < INPUTS; input++)
			first[unit][input] -= 1e-6f * slopes[unit][input];
}

int main(void)
{
	double began, loop_s, choosing_s = 0;
	int steps = 0;

	for (int row = 0; row < ROWS; row++)
		for (int input = 0; input < INPUTS; input++)
			rows[row][input] = (float)((row * 29 + input * 7) % 97) / 97;
	for (int unit = 0; unit < UNITS; unit++) {
		second[unit] = (float)(unit % 5) / 50;
		for (int input = 0; input < INPUTS; input++)
			first[unit][input] = (float)((unit * 3 + input) % 11) / 1100;
	}
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;

		DWELL_STEP();
		before = now_s();
		choose(steps);
		choosing_s += now_s() - before;
		{
			DWELL_ZONE("forward");
			enter();
			leave();
		}
		{
			DWELL_ZONE("backward");
			differentiate();
		}
		{
			DWELL_ZONE("optimizer");
			descend();
		}
	}
	loop_s = now_s() - began;
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", choosing_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
