/*
 * A convolutional surrogate of the heat equation, trained with OpenMP on fields that it integrates itself.
 *
 * Planted: nothing.
 * Truth: time of the optimizer, which is small, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, RIM = SIDE + 2, MAPS = 16, TAPS = 9 };

typedef float field_t[RIM][RIM];

static field_t input[MAPS], middle[MAPS], output[MAPS], target[MAPS], d_output[MAPS], d_middle[MAPS];
static float kernel[2][MAPS][MAPS][TAPS], d_kernel[2][MAPS][MAPS][TAPS];

static void convolve(field_t *from, field_t *to, float (*k)[MAPS][TAPS])
{
	#pragma omp parallel for schedule(dynamic, 1)
	for (int m = 0; m < MAPS; m++) {
		memset(to[m], 0, sizeof(field_t));
		for (int n = 0; n < MAPS; n++)
			for (int tap = 0; tap < TAPS; tap++)
				for (int y = 0; y < SIDE; y++)
					for (int x = 0; x < SIDE; x++)
						to[m][y + 1][x + 1] += k[m][n][tap] * from[n][y + tap / 3][x + tap % 3];
	}
}

static void gradient_of_kernel(field_t *from, field_t *d_to, float (*d_k)[MAPS][TAPS])
{
	#pragma omp parallel for schedule(dynamic, 1)
	for (int m = 0; m < MAPS; m++)
		for (int n = 0; n < MAPS; n++)
			for (int tap = 0; tap < TAPS; tap++) {
				float row[SIDE] = { 0 }, sum = 0;

				for (int y = 0; y < SIDE; y++)
					for (int x = 0; x < SIDE; x++)
						row[x] += d_to[m][y + 1][x + 1] * from[n][y + tap / 3][x + tap % 3];
				for (int x = 0; x < SIDE; x++)
					sum += row[x];
				d_k[m][n][tap] = sum;
			}
}

static void next_fields(int step)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "integrate");
	for (int m = 0; m < MAPS; m++) {
		for (int y = 1; y <= SIDE; y++)
			for (int x = 1; x <= SIDE; x++)
				input[m][y][x] = (float)((x * (m + 3) + y * 5 + step) % 32) / 32;
		for (int y = 1; y <= SIDE; y++)
			for (int x = 1; x <= SIDE; x++)
				target[m][y][x] = 0.2f * (input[m][y][x] + input[m][y - 1][x] + input[m][y + 1][x] +
				                          input[m][y][x - 1] + input[m][y][x + 1]);
	}
}

static void forward(void)
{
	DWELL_PHASE("forward");
	convolve(input, middle, kernel[0]);
	convolve(middle, output, kernel[1]);
}

static void backward(void)
{
	DWELL_PHASE("backward");
	for (int m = 0; m < MAPS; m++)
		for (int y = 1; y <= SIDE; y++)
			for (int x = 1; x <= SIDE; x++)
				d_output[m][y][x] = output[m][y][x] - target[m][y][x];
	gradient_of_kernel(middle, d_output, d_kernel[1]);
	convolve(d_output, d_middle, kernel[1]);
	gradient_of_kernel(input, d_middle, d_kernel[0]);
}

static void optimizer(void)
{
	DWELL_PHASE("optimizer");
	float *weights = (float *)kernel, *gradients = (float *)d_kernel;

	for (int at = 0; at < 2 * MAPS * MAPS * TAPS; at++)
		weights[at] -= 1e-9f * gradients[at];
}

int main(void)
{
	struct watch watch;

	for (int at = 0; at < 2 * MAPS * MAPS * TAPS; at++)
		((float *)kernel)[at] = (float)(rand() % 100 - 50) / 5000;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		next_fields(watch.steps);
		forward();
		backward();
		planted_begin(&watch);
		optimizer();
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
