/*
 * Runs a quantised language model token by token.
 *
 * Planted: the weights of each layer are turned from four bits into floats again for each token.
 * Truth: time of that, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdint.h>
#include <stdlib.h>

enum { SECONDS = 5, UNITS = 768, LAYERS = 5, PROMPTS = 1 };

static uint8_t packed[LAYERS][UNITS * UNITS / 2];
static float scales[LAYERS][UNITS], levels[16], weights[UNITS * UNITS], state[PROMPTS][UNITS], next[UNITS];

static void dequantize(int layer)
{
	DWELL_OP("dequantize");
	for (int row = 0; row < UNITS; row++)
		for (int at = 0; at < UNITS / 2; at++) {
			uint8_t two = packed[layer][row * UNITS / 2 + at];

			weights[row * UNITS + 2 * at] = levels[two & 15] * scales[layer][row];
			weights[row * UNITS + 2 * at + 1] = levels[two >> 4] * scales[layer][row];
		}
}

static void matvec(float *vector)
{
	DWELL_OP("matvec");
	for (int row = 0; row < UNITS; row++) {
		float sum = 0.01f;

		for (int at = 0; at < UNITS; at++)
			sum += weights[row * UNITS + at] * vector[at];
		next[row] = sum > 0 ? sum : 0.1f * sum;
	}
	for (int row = 0; row < UNITS; row++)
		vector[row] = next[row];
}

int main(void)
{
	struct watch watch;

	srand(4);
	for (int level = 0; level < 16; level++)
		levels[level] = (float)((level - 8) * abs(level - 8)) / 8;
	for (int layer = 0; layer < LAYERS; layer++) {
		for (int at = 0; at < UNITS * UNITS / 2; at++)
			packed[layer][at] = (uint8_t)rand();
		for (int row = 0; row < UNITS; row++)
			scales[layer][row] = 0.005f;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int layer = 0; layer < LAYERS; layer++) {
			planted_begin(&watch);
			dequantize(layer);
			planted_end(&watch);
			for (int prompt = 0; prompt < PROMPTS; prompt++)
				matvec(state[prompt]);
		}
	}
	watch_tell(&watch);
	return 0;
}
