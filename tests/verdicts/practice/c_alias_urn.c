/*
 * Vectors of plants from lists of who grows beside whom, with drawn plants as counterexamples.
 *
 * Planted: every 30th step builds the urn anew from which counterexamples are drawn.
 * Truth: time of building, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 5, PLANTS = 20000, WIDTH = 96, PAIRS = 2500 };
enum { DRAWN = 6, URN = 1500000, EVERY = 30 };

static float vectors[PLANTS][WIDTH], contexts[PLANTS][WIDTH];
static int urn[URN], counts[PLANTS];

static void fill_urn(void)
{
	double all = 0, sum = 0;
	int plant = 0;

	DWELL_ZONE("fill urn");
	for (int at = 0; at < PLANTS; at++)
		all += pow(counts[at] + 1, 0.75);
	for (int at = 0; at < URN; at++) {
		while (plant < PLANTS - 1 && sum / all < (double)at / URN)
			sum += pow(counts[plant++] + 1, 0.75);
		urn[at] = plant;
	}
	for (int at = URN - 1; at > 0; at--) {
		int other = rand() % (at + 1), swap = urn[at];

		urn[at] = urn[other];
		urn[other] = swap;
	}
}

static void pull(int plant, int other, float label)
{
	float sum = 0;

	for (int at = 0; at < WIDTH; at++)
		sum += vectors[plant][at] * contexts[other][at];
	sum = 0.01f * (1 / (1 + expf(-sum)) - label);
	for (int at = 0; at < WIDTH; at++) {
		float before = vectors[plant][at];

		vectors[plant][at] -= sum * contexts[other][at];
		contexts[other][at] -= sum * before;
	}
}

static void learn(int step)
{
	DWELL_OP("pairs");
	for (int pair = 0; pair < PAIRS; pair++) {
		int plant = (step * PAIRS + pair * 17) % PLANTS;

		counts[plant]++;
		pull(plant, (plant + 1) % PLANTS, 1);
		for (int drawn = 0; drawn < DRAWN; drawn++)
			pull(plant, urn[(step * 31 + pair * DRAWN + drawn) % URN], 0);
	}
}

int main(void)
{
	struct watch watch;

	for (int at = 0; at < PLANTS * WIDTH; at++)
		vectors[at / WIDTH][at % WIDTH] = contexts[at / WIDTH][at % WIDTH] = (float)(at % 19) / 400;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		if (watch.steps % EVERY == 0) {
			planted_begin(&watch);
			fill_urn();
			planted_end(&watch);
		}
		learn(watch.steps);
	}
	watch_tell(&watch);
	return 0;
}
