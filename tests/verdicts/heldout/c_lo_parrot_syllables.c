/*
 * Finds the syllables of a parrot in noisy spectra: a denoising autoencoder with tied weights.
 *
 * Planted: after each eighth step the weights and their momentum are written to a file, as text of nine digits.
 * Truth: time of writing, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BINS 256
#define CODE 96
#define BATCH 64
#define SPECTRA 2048

typedef struct {
	float tied[CODE][BINS], code_bias[CODE], bin_bias[BINS];
} model;

static model now, rate_of_change, gradient;
static float clean[SPECTRA][BINS], noisy[BATCH][BINS], code[BATCH][CODE], miss[BATCH][BINS];
static unsigned dice = 5;

static float roll(void)
{
	dice = dice * 1664525u + 1013904223u;
	return (float)(dice >> 8) / 16777216.0f;
}

static const float *syllable(int n) { return clean[n % SPECTRA]; }

static void encode_decode(int first)
{
	for (int b = 0; b < BATCH; b++) {
		const float *x = syllable(first + b);

		for (int i = 0; i < BINS; i++)
			noisy[b][i] = roll() < 0.2f ? 0 : x[i];
		for (int c = 0; c < CODE; c++) {
			float a = now.code_bias[c];

			for (int i = 0; i < BINS; i++)
				a += now.tied[c][i] * noisy[b][i];
			code[b][c] = 1 / (1 + expf(-a));
		}
		for (int i = 0; i < BINS; i++)
			miss[b][i] = now.bin_bias[i] - x[i];
		for (int c = 0; c < CODE; c++)
			for (int i = 0; i < BINS; i++)
				miss[b][i] += now.tied[c][i] * code[b][c];
	}
}

static void differentiate(void)
{
	memset(&gradient, 0, sizeof gradient);
	for (int b = 0; b < BATCH; b++) {
		for (int i = 0; i < BINS; i++)
			gradient.bin_bias[i] += miss[b][i];
		for (int c = 0; c < CODE; c++) {
			float back = 0, y = code[b][c];

			for (int i = 0; i < BINS; i++)
				back += now.tied[c][i] * miss[b][i];
			back *= y * (1 - y);
			gradient.code_bias[c] += back;
			for (int i = 0; i < BINS; i++)
				gradient.tied[c][i] += back * noisy[b][i] + y * miss[b][i];
		}
	}
}

static void move(float by)
{
	float *w = (float *)&now, *v = (float *)&rate_of_change, *g = (float *)&gradient;

	for (size_t i = 0; i < sizeof now / sizeof *w; i++) {
		v[i] = 0.9f * v[i] - by * g[i];
		w[i] += v[i];
	}
}

static void put(FILE *file, const model *values)
{
	const float *v = (const float *)values;

	for (size_t i = 0; i < sizeof *values / sizeof *v; i++)
		fprintf(file, "%.9g\n", (double)v[i]);
}

/* A half-written file must never have the name of the last good one. */
static bool keep(const char *path)
{
	char beside[128];
	FILE *file;

	snprintf(beside, sizeof beside, "%s.new", path);
	file = fopen(beside, "w");
	if (!file)
		return false;
	put(file, &now);
	put(file, &rate_of_change);
	return fclose(file) == 0 && rename(beside, path) == 0;
}

int main(void)
{
	char path[64];
	struct watch watch;

	snprintf(path, sizeof path, "/tmp/lo_parrot_%d.txt", (int)getpid());
	for (int s = 0; s < SPECTRA; s++)
		for (int i = 0; i < BINS; i++)
			clean[s][i] = expf(-powf((float)(i - (s * 37) % BINS) / 20, 2)) + 0.2f * roll();
	for (int c = 0; c < CODE; c++)
		for (int i = 0; i < BINS; i++)
			now.tied[c][i] = 0.1f * (roll() - 0.5f);
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6.5) {
		DWELL_STEP();
		{
			DWELL_PHASE("forward");
			encode_decode(watch.steps * BATCH);
		}
		{
			DWELL_PHASE("backward");
			differentiate();
		}
		{
			DWELL_PHASE("optimizer");
			move(1e-5f);
		}
		if (++watch.steps % 8 == 0) {
			DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "keep");
			planted_begin(&watch);
			if (!keep(path))
				return 1;
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	remove(path);
	fprintf(stderr, "miss %g\n", (double)miss[3][3]);
	return 0;
}
