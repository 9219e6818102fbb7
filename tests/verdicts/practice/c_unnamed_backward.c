/*
 * A convolution in C whose author gave a zone to the forward pass only.
 *
 * Planted: about two thirds of each step have no name.
 * Truth: the time of backward() and update(), as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdio.h>

enum { SECONDS = 9, CHANNELS = 16, SIZE = 64, TAPS = 5 };

static float image[CHANNELS][SIZE + TAPS][SIZE + TAPS], result[CHANNELS][SIZE][SIZE];
static float kernel[CHANNELS][CHANNELS][TAPS], slope[CHANNELS][CHANNELS][TAPS];

static void forward(void)
{
	for (int to = 0; to < CHANNELS; to++)
		for (int y = 0; y < SIZE; y++)
			for (int x = 0; x < SIZE; x++) {
				float sum = 0;

				for (int from = 0; from < CHANNELS; from++)
					for (int tap = 0; tap < TAPS; tap++)
						sum += kernel[to][from][tap] * image[from][y][x + tap];
				result[to][y][x] = sum;
			}
}

static void backward(void)
{
	for (int pass = 0; pass < 2; pass++)
		for (int to = 0; to < CHANNELS; to++)
			for (int from = 0; from < CHANNELS; from++)
				for (int tap = 0; tap < TAPS; tap++) {
					float sum = 0;

					for (int y = 0; y < SIZE; y++)
						for (int x = 0; x < SIZE; x++)
							sum += (result[to][y][x] - 1) * image[from][y][x + tap];
					slope[to][from][tap] = sum;
				}
}

static void update(void)
{
	for (int to = 0; to < CHANNELS; to++)
		for (int from = 0; from < CHANNELS; from++)
			for (int tap = 0; tap < TAPS; tap++)
				kernel[to][from][tap] -= 1e-7f * slope[to][from][tap];
}

int main(void)
{
	double began, loop_s, unnamed_s = 0;
	int steps = 0;

	for (int channel = 0; channel < CHANNELS; channel++)
		for (int y = 0; y < SIZE + TAPS; y++)
			for (int x = 0; x < SIZE + TAPS; x++)
				image[channel][y][x] = (float)((channel * 31 + y * 7 + x) % 17) / 17;
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double start;

		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			forward();
		}
		start = now_s();
		backward();
		update();
		unnamed_s += now_s() - start;
	}
	loop_s = now_s() - began;
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", unnamed_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return result[0][0][0] > 1e30f;
}
