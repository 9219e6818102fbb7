/*
 * Compresses temperature curves of a pottery kiln: an autoencoder of one-dimensional convolutions with gradients by hand.
 *
 * Clean: each step is the same convolutions forward and backward over curves of one length.
 * Truth: time in which a batch is picked from memory, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>

enum { CURVES = 400, BATCH = 12, LENGTH = 256, MAPS = 24, TAPS = 7, HALF = TAPS / 2 };

static float curve[CURVES][LENGTH];
static float in[BATCH][LENGTH], hidden[BATCH][MAPS][LENGTH], slope[BATCH][MAPS][LENGTH];
static float middle[BATCH][MAPS][LENGTH], middle_slope[BATCH][MAPS][LENGTH], out[BATCH][LENGTH], error[BATCH][LENGTH];
static float enter[MAPS][TAPS], inside[MAPS][MAPS][TAPS], leave[MAPS][TAPS];
static float g_enter[MAPS][TAPS], g_inside[MAPS][MAPS][TAPS], g_leave[MAPS][TAPS];

static void convolve(const float *from, const float *taps, float *to)
{
	for (int k = 0; k < TAPS; k++)
		for (int t = HALF; t < LENGTH - HALF; t++)
			to[t] += taps[k] * from[t + k - HALF];
}

static void convolve_back(const float *from, const float *taps, float *to)
{
	for (int k = 0; k < TAPS; k++)
		for (int t = HALF; t < LENGTH - HALF; t++)
			to[t + k - HALF] += taps[k] * from[t];
}

static void correlate(const float *from, const float *error_of, float *gradient)
{
	for (int k = 0; k < TAPS; k++) {
		float sum = 0;

		for (int t = HALF; t < LENGTH - HALF; t++)
			sum += error_of[t] * from[t + k - HALF];
		gradient[k] += sum;
	}
}

/* x / (1 + |x|), which costs the same for each x. */
static void squash(float *x)
{
	for (int t = 0; t < LENGTH; t++)
		x[t] /= 1 + (x[t] < 0 ? -x[t] : x[t]);
}

static void unsquash(float *gradient, const float *y)
{
	for (int t = 0; t < LENGTH; t++) {
		const float rest = 1 - (y[t] < 0 ? -y[t] : y[t]);

		gradient[t] *= rest * rest;
	}
}

static void forward(void)
{
	memset(hidden, 0, sizeof hidden);
	memset(middle, 0, sizeof middle);
	memset(out, 0, sizeof out);
	for (int b = 0; b < BATCH; b++) {
		for (int m = 0; m < MAPS; m++) {
			convolve(in[b], enter[m], hidden[b][m]);
			squash(hidden[b][m]);
		}
		for (int m = 0; m < MAPS; m++) {
			for (int i = 0; i < MAPS; i++)
				convolve(hidden[b][i], inside[m][i], middle[b][m]);
			squash(middle[b][m]);
			convolve(middle[b][m], leave[m], out[b]);
		}
	}
}

static double backward(void)
{
	double loss = 0;

	memset(slope, 0, sizeof slope);
	memset(middle_slope, 0, sizeof middle_slope);
	for (int b = 0; b < BATCH; b++) {
		for (int t = 0; t < LENGTH; t++) {
			error[b][t] = (out[b][t] - in[b][t]) / (BATCH * LENGTH);
			loss += (double)((out[b][t] - in[b][t]) * (out[b][t] - in[b][t]));
		}
		for (int m = 0; m < MAPS; m++) {
			correlate(middle[b][m], error[b], g_leave[m]);
			convolve_back(error[b], leave[m], middle_slope[b][m]);
			unsquash(middle_slope[b][m], middle[b][m]);
			for (int i = 0; i < MAPS; i++) {
				correlate(hidden[b][i], middle_slope[b][m], g_inside[m][i]);
				convolve_back(middle_slope[b][m], inside[m][i], slope[b][i]);
			}
		}
		for (int m = 0; m < MAPS; m++) {
			unsquash(slope[b][m], hidden[b][m]);
			correlate(in[b], slope[b][m], g_enter[m]);
		}
	}
	return loss / (BATCH * LENGTH);
}

static void descend(float *weights, float *gradients, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		weights[i] -= 0.02f * gradients[i];
		gradients[i] *= 0.8f;
	}
}

int main(void)
{
	struct watch watch;
	double loss = 0;

	srand(12);
	for (int c = 0; c < CURVES; c++)
		for (int t = 0; t < LENGTH; t++) {
			const float rise = (float)t / (float)(60 + c % 90);

			curve[c][t] = (rise < 1 ? rise : 2 - rise) + 0.05f * (float)rand() / (float)RAND_MAX;
		}
	for (float *w = &enter[0][0]; w < &enter[0][0] + MAPS * TAPS; w++)
		*w = (float)rand() / (float)RAND_MAX - 0.5f;
	for (float *w = &inside[0][0][0]; w < &inside[0][0][0] + MAPS * MAPS * TAPS; w++)
		*w = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (float *w = &leave[0][0]; w < &leave[0][0] + MAPS * TAPS; w++)
		*w = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		for (int b = 0; b < BATCH; b++)
			memcpy(in[b], curve[rand() % CURVES], sizeof in[b]);
		planted_end(&watch);
		{
			DWELL_ZONE("forward");
			forward();
		}
		{
			DWELL_ZONE("backward");
			loss = backward();
		}
		DWELL_ZONE("descent");
		descend(&enter[0][0], &g_enter[0][0], MAPS * TAPS);
		descend(&inside[0][0][0], &g_inside[0][0][0], (size_t)MAPS * MAPS * TAPS);
		descend(&leave[0][0], &g_leave[0][0], MAPS * TAPS);
	}
	watch_tell(&watch);
	printf("loss %.5f\n", loss);
	return 0;
}
