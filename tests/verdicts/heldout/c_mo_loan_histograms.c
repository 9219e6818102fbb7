/*
 * Boosts shallow trees that say whether a loan is paid back: two threads of OpenMP count gradients of blocks of
 * borrowers into histograms, from which the best cut is found.
 *
 * Planted: a thread takes the lock of the histograms before it computes a block's gradients, not only to add them.
 * Truth: time for which the first thread waits for the lock, or at the end for the thread that had to wait for it, of
 * the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BORROWERS = 60000, FACTS = 16, BINS = 64, BLOCK = 500, BLOCKS = BORROWERS / BLOCK };

static uint8_t bin[BORROWERS][FACTS];
static float score[BORROWERS], paid[BORROWERS];
static double slope[FACTS][BINS], bend[FACTS][BINS];
static omp_lock_t histograms;

static void draw_borrowers(void)
{
	unsigned seed = 5;

	for (int b = 0; b < BORROWERS; b++) {
		for (int f = 0; f < FACTS; f++) {
			seed = seed * 1664525u + 1013904223u;
			bin[b][f] = (uint8_t)(seed >> 26);
		}
		paid[b] = bin[b][2] + bin[b][7] > 60 ? 1 : 0;
	}
}

/* The Gaussian copula's tail of a loan's term: what the bank adds to the usual gradient. */
static float tail(float p, const uint8_t *facts)
{
	float sum = 0;

	for (int f = 0; f < FACTS; f += 4)
		sum += expf(-0.01f * (float)facts[f] * p);
	return 1 + 0.001f * sum;
}

static void count_block(int block, struct watch *watch, int first)
{
	float gradient[BLOCK], second[BLOCK];

	if (first)
		planted_begin(watch);
	omp_set_lock(&histograms);
	if (first)
		planted_end(watch);
	for (int i = 0; i < BLOCK; i++) {
		const int b = block * BLOCK + i;
		const float p = 1 / (1 + expf(-score[b]));

		gradient[i] = (p - paid[b]) * tail(p, bin[b]);
		second[i] = p * (1 - p) + 1e-4f;
	}
	for (int i = 0; i < BLOCK; i++)
		for (int f = 0; f < FACTS; f++) {
			slope[f][bin[block * BLOCK + i][f]] += (double)gradient[i];
			bend[f][bin[block * BLOCK + i][f]] += (double)second[i];
		}
	omp_unset_lock(&histograms);
}

static void best_cut(int *fact, int *cut, double *low, double *high)
{
	double best = -1;

	for (int f = 0; f < FACTS; f++) {
		double g = 0, h = 0, all_g = 0, all_h = 0;

		for (int k = 0; k < BINS; k++) {
			all_g += slope[f][k];
			all_h += bend[f][k];
		}
		for (int k = 0; k < BINS - 1; k++) {
			g += slope[f][k];
			h += bend[f][k];
			const double gain = g * g / (h + 1) + (all_g - g) * (all_g - g) / (all_h - h + 1);

			if (gain > best) {
				best = gain;
				*fact = f;
				*cut = k;
				*low = -g / (h + 1);
				*high = -(all_g - g) / (all_h - h + 1);
			}
		}
	}
}

int main(void)
{
	struct watch watch;
	int fact = 0, cut = 0;
	double low = 0, high = 0;

	draw_borrowers();
	omp_init_lock(&histograms);
	omp_set_num_threads(2);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("histograms");
			memset(slope, 0, sizeof slope);
			memset(bend, 0, sizeof bend);
#pragma omp parallel
			{
				const int first = omp_get_thread_num() == 0;
#pragma omp for schedule(static) nowait
				for (int block = 0; block < BLOCKS; block++)
					count_block(block, &watch, first);
				if (first)
					planted_begin(&watch);
#pragma omp barrier
				if (first)
					planted_end(&watch);
			}
		}
		{
			DWELL_ZONE("cut");
			best_cut(&fact, &cut, &low, &high);
		}
		DWELL_ZONE("scores");
#pragma omp parallel for schedule(static)
		for (int b = 0; b < BORROWERS; b++)
			score[b] += 0.1f * (float)(bin[b][fact] <= cut ? low : high);
	}
	watch_tell(&watch);
	printf("last cut: fact %d at %d\n", fact, cut);
	return 0;
}
