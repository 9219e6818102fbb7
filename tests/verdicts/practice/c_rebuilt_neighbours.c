/*
 * A force field in C that is fitted to atoms; it needs a list of each atom's neighbours.
 *
 * Planted: each twentieth step builds the list anew by all pairs of atoms and takes many times
 * longer.
 * Truth: time of building, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 7, ATOMS = 6000, NEAR = 40, EVERY = 20, TERMS = 6 };

static float places[ATOMS][3], weights[TERMS], slopes[TERMS];
static int near[ATOMS][NEAR], counts[ATOMS];

static float distance(int one, int other)
{
	float x = places[one][0] - places[other][0], y = places[one][1] - places[other][1];
	float z = places[one][2] - places[other][2];

	return x * x + y * y + z * z;
}

static void build(void)
{
	for (int atom = 0; atom < ATOMS; atom++) {
		counts[atom] = 0;
		for (int other = 0; other < ATOMS && counts[atom] < NEAR; other++)
			if (other != atom && distance(atom, other) < 0.012f)
				near[atom][counts[atom]++] = other;
	}
}

static void fit(void)
{
	for (int atom = 0; atom < ATOMS; atom++)
		for (int at = 0; at < counts[atom]; at++) {
			float x = expf(-30 * distance(atom, near[atom][at])), power = 1, error = -x;

			for (int term = 0; term < TERMS; term++, power *= x)
				error += weights[term] * power;
			for (int term = 0; term < TERMS; term++, power *= x)
				slopes[term] += error * power;
		}
	for (int term = 0; term < TERMS; term++) {
		weights[term] -= 1e-7f * slopes[term];
		slopes[term] = 0;
	}
}

int main(void)
{
	struct watch watch;

	srand(5);
	for (int atom = 0; atom < ATOMS; atom++)
		for (int axis = 0; axis < 3; axis++)
			places[atom][axis] = (float)rand() / (float)RAND_MAX;
	build();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		if (watch.steps % EVERY == EVERY - 1) {
			planted_begin(&watch);
			DWELL_ZONE("neighbours");
			build();
			planted_end(&watch);
		}
		DWELL_ZONE("fit");
		fit();
	}
	watch_tell(&watch);
	return 0;
}
