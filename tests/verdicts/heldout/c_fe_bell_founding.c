/*
 * Tells from the sound of a strike in which of eight foundries a bell was cast: two layers of convolution over time, a mean and a
 * softmax, learned by plain gradient descent, all loops written out.
 *
 * Clean: nothing is planted; the strikes are in memory, all have the same length, and one thread computes.
 * Truth: nothing comes near a cause, 0.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 256
#define TAPS 8
#define LOW 16
#define HIGH 32
#define FOUNDRIES 8
#define BATCH 12
#define STRIKES 240

typedef float low_map[LOW][LENGTH];
typedef float high_map[HIGH][LENGTH];

static struct net {
	float low[LOW][TAPS];
	float high[HIGH][LOW][TAPS];
	float out[FOUNDRIES][HIGH];
} net, slope;

static float strikes[STRIKES][LENGTH + TAPS];
static int foundries[STRIKES];
static struct { low_map low; high_map high; float mean[HIGH], chance[FOUNDRIES]; } kept[BATCH];

static void hear(int n, const float *strike)
{
	memset(kept[n].low, 0, sizeof kept[n].low);
	for (int c = 0; c < LOW; c++) {
		for (int k = 0; k < TAPS; k++)
			for (int t = 0; t < LENGTH; t++)
				kept[n].low[c][t] += net.low[c][k] * strike[t + k];
		for (int t = 0; t < LENGTH; t++)
			kept[n].low[c][t] = kept[n].low[c][t] / (1 + fabsf(kept[n].low[c][t]));
	}
	memset(kept[n].high, 0, sizeof kept[n].high);
	for (int h = 0; h < HIGH; h++) {
		for (int c = 0; c < LOW; c++)
			for (int k = 0; k < TAPS; k++)
				for (int t = 0; t < LENGTH - TAPS; t++)
					kept[n].high[h][t] += net.high[h][c][k] * kept[n].low[c][t + k];
		kept[n].mean[h] = 0;
		for (int t = 0; t < LENGTH - TAPS; t++)
			kept[n].mean[h] += kept[n].high[h][t] / LENGTH;
	}
}

static float name_foundry(int n, int foundry)
{
	float sum = 0;

	for (int f = 0; f < FOUNDRIES; f++) {
		float score = 0;
		for (int h = 0; h < HIGH; h++)
			score += net.out[f][h] * kept[n].mean[h];
		kept[n].chance[f] = expf(score);
		sum += kept[n].chance[f];
	}
	for (int f = 0; f < FOUNDRIES; f++)
		kept[n].chance[f] /= sum;
	return -logf(kept[n].chance[foundry]);
}

static void blame(int n, const float *strike, int foundry)
{
	float at_mean[HIGH] = {0};
	static low_map at_low;

	for (int f = 0; f < FOUNDRIES; f++) {
		const float error = (kept[n].chance[f] - (float)(f == foundry)) / BATCH;
		for (int h = 0; h < HIGH; h++) {
			slope.out[f][h] += error * kept[n].mean[h];
			at_mean[h] += error * net.out[f][h];
		}
	}
	memset(at_low, 0, sizeof at_low);
	for (int h = 0; h < HIGH; h++) {
		const float each = at_mean[h] / LENGTH;
		for (int c = 0; c < LOW; c++)
			for (int k = 0; k < TAPS; k++) {
				float sum = 0;
				for (int t = 0; t < LENGTH - TAPS; t++) {
					sum += kept[n].low[c][t + k];
					at_low[c][t + k] += each * net.high[h][c][k];
				}
				slope.high[h][c][k] += each * sum;
			}
	}
	for (int c = 0; c < LOW; c++)
		for (int k = 0; k < TAPS; k++)
			for (int t = 0; t < LENGTH; t++) {
				const float gentle = 1 - fabsf(kept[n].low[c][t]);
				slope.low[c][k] += at_low[c][t] * gentle * gentle * strike[t + k];
			}
}

int main(void)
{
	struct watch watch;
	float loss = 0, *weight = &net.low[0][0], *by = &slope.low[0][0];

	srand(31);
	for (size_t i = 0; i < sizeof net / sizeof *weight; i++)
		weight[i] = 0.3f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (int s = 0; s < STRIKES; s++) {
		foundries[s] = rand() % FOUNDRIES;
		for (int t = 0; t < LENGTH + TAPS; t++)
			strikes[s][t] = sinf((float)t * (0.2f + 0.1f * (float)foundries[s])) + 0.4f * (float)rand() / (float)RAND_MAX;
	}
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		const int first = watch.steps * BATCH % STRIKES;

		memset(&slope, 0, sizeof slope);
		{
			DWELL_ZONE("hear");
			loss = 0;
			for (int n = 0; n < BATCH; n++) {
				hear(n, strikes[first + n]);
				loss += name_foundry(n, foundries[first + n]) / BATCH;
			}
		}
		{
			DWELL_ZONE("blame");
			for (int n = 0; n < BATCH; n++)
				blame(n, strikes[first + n], foundries[first + n]);
		}
		{
			DWELL_ZONE("adjust");
			for (size_t i = 0; i < sizeof net / sizeof *weight; i++)
				weight[i] -= 0.05f * by[i];
		}
		watch.steps++;
	}
	watch_tell(&watch);
	printf("loss %.4f\n", (double)loss);
	return 0;
}
