/*
 * Spots keywords in audio with a quantized network: convolutions in int8 with sums in int32, as on a microcontroller.
 *
 * Planted: nothing. The operators are all there is.
 * Truth: time of reading the next window from the ring of samples, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { TIME = 50, MEL = 40, CHANNELS = 48, WORDS = 12, RING = 1 << 16, SAMPLES = TIME * 160, TAPS = 200 };

static int16_t ring[RING];
static int8_t mel[TIME][MEL], one[TIME][MEL / 2][CHANNELS], two[TIME][MEL / 2][CHANNELS];
static int8_t stem[CHANNELS][3][3], depth[3][3][CHANNELS], point[CHANNELS][CHANNELS], word[WORDS][CHANNELS];
static int16_t window_samples[SAMPLES], filter[MEL][TAPS];
static unsigned heard;

static int8_t requantize(int32_t sum, int shift)
{
	sum = (sum + (1 << (shift - 1))) >> shift;
	return (int8_t)(sum < 0 ? 0 : sum > 127 ? 127 : sum);
}

static void next_window(int number)
{
	DWELL_OP("ring_read");
	for (int i = 0; i < SAMPLES; i++)
		window_samples[i] = ring[(number * 1600 + i) & (RING - 1)];
}

static void mel_bank(void)
{
	DWELL_OP("mel_bank");
	for (int t = 0; t < TIME; t++)
		for (int m = 0; m < MEL; m++) {
			int32_t sum = 0;
			int from = t * 160 > SAMPLES - TAPS ? SAMPLES - TAPS : t * 160;

			for (int i = 0; i < TAPS; i++)
				sum += filter[m][i] * window_samples[from + i] >> 8;
			mel[t][m] = requantize(abs(sum), 6);
		}
}

static void conv_stem(void)
{
	DWELL_OP("conv_3x3_s8");
	for (int t = 0; t < TIME; t++)
		for (int m = 0; m < MEL / 2; m++)
			for (int c = 0; c < CHANNELS; c++) {
				int32_t sum = 0;

				for (int i = -1; i < 2; i++)
					for (int j = -1; j < 2; j++)
						if (t + i >= 0 && t + i < TIME && 2 * m + j >= 0)
							sum += stem[c][i + 1][j + 1] * mel[t + i][2 * m + j];
				one[t][m][c] = requantize(sum, 6);
			}
}

static void conv_depthwise(void)
{
	DWELL_OP("depthwise_3x3_s8");
	for (int t = 1; t < TIME - 1; t++)
		for (int m = 1; m < MEL / 2 - 1; m++)
			for (int c = 0; c < CHANNELS; c++) {
				int32_t sum = 0;

				for (int i = -1; i < 2; i++)
					for (int j = -1; j < 2; j++)
						sum += depth[i + 1][j + 1][c] * one[t + i][m + j][c];
				two[t][m][c] = requantize(sum, 5);
			}
}

static void conv_pointwise(void)
{
	DWELL_OP("pointwise_s8");
	for (int t = 0; t < TIME; t++)
		for (int m = 0; m < MEL / 2; m++)
			for (int c = 0; c < CHANNELS; c++) {
				int32_t sum = 0;

				for (int k = 0; k < CHANNELS; k++)
					sum += point[c][k] * two[t][m][k];
				one[t][m][c] = requantize(sum, 6);
			}
}

static int classify(void)
{
	DWELL_OP("pool_and_classify");
	int32_t best = INT32_MIN, pooled[CHANNELS] = { 0 };
	int found = 0;

	for (int t = 0; t < TIME; t++)
		for (int m = 0; m < MEL / 2; m++)
			for (int c = 0; c < CHANNELS; c++)
				pooled[c] += one[t][m][c];
	for (int w = 0; w < WORDS; w++) {
		int32_t sum = 0;

		for (int c = 0; c < CHANNELS; c++)
			sum += word[w][c] * (pooled[c] >> 8);
		if (sum > best)
			best = sum, found = w;
	}
	return found;
}

int main(void)
{
	struct watch watch;

	for (int i = 0; i < RING; i++)
		ring[i] = (int16_t)(3000 * sin(i * 0.05 + 4 * sin(i * 0.0007)) + rand() % 400);
	for (int m = 0; m < MEL; m++)
		for (int i = 0; i < TAPS; i++)
			filter[m][i] = (int16_t)(127 * sin(i * (m + 1) * 0.03) * sin(i * 3.14159 / TAPS));
	int8_t *tables[] = { stem[0][0], depth[0][0], point[0], word[0] };
	size_t sizes[] = { sizeof stem, sizeof depth, sizeof point, sizeof word };
	for (int t = 0; t < 4; t++)
		for (size_t i = 0; i < sizes[t]; i++)
			tables[t][i] = (int8_t)(rand() % 120 - 54);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		next_window(watch.steps);
		planted_end(&watch);
		mel_bank();
		conv_stem();
		conv_depthwise();
		for (int block = 0; block < 2; block++)
			conv_pointwise();
		heard = heard * 13 + (unsigned)classify();
	}
	watch_tell(&watch);
	fprintf(stderr, "%u\n", heard);
}
