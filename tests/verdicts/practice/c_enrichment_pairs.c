/*
 * Ranks compounds by how likely they bind; a network of one hidden layer reads their fingerprints.
 *
 * Planted: after each step the enrichment is found by comparing each active compound with each other one.
 * Truth: time of these comparisons, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { COMPOUNDS = 6000, ACTIVES = 500, SET_BITS = 24, BITS = 1024, UNITS = 16 };

static uint16_t print[COMPOUNDS][SET_BITS];
static float embedding[BITS][UNITS], hidden[COMPOUNDS][UNITS], head[UNITS], score[COMPOUNDS];

static void score_library(void)
{
	DWELL_ZONE("score library");
	for (int c = 0; c < COMPOUNDS; c++) {
		score[c] = 0;
		for (int u = 0; u < UNITS; u++)
			hidden[c][u] = 0;
		for (int b = 0; b < SET_BITS; b++)
			for (int u = 0; u < UNITS; u++)
				hidden[c][u] += embedding[print[c][b]][u];
		for (int u = 0; u < UNITS; u++)
			score[c] += head[u] * (hidden[c][u] > 0 ? hidden[c][u] : 0);
	}
}

static void adjust_embedding(void)
{
	DWELL_ZONE("adjust embedding");
	for (int c = 0; c < COMPOUNDS; c++) {
		float error = 1 / (1 + expf(-score[c])) - (float)(c < ACTIVES);

		for (int b = 0; b < SET_BITS; b++)
			for (int u = 0; u < UNITS; u++)
				embedding[print[c][b]][u] -= 1e-5f * error * head[u] * (float)(hidden[c][u] > 0);
		for (int u = 0; u < UNITS; u++)
			head[u] -= 1e-6f * error * hidden[c][u];
	}
}

static double enrichment(void)
{
	DWELL_ZONE("enrichment");
	double above = 0;

	for (int active = 0; active < ACTIVES; active++)
		for (int other = ACTIVES; other < COMPOUNDS; other++) {
			if (score[active] > score[other])
				above += 1;
			else if (score[active] == score[other])
				above += 0.5;
		}
	return above / ((double)ACTIVES * (COMPOUNDS - ACTIVES));
}

int main(void)
{
	double best = 0;
	struct watch watch;

	for (int c = 0; c < COMPOUNDS; c++)
		for (int b = 0; b < SET_BITS; b++)
			print[c][b] = (uint16_t)(rand() % (c < ACTIVES ? BITS / 2 : BITS));
	for (int u = 0; u < UNITS; u++) {
		head[u] = (float)(rand() % 100 - 50) / 500;
		for (int b = 0; b < BITS; b++)
			embedding[b][u] = (float)(rand() % 100 - 50) / 500;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		double now;

		DWELL_STEP();
		for (int epoch = 0; epoch < 2; epoch++) {
			score_library();
			adjust_embedding();
		}
		planted_begin(&watch);
		now = enrichment();
		planted_end(&watch);
		best = now > best ? now : best;
	}
	printf("enrichment %.4f\n", best);
	watch_tell(&watch);
	return 0;
}
