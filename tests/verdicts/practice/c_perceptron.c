/*
 * A perceptron with two layers in C; every part of a step has its zone and its operators.
 *
 * Planted: nothing.
 * Truth: the time of a step outside the zones, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdio.h>

enum { SECONDS = 9, BATCH = 128, INPUTS = 384, HIDDEN = 256, OUTPUTS = 64 };

static float input[BATCH][INPUTS], hidden[BATCH][HIDDEN], output[BATCH][OUTPUTS];
static float first[INPUTS][HIDDEN], second[HIDDEN][OUTPUTS];
static float first_slope[INPUTS][HIDDEN], second_slope[HIDDEN][OUTPUTS], hidden_slope[BATCH][HIDDEN];

/* c[m][n] = a[m][k] b[k][n] */
static void multiply(int m, int n, int k, const float *a, const float *b, float *c)
{
	DWELL_OP("multiply");
	for (int row = 0; row < m; row++) {
		for (int column = 0; column < n; column++)
			c[row * n + column] = 0;
		for (int inner = 0; inner < k; inner++)
			for (int column = 0; column < n; column++)
				c[row * n + column] += a[row * k + inner] * b[inner * n + column];
	}
}

/* c[m][n] = a[k][m]' b[k][n] */
static void multiply_transposed(int m, int n, int k, const float *a, const float *b, float *c)
{
	DWELL_OP("multiply_transposed");
	for (int row = 0; row < m; row++) {
		for (int column = 0; column < n; column++)
			c[row * n + column] = 0;
		for (int inner = 0; inner < k; inner++)
			for (int column = 0; column < n; column++)
				c[row * n + column] += a[inner * m + row] * b[inner * n + column];
	}
}

static void rectify(void)
{
	DWELL_OP("rectify");
	for (int row = 0; row < BATCH; row++)
		for (int column = 0; column < HIDDEN; column++)
			if (hidden[row][column] < 0)
				hidden[row][column] = 0;
}

static void hidden_gradient(void)
{
	DWELL_OP("hidden_gradient");
	for (int row = 0; row < BATCH; row++)
		for (int column = 0; column < HIDDEN; column++) {
			float sum = 0;

			for (int each = 0; each < OUTPUTS; each++)
				sum += output[row][each] * second[column][each];
			hidden_slope[row][column] = hidden[row][column] > 0 ? sum : 0;
		}
}

static void descend(float *weights, const float *slope, int count)
{
	DWELL_OP("sgd");
	for (int each = 0; each < count; each++)
		weights[each] -= 1e-6f * slope[each];
}

int main(void)
{
	double began, loop_s, zones_s = 0;
	int steps = 0;

	for (int row = 0; row < BATCH; row++)
		for (int column = 0; column < INPUTS; column++)
			input[row][column] = (float)((row * 13 + column * 7) % 29) / 29;
	for (int each = 0; each < INPUTS * HIDDEN; each++)
		first[each / HIDDEN][each % HIDDEN] = (float)(each % 11 - 5) * 0.01f;
	for (int each = 0; each < HIDDEN * OUTPUTS; each++)
		second[each / OUTPUTS][each % OUTPUTS] = (float)(each % 7 - 3) * 0.01f;
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double start = now_s();

		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			multiply(BATCH, HIDDEN, INPUTS, input[0], first[0], hidden[0]);
			rectify();
			multiply(BATCH, OUTPUTS, HIDDEN, hidden[0], second[0], output[0]);
		}
		{
			DWELL_ZONE("backward");
			multiply_transposed(HIDDEN, OUTPUTS, BATCH, hidden[0], output[0], second_slope[0]);
			hidden_gradient();
			multiply_transposed(INPUTS, HIDDEN, BATCH, input[0], hidden_slope[0], first_slope[0]);
		}
		{
			DWELL_ZONE("optimizer");
			descend(second[0], second_slope[0], HIDDEN * OUTPUTS);
			descend(first[0], first_slope[0], INPUTS * HIDDEN);
		}
		zones_s += now_s() - start;
	}
	loop_s = now_s() - began;
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", 1 - zones_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return output[0][0] > 1e30f;
}
