/*
 * Lays vowels of dialects out on a self-organizing map of 24 by 24 units.
 *
 * Clean: each step finds the nearest units of a batch, gathers what they should become, and moves the map.
 * Truth: time in which the batch is drawn, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 24, UNITS = SIDE * SIDE, FORMANTS = 40, VOWELS = 4000, BATCH = 96 };

static float unit[UNITS][FORMANTS], vowel[VOWELS][FORMANTS], sum[UNITS][FORMANTS], weight[UNITS];
static int batch[BATCH], winner[BATCH];

static void draw(unsigned *seed)
{
	DWELL_ZONE("draw");
	for (int b = 0; b < BATCH; b++) {
		*seed = *seed * 1664525u + 1013904223u;
		batch[b] = (int)((*seed >> 8) % VOWELS);
	}
}

static float find_winners(void)
{
	DWELL_ZONE("nearest units");
	float error = 0;

	for (int b = 0; b < BATCH; b++) {
		float nearest = INFINITY;

		for (int u = 0; u < UNITS; u++) {
			float distance = 0;

			for (int f = 0; f < FORMANTS; f++) {
				const float d = unit[u][f] - vowel[batch[b]][f];

				distance += d * d;
			}
			if (distance < nearest) {
				nearest = distance;
				winner[b] = u;
			}
		}
		error += nearest;
	}
	return error / BATCH;
}

static void gather(float radius)
{
	DWELL_ZONE("neighbourhood");
	memset(sum, 0, sizeof sum);
	memset(weight, 0, sizeof weight);
	for (int b = 0; b < BATCH; b++) {
		const int row = winner[b] / SIDE, column = winner[b] % SIDE;

		for (int u = 0; u < UNITS; u++) {
			const int dr = u / SIDE - row, dc = u % SIDE - column;
			const float near = expf(-(float)(dr * dr + dc * dc) / (2 * radius * radius));

			weight[u] += near;
			for (int f = 0; f < FORMANTS; f++)
				sum[u][f] += near * vowel[batch[b]][f];
		}
	}
}

static void move(float rate)
{
	DWELL_ZONE("move");
	for (int u = 0; u < UNITS; u++)
		for (int f = 0; f < FORMANTS; f++)
			unit[u][f] += rate * (sum[u][f] / (weight[u] + 1e-3f) - unit[u][f]);
}

int main(void)
{
	struct watch watch;
	unsigned seed = 3;
	float error = 0;

	for (int v = 0; v < VOWELS; v++)
		for (int f = 0; f < FORMANTS; f++)
			vowel[v][f] = sinf(0.3f * (float)(v % 12) * (float)(f + 1)) + 0.2f * (float)(rand() % 100) / 100;
	for (int u = 0; u < UNITS; u++)
		for (int f = 0; f < FORMANTS; f++)
			unit[u][f] = (float)(rand() % 100) / 100;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		draw(&seed);
		planted_end(&watch);
		error = find_winners();
		gather(1.5f + 6 / (1 + 0.01f * (float)watch.steps));
		move(0.1f);
	}
	watch_tell(&watch);
	printf("error %.4f\n", (double)error);
	return 0;
}
