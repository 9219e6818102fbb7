/*
 * A stack of small convolutions over pictures of snow; one library wants channels last, the other
 * channels first.
 *
 * Planted: the activations are copied to the other layout before each convolution and back after
 * it.
 * Truth: time of the copies, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

enum { SECONDS = 5, PICTURES = 6, CHANNELS = 48, PIXELS = 1024, LAYERS = 4 };
enum { SIZE = PICTURES * CHANNELS * PIXELS };

static float first[SIZE], last[SIZE], out[SIZE], weights[LAYERS][CHANNELS][3];
static struct watch watch;

static void to_channels_last(void)
{
	DWELL_OP("aten::contiguous");
	planted_begin(&watch);
	for (int picture = 0; picture < PICTURES; picture++)
		for (int channel = 0; channel < CHANNELS; channel++)
			for (int pixel = 0; pixel < PIXELS; pixel++)
				last[(picture * PIXELS + pixel) * CHANNELS + channel] =
				    first[(picture * CHANNELS + channel) * PIXELS + pixel];
	planted_end(&watch);
}

static void to_channels_first(void)
{
	DWELL_OP("aten::contiguous");
	planted_begin(&watch);
	for (int picture = 0; picture < PICTURES; picture++)
		for (int channel = 0; channel < CHANNELS; channel++)
			for (int pixel = 0; pixel < PIXELS; pixel++)
				first[(picture * CHANNELS + channel) * PIXELS + pixel] =
				    out[(picture * PIXELS + pixel) * CHANNELS + channel];
	planted_end(&watch);
}

static void convolution(int layer)
{
	DWELL_OP("aten::convolution");
	for (int at = 0; at < PICTURES * PIXELS; at++)
		for (int to = 0; to < CHANNELS; to++) {
			float sum = 0;

			for (int k = 0; k < 3; k++)
				sum += weights[layer][to][k] * last[at * CHANNELS + (to + k * 5) % CHANNELS];
			out[at * CHANNELS + to] = sum;
		}
}

static void update(void)
{
	DWELL_OP("sgd");
	for (int layer = 0; layer < LAYERS; layer++)
		for (int to = 0; to < CHANNELS; to++)
			weights[layer][to][to % 3] -= 1e-6f * first[to * PIXELS];
}

int main(void)
{
	for (int at = 0; at < SIZE; at++)
		first[at] = (float)(at % 255) / 255;
	for (int at = 0; at < LAYERS * CHANNELS; at++)
		weights[at / CHANNELS][at % CHANNELS][at % 3] = 0.3f;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int layer = 0; layer < LAYERS; layer++) {
			to_channels_last();
			convolution(layer);
			to_channels_first();
		}
		update();
	}
	watch_tell(&watch);
	return 0;
}
