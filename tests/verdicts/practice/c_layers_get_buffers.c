/*
 * A network of four wide layers in C, whose layers get their buffers from calloc in each step.
 *
 * Planted: buffers of several MB are zeroed, faulted in and given back in each step.
 * Truth: time of getting, touching and freeing the buffers, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>

enum { SECONDS = 6, LAYERS = 4, BATCH = 2048, WIDTH = 640, RANK = 4 };

static float left[LAYERS][RANK][WIDTH], right[LAYERS][RANK][WIDTH];
static struct watch watch;

static float *new_buffer(void)
{
	float *buffer;

	planted_begin(&watch);
	buffer = calloc((size_t)BATCH * WIDTH, sizeof(*buffer));
	if (!buffer)
		exit(1);
	for (size_t at = 0; at < (size_t)BATCH * WIDTH; at += 1024)
		buffer[at] = 1;
	planted_end(&watch);
	return buffer;
}

/* A layer is the product of two thin matrices. */
static float *layer_forward(int layer, const float *input)
{
	DWELL_OP("thin_linear");
	float *output = new_buffer();

	for (int item = 0; item < BATCH; item++) {
		const float *from = input + (size_t)item * WIDTH;
		float *to = output + (size_t)item * WIDTH;

		for (int rank = 0; rank < RANK; rank++) {
			float sum = 0;

			for (int at = 0; at < WIDTH; at++)
				sum += left[layer][rank][at] * from[at];
			for (int at = 0; at < WIDTH; at++)
				to[at] += sum * right[layer][rank][at];
		}
	}
	return output;
}

int main(void)
{
	float *values[LAYERS + 1];

	for (int layer = 0; layer < LAYERS; layer++)
		for (int rank = 0; rank < RANK; rank++)
			for (int at = 0; at < WIDTH; at++)
				left[layer][rank][at] = right[layer][rank][at] =
				    (float)((layer + rank * 3 + at * 7) % 23) / 2300;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		values[0] = new_buffer();
		{
			DWELL_ZONE("forward");
			for (int layer = 0; layer < LAYERS; layer++)
				values[layer + 1] = layer_forward(layer, values[layer]);
		}
		{
			DWELL_ZONE("optimizer");
			for (int layer = 0; layer < LAYERS; layer++)
				for (int at = 0; at < WIDTH; at++)
					right[layer][at % RANK][at] -= 1e-6f * values[layer + 1][at];
		}
		planted_begin(&watch);
		for (int layer = 0; layer <= LAYERS; layer++)
			free(values[layer]);
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
