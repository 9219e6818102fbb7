/*
 * Searches a gait for a six-legged robot by evolution strategies: the controller of central oscillators of each
 * candidate drives a chain of springs for the same number of ticks, and the mean moves to the better candidates.
 *
 * Clean: each thread of two rolls out half of the candidates, which all cost the same; no gradients, nothing planted.
 * Truth: time of ranking the candidates and moving the mean, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEGS = 6, JOINTS = 3 * LEGS, GENES = JOINTS * 3 + JOINTS * JOINTS, SWARM = 64, TICKS = 120 };

struct candidate {
	float genes[GENES];
	float score;
};

static struct candidate swarm[SWARM];
static float mean[GENES];

static float bell(unsigned *seed)
{
	float sum = -2;

	for (int i = 0; i < 4; i++) {
		*seed = *seed * 1664525u + 1013904223u;
		sum += (float)(*seed >> 8) / 16777216.0f;
	}
	return sum * 1.7f;
}

static float walk(const float *genes)
{
	const float *rate = genes, *reach = genes + JOINTS, *offset = genes + 2 * JOINTS, *couple = genes + 3 * JOINTS;
	float phase[JOINTS], angle[JOINTS], speed[JOINTS] = { 0 }, x = 0;

	for (int j = 0; j < JOINTS; j++) {
		phase[j] = 0.7f * (float)j;
		angle[j] = 0.1f;
	}
	for (int t = 0; t < TICKS; t++) {
		float wave[JOINTS], push = 0;

		for (int j = 0; j < JOINTS; j++)
			wave[j] = sinf(phase[j]);
		for (int j = 0; j < JOINTS; j++) {
			float drive = 0;

			for (int k = 0; k < JOINTS; k++)
				drive += couple[j * JOINTS + k] * wave[k];
			phase[j] += 0.05f * (4 + tanhf(rate[j]) + 0.3f * tanhf(drive));
			const float wanted = tanhf(reach[j]) * wave[j] + 0.3f * tanhf(offset[j]);

			speed[j] += 0.02f * (40 * (wanted - angle[j]) - 5 * speed[j]);
			angle[j] += 0.02f * speed[j];
			push += (j % 3 == 0 ? 1.0f : 0.3f) * speed[j] * (angle[j] > 0 ? 1.0f : 0.2f);
		}
		x += 0.02f * push / LEGS;
	}
	return x;
}

static int better_first(const void *a, const void *b)
{
	const float x = ((const struct candidate *)a)->score, y = ((const struct candidate *)b)->score;

	return (x < y) - (x > y);
}

static void mutate(unsigned *seed)
{
	DWELL_ZONE("mutate");
	for (int c = 0; c < SWARM; c += 2)
		for (int g = 0; g < GENES; g++) {
			const float e = 0.1f * bell(seed);

			swarm[c].genes[g] = mean[g] + e;
			swarm[c + 1].genes[g] = mean[g] - e;
		}
}

static void rollouts(void)
{
	DWELL_ZONE("rollouts");
	const uint64_t team = DWELL_TEAM();

	#pragma omp parallel num_threads(2)
	{
		DWELL_WORKER(team);
		#pragma omp for schedule(static)
		for (int c = 0; c < SWARM; c++)
			swarm[c].score = walk(swarm[c].genes);
	}
}

static void select_best(void)
{
	DWELL_ZONE("select");
	float next[GENES] = { 0 };

	qsort(swarm, SWARM, sizeof swarm[0], better_first);
	for (int c = 0; c < SWARM / 4; c++)
		for (int g = 0; g < GENES; g++)
			next[g] += swarm[c].genes[g] / (SWARM / 4);
	memcpy(mean, next, sizeof mean);
}

int main(void)
{
	struct watch watch;
	unsigned seed = 5;

	for (int g = 0; g < GENES; g++)
		mean[g] = 0.5f * bell(&seed);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		mutate(&seed);
		rollouts();
		planted_begin(&watch);
		select_best();
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("best %.4f\n", (double)swarm[0].score);
	return 0;
}
