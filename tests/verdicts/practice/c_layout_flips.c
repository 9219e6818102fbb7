/*
 * Filters satellite pictures: the convolution wants channels last, the normalisation wants channels first.
 *
 * Planted: a copy into the other layout before each operator and after it.
 * Truth: time of these copies, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>

enum { SECONDS = 5, SIDE = 96, CHANNELS = 32, BLOCKS = 3, PIXELS = SIDE * SIDE };

static float first[CHANNELS][PIXELS], last[PIXELS][CHANNELS], result[PIXELS][CHANNELS], taps[3][3][CHANNELS];

static void to_channels_last(void)
{
	DWELL_OP("nchw_to_nhwc");
	for (int channel = 0; channel < CHANNELS; channel++)
		for (int pixel = 0; pixel < PIXELS; pixel++)
			last[pixel][channel] = first[channel][pixel];
}

static void to_channels_first(void)
{
	DWELL_OP("nhwc_to_nchw");
	for (int channel = 0; channel < CHANNELS; channel++)
		for (int pixel = 0; pixel < PIXELS; pixel++)
			first[channel][pixel] = result[pixel][channel];
}

static void convolve(void)
{
	DWELL_OP("depthwise_conv");
	for (int y = 1; y < SIDE - 1; y++)
		for (int x = 1; x < SIDE - 1; x++) {
			float *out = result[y * SIDE + x];

			for (int channel = 0; channel < CHANNELS; channel++)
				out[channel] = 0;
			for (int i = 0; i < 3; i++)
				for (int k = 0; k < 3; k++)
					for (int channel = 0; channel < CHANNELS; channel++)
						out[channel] += taps[i][k][channel] * last[(y + i - 1) * SIDE + x + k - 1][channel];
		}
}

static void normalise(void)
{
	DWELL_OP("instance_norm");
	for (int channel = 0; channel < CHANNELS; channel++) {
		float sum = 0, square = 0, scale;

		for (int pixel = 0; pixel < PIXELS; pixel++) {
			sum += first[channel][pixel];
			square += first[channel][pixel] * first[channel][pixel];
		}
		sum /= PIXELS;
		scale = 1 / sqrtf(square / PIXELS - sum * sum + 1e-5f);
		for (int pixel = 0; pixel < PIXELS; pixel++)
			first[channel][pixel] = (first[channel][pixel] - sum) * scale;
	}
}

int main(void)
{
	struct watch watch;

	for (int channel = 0; channel < CHANNELS; channel++)
		for (int pixel = 0; pixel < PIXELS; pixel++)
			first[channel][pixel] = (float)((channel * 5 + pixel) % 37) / 37;
	for (int at = 0; at < 9 * CHANNELS; at++)
		((float *)taps)[at] = 0.1f;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int block = 0; block < BLOCKS; block++) {
			planted_begin(&watch);
			to_channels_last();
			planted_end(&watch);
			convolve();
			planted_begin(&watch);
			to_channels_first();
			planted_end(&watch);
			normalise();
		}
	}
	watch_tell(&watch);
	return 0;
}
