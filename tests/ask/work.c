/*
 * A training loop of known work, for tests and the calibration of dwell diff.
 *
 *     work [STEPS [PERCENT]]
 *
 * Trains a network of two layers in plain C. With PERCENT, the forward pass of each step computes so
 * much more that the step has PERCENT percent more work.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dwell/probe.h"

#define WORK_WIDTH 128
#define WORK_ROUNDS 400 /* products of a step, a third each of forward, backward and optimizer */

static float weights[WORK_WIDTH][WORK_WIDTH], inputs[WORK_WIDTH], outputs[WORK_WIDTH];

static void work_multiply(int rounds)
{
	for (int round = 0; round < rounds; round++)
		for (int row = 0; row < WORK_WIDTH; row++) {
			float sum = 0;

			for (int column = 0; column < WORK_WIDTH; column++)
				sum += weights[row][column] * inputs[column];
			outputs[row] = sum * 0.01f + (float)round * 1e-9f;
		}
}

static void work_step(int planted)
{
	DWELL_STEP();
	{
		DWELL_ZONE("forward");
		DWELL_OP("multiply");
		work_multiply(WORK_ROUNDS / 2 + planted);
	}
	{
		DWELL_ZONE("backward");
		DWELL_OP("multiply_backward");
		work_multiply(WORK_ROUNDS / 2);
	}
}

int main(int count, char **arguments)
{
	int steps = count > 1 ? atoi(arguments[1]) : 100;
	int percent = count > 2 ? atoi(arguments[2]) : 0;
	float sum = 0;

	for (int i = 0; i < WORK_WIDTH; i++) {
		inputs[i] = (float)i / WORK_WIDTH;
		for (int column = 0; column < WORK_WIDTH; column++)
			weights[i][column] = (float)((i * 7 + column * 3) % 11) - 5;
	}
	for (int step = 0; step < steps; step++) {
		work_step(WORK_ROUNDS * percent / 100);
		sum += outputs[step % WORK_WIDTH];
	}
	printf("%g\n", (double)sum);
	return 0;
}
