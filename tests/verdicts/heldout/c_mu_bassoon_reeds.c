/*
 * Finds out from the crow of a bassoon's reed how it was scraped: a network of two layers, trained with plain steps on
 * spectra; two threads of OpenMP have halves of the batch or of the weights.
 *
 * Clean: the matrices are the same in each step, both threads have the same work, and the batches lie in memory.
 * Truth: time of copying the batch, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CROWS = 512, BATCH = 64, BINS = 384, UNITS = 256, CUTS = 32 };

static float crow[CROWS][BINS], scrape[CROWS][CUTS];
static float seen[BATCH][BINS], wanted[BATCH][CUTS];
static float first[UNITS][BINS], second[CUTS][UNITS];
static float unit[BATCH][UNITS], unit_blame[BATCH][UNITS], cut_blame[BATCH][CUTS];

static float dot(const float *a, const float *b, int n)
{
	float sum[8] = {0};

	for (int i = 0; i < n; i += 8)
		for (int k = 0; k < 8; k++)
			sum[k] += a[i + k] * b[i + k];
	return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

static void forward(void)
{
#pragma omp parallel for schedule(static) num_threads(2)
	for (int b = 0; b < BATCH; b++) {
		for (int u = 0; u < UNITS; u++) {
			const float sum = dot(first[u], seen[b], BINS);
			unit[b][u] = sum > 0 ? sum : 0.2f * sum;
		}
		for (int c = 0; c < CUTS; c++)
			cut_blame[b][c] = dot(second[c], unit[b], UNITS) - wanted[b][c];
	}
}

static void backward(void)
{
#pragma omp parallel for schedule(static) num_threads(2)
	for (int b = 0; b < BATCH; b++) {
		for (int u = 0; u < UNITS; u++)
			unit_blame[b][u] = 0;
		for (int c = 0; c < CUTS; c++)
			for (int u = 0; u < UNITS; u++)
				unit_blame[b][u] += cut_blame[b][c] * second[c][u];
		for (int u = 0; u < UNITS; u++)
			unit_blame[b][u] *= unit[b][u] > 0 ? 1.0f : 0.2f;
	}
}

static void change(void)
{
	const float rate = 2e-4f / BATCH;

#pragma omp parallel for schedule(static) num_threads(2)
	for (int u = 0; u < UNITS; u++)
		for (int b = 0; b < BATCH; b++)
			for (int i = 0; i < BINS; i++)
				first[u][i] -= rate * unit_blame[b][u] * seen[b][i];
#pragma omp parallel for schedule(static) num_threads(2)
	for (int c = 0; c < CUTS; c++)
		for (int b = 0; b < BATCH; b++)
			for (int u = 0; u < UNITS; u++)
				second[c][u] -= rate * cut_blame[b][c] * unit[b][u];
}

int main(void)
{
	struct watch watch;

	for (int n = 0; n < CROWS; n++) {
		for (int i = 0; i < BINS; i++)
			crow[n][i] = 0.5f + 0.5f * sinf((float)(n * 37 % 101) * 0.1f * (float)i + (float)n);
		for (int c = 0; c < CUTS; c++)
			scrape[n][c] = sinf((float)(n * 5 + c * 3));
	}
	for (int u = 0; u < UNITS; u++)
		for (int i = 0; i < BINS; i++)
			first[u][i] = 0.05f * cosf((float)(u * 131 + i * 17));
	for (int c = 0; c < CUTS; c++)
		for (int u = 0; u < UNITS; u++)
			second[c][u] = 0.05f * sinf((float)(c * 71 + u * 29));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("batch");
			planted_begin(&watch);
			const int from = (int)(watch.steps * BATCH % CROWS);
			memcpy(seen, crow[from], sizeof seen);
			memcpy(wanted, scrape[from], sizeof wanted);
			planted_end(&watch);
		}
		{
			DWELL_ZONE("forward");
			forward();
		}
		{
			DWELL_ZONE("backward");
			backward();
		}
		DWELL_ZONE("change");
		change();
	}
	watch_tell(&watch);
	printf("blame %.4f\n", (double)cut_blame[3][5]);
	return 0;
}
