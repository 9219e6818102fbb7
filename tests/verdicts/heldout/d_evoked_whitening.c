/*
 * A speller by brain waves: single trials of an electroencephalogram are whitened, filtered and classified.
 *
 * Planted: after each 30th trial the whitening is computed anew, with a Jacobi iteration over all channels.
 * Truth: time of these computations, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <string.h>

enum { CHANNELS = 56, SAMPLES = 200, KERNELS = 12, TAPS = 15, KEPT = 16, EVERY = 30, SWEEPS = 12 };

static float trial[CHANNELS][SAMPLES], white[CHANNELS][SAMPLES], kept[KEPT][CHANNELS][SAMPLES];
static float matrix[CHANNELS][CHANNELS], kernel[KERNELS][TAPS], weight[KERNELS][CHANNELS], bias;
static double covariance[CHANNELS][CHANNELS], axes[CHANNELS][CHANNELS];
static unsigned state = 9;

static float noise(void)
{
	state = state * 1664525u + 1013904223u;
	return (float)(state >> 8) / (1 << 23) - 1;
}

static void record_trial(int step)
{
	for (int t = 0; t < SAMPLES; t++) {
		float shared = noise(), wave = (step & 1) ? expf(-0.002f * (float)((t - 80) * (t - 80))) : 0;
		for (int c = 0; c < CHANNELS; c++)
			trial[c][t] = noise() + shared * (0.3f + 0.01f * (float)c) + wave;
	}
	memcpy(kept[step % KEPT], trial, sizeof(trial));
}

static void apply_whitening(void)
{
	for (int c = 0; c < CHANNELS; c++)
		for (int t = 0; t < SAMPLES; t++) {
			float sum = 0;
			for (int d = 0; d < CHANNELS; d++)
				sum += matrix[c][d] * trial[d][t];
			white[c][t] = sum;
		}
}

/* Convolutions, their energy, logistic regression. */
static float learn(int label)
{
	float energy[KERNELS][CHANNELS], score = bias, error;
	for (int k = 0; k < KERNELS; k++)
		for (int c = 0; c < CHANNELS; c++) {
			float sum = 0;
			for (int t = 0; t + TAPS <= SAMPLES; t += 2) {
				float value = 0;
				for (int i = 0; i < TAPS; i++)
					value += kernel[k][i] * white[c][t + i];
				sum += value * value;
			}
			energy[k][c] = logf(1e-6f + sum / SAMPLES);
			score += weight[k][c] * energy[k][c];
		}
	error = 1 / (1 + expf(-score)) - (float)label;
	for (int k = 0; k < KERNELS; k++)
		for (int c = 0; c < CHANNELS; c++)
			weight[k][c] -= 1e-4f * error * energy[k][c];
	return bias -= 1e-3f * error, fabsf(error);
}

static void rotate(int p, int q)
{
	double theta = (covariance[q][q] - covariance[p][p]) / (2 * covariance[p][q] + 1e-30);
	double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
	for (int i = 0; i < CHANNELS; i++) {
		double a = covariance[i][p], b = covariance[i][q];
		covariance[i][p] = c * a - s * b, covariance[i][q] = s * a + c * b;
	}
	for (int i = 0; i < CHANNELS; i++) {
		double a = covariance[p][i], b = covariance[q][i], v = axes[i][p], w = axes[i][q];
		covariance[p][i] = c * a - s * b, covariance[q][i] = s * a + c * b;
		axes[i][p] = c * v - s * w, axes[i][q] = s * v + c * w;
	}
}

static void compute_whitening(void)
{
	for (int c = 0; c < CHANNELS; c++)
		for (int d = 0; d < CHANNELS; d++) {
			covariance[c][d] = c == d ? 1e-3 : 0;
			axes[c][d] = c == d;
			for (int k = 0; k < KEPT; k++)
				for (int t = 0; t < SAMPLES; t++)
					covariance[c][d] += (double)kept[k][c][t] * (double)kept[k][d][t] / (KEPT * SAMPLES);
		}
	for (int sweep = 0; sweep < SWEEPS; sweep++)
		for (int p = 0; p < CHANNELS; p++)
			for (int q = p + 1; q < CHANNELS; q++)
				rotate(p, q);
	for (int c = 0; c < CHANNELS; c++)
		for (int d = 0; d < CHANNELS; d++) {
			double sum = 0;
			for (int i = 0; i < CHANNELS; i++)
				sum += axes[c][i] * axes[d][i] / sqrt(fabs(covariance[i][i]) + 1e-6);
			matrix[c][d] = (float)sum;
		}
}

int main(void)
{
	struct watch watch;
	double loss = 0;
	for (int i = 0; i < KERNELS * TAPS; i++)
		kernel[i / TAPS][i % TAPS] = cosf((float)(i / TAPS * (i % TAPS)) * 0.2f) / TAPS;
	compute_whitening();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		record_trial(watch.steps);
		apply_whitening();
		loss = 0.99 * loss + 0.01 * (double)learn(watch.steps & 1);
		if (watch.steps % EVERY == EVERY - 1) {
			planted_begin(&watch);
			compute_whitening();
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	fprintf(stderr, "loss %.3f\n", loss);
}
