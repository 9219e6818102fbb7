/*
 * Estimates how long parcels travel; an epoch has six steps.
 *
 * Planted: after each epoch all parcels are copied into another order, outside of the steps and of
 * any range.
 * Truth: time of copying, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 5, BATCHES = 6, BATCH = 4000, PARCELS = BATCHES * BATCH, FACTS = 256, PASSES = 3 };

struct parcel {
	float facts[FACTS], days;
};

static struct parcel *parcels, *others;
static float weights[FACTS];

static void shuffle(void)
{
	struct parcel swap;

	for (int at = PARCELS - 1; at > 0; at--) {
		int other = rand() % (at + 1);

		memcpy(&swap, &parcels[at], sizeof(swap));
		memcpy(&parcels[at], &parcels[other], sizeof(swap));
		memcpy(&parcels[other], &swap, sizeof(swap));
	}
	memcpy(others, parcels, PARCELS * sizeof(*parcels)); /* what the epoch reads */
}

static void learn(const struct parcel *batch)
{
	DWELL_STEP();
	DWELL_OP("days, gradient");
	for (int pass = 0; pass < PASSES * BATCH; pass++) {
		int at = pass % BATCH;
		float error = -batch[at].days;

		for (int fact = 0; fact < FACTS; fact++)
			error += batch[at].facts[fact] * weights[fact];
		for (int fact = 0; fact < FACTS; fact++)
			weights[fact] -= 1e-7f * error * batch[at].facts[fact];
	}
}

int main(void)
{
	struct watch watch;

	parcels = calloc(PARCELS, sizeof(*parcels));
	others = calloc(PARCELS, sizeof(*others));
	for (int at = 0; at < PARCELS; at++) {
		parcels[at].days = (float)(at % 9);
		for (int fact = 0; fact < FACTS; fact++)
			parcels[at].facts[fact] = (float)((at + fact) % 23) / 23;
	}
	watch_begin(&watch);
	while (watch_seconds(&watch) < SECONDS) {
		planted_begin(&watch);
		shuffle();
		planted_end(&watch);
		for (int batch = 0; batch < BATCHES; batch++, watch.steps++)
			learn(others + batch * BATCH);
	}
	watch_tell(&watch);
	free(parcels);
	free(others);
	return 0;
}
