/*
 * Feedback suppression for a stage monitor: an adaptive filter, and a small network that judges the bands.
 *
 * Planted: nothing.
 * Truth: time of moving samples within the buffers, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <string.h>

enum { BLOCK = 256, TAPS = 512, BANDS = 48, FRAMES = 8, UNITS = 128 };

static float history[TAPS + BLOCK], filter[TAPS], microphone[BLOCK], cleaned[BLOCK], played[BLOCK];
static float spectrum[FRAMES][BANDS], basis[2][BANDS][BLOCK];
static float w1[UNITS][FRAMES * BANDS], w2[BANDS][UNITS], gain[BANDS];
static struct watch watch;
static unsigned state = 31;

static float noise(void)
{
	state = state * 1664525u + 1013904223u;
	return (float)(state >> 8) / (1 << 23) - 1;
}

static void next_block(int step)
{
	DWELL_ZONE("room");
	planted_begin(&watch);
	memmove(history, history + BLOCK, sizeof(float) * TAPS);
	memcpy(history + TAPS, played, sizeof(played));
	planted_end(&watch);
	for (int i = 0; i < BLOCK; i++)
		microphone[i] = 0.3f * sinf((float)(step * BLOCK + i) * 0.06f) + 0.05f * noise() + 0.4f * history[TAPS - 40 + i] - 0.2f * history[TAPS - 90 + i];
}

/* Normalised least mean squares. */
static void cancel(void)
{
	DWELL_ZONE("adaptive filter");
	for (int i = 0; i < BLOCK; i++) {
		const float *past = history + i;
		float guess = 0, power = 1e-3f, rate;
		for (int k = 0; k < TAPS; k++) {
			guess += filter[k] * past[k];
			power += past[k] * past[k];
		}
		cleaned[i] = microphone[i] - guess;
		rate = 0.05f * cleaned[i] / power;
		for (int k = 0; k < TAPS; k++)
			filter[k] += rate * past[k];
	}
}

static void analyse(int step)
{
	DWELL_ZONE("spectrum");
	for (int b = 0; b < BANDS; b++) {
		float real = 0, imaginary = 0;
		for (int i = 0; i < BLOCK; i++) {
			real += basis[0][b][i] * cleaned[i];
			imaginary += basis[1][b][i] * cleaned[i];
		}
		spectrum[step % FRAMES][b] = logf(1e-6f + real * real + imaginary * imaginary);
	}
}

static void judge_bands(void)
{
	DWELL_ZONE("howl network");
	float hidden[UNITS];

	for (int u = 0; u < UNITS; u++) {
		float sum = 0;

		for (int f = 0; f < FRAMES; f++)
			for (int b = 0; b < BANDS; b++)
				sum += w1[u][f * BANDS + b] * spectrum[f][b];
		hidden[u] = tanhf(sum);
	}
	for (int b = 0; b < BANDS; b++) {
		float sum = 1;

		for (int u = 0; u < UNITS; u++)
			sum += w2[b][u] * hidden[u];
		gain[b] = 1 / (1 + expf(-sum));
	}
}

static void play(void)
{
	DWELL_ZONE("equaliser");
	memset(played, 0, sizeof(played));
	for (int b = 0; b < BANDS; b++) {
		float notch = gain[b] / BANDS;
		for (int i = 0; i < BLOCK; i++)
			played[i] += notch * (cleaned[i] + 0.1f * basis[0][b][i] * cleaned[BLOCK - 1 - i]);
	}
	for (int i = 0; i < BLOCK; i++)
		played[i] = played[i] > 1 ? 1 : played[i] < -1 ? -1 : played[i];
}

int main(void)
{
	for (int u = 0; u < UNITS; u++)
		for (int i = 0; i < FRAMES * BANDS; i++)
			w1[u][i] = 0.02f * noise(), w2[i % BANDS][u] = 0.1f * noise();
	for (int b = 0; b < BANDS; b++)
		for (int i = 0; i < BLOCK; i++) {
			basis[0][b][i] = cosf((float)(b * i) * 0.06f);
			basis[1][b][i] = sinf((float)(b * i) * 0.06f);
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int channel = 0; channel < 6; channel++) {
			next_block(watch.steps * 6 + channel);
			cancel();
			analyse(watch.steps * 6 + channel);
			judge_bands();
			play();
		}
	}
	watch_tell(&watch);
	fprintf(stderr, "%.4f\n", (double)cleaned[0]);
}
