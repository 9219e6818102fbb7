/*
 * Learns which animals of a kelp forest live together: a restricted Boltzmann machine with mean fields, one step of contrastive
 * divergence for a batch of dives. Two threads of OpenMP take equal halves of the dives, then of the weights.
 *
 * Clean: nothing is planted; all dives have the same size and both threads the same work.
 * Truth: nothing comes near a cause, 0.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

#define DIVES 320
#define SPECIES 192
#define GROUPS 96
#define LOTS 12

static float weight[SPECIES][GROUPS], turned[GROUPS][SPECIES];
static float seen[LOTS][DIVES][SPECIES];
static float groups[DIVES][GROUPS], again[DIVES][SPECIES], groups_again[DIVES][GROUPS];

static float squash(float x)
{
	return 0.5f + 0.5f * x / (1 + fabsf(x));
}

static void up(float *to, const float *from)
{
	for (int g = 0; g < GROUPS; g++)
		to[g] = 0;
	for (int s = 0; s < SPECIES; s++)
		for (int g = 0; g < GROUPS; g++)
			to[g] += from[s] * weight[s][g];
	for (int g = 0; g < GROUPS; g++)
		to[g] = squash(to[g]);
}

static void down(float *to, const float *from)
{
	for (int s = 0; s < SPECIES; s++)
		to[s] = 0;
	for (int g = 0; g < GROUPS; g++)
		for (int s = 0; s < SPECIES; s++)
			to[s] += from[g] * turned[g][s];
	for (int s = 0; s < SPECIES; s++)
		to[s] = squash(to[s]);
}

static void fields(const float (*dives)[SPECIES])
{
	DWELL_ZONE("mean fields");
#pragma omp parallel for schedule(static) num_threads(2)
	for (int d = 0; d < DIVES; d++) {
		up(groups[d], dives[d]);
		down(again[d], groups[d]);
		up(groups_again[d], again[d]);
	}
}

static void contrast(const float (*dives)[SPECIES])
{
	DWELL_ZONE("contrast");
#pragma omp parallel for schedule(static) num_threads(2)
	for (int s = 0; s < SPECIES; s++) {
		float change[GROUPS] = {0};

		for (int d = 0; d < DIVES; d++)
			for (int g = 0; g < GROUPS; g++)
				change[g] += dives[d][s] * groups[d][g] - again[d][s] * groups_again[d][g];
		for (int g = 0; g < GROUPS; g++) {
			weight[s][g] += 2e-5f * change[g];
			turned[g][s] = weight[s][g];
		}
	}
}

int main(void)
{
	static struct watch watch;

	srand(12);
	for (int l = 0; l < LOTS; l++)
		for (int d = 0; d < DIVES; d++)
			for (int s = 0; s < SPECIES; s++)
				seen[l][d][s] = 0.1f + 0.6f * (float)((s + d * 5) % 8 < 3) + 0.2f * (float)rand() / (float)RAND_MAX;
	for (int s = 0; s < SPECIES; s++)
		for (int g = 0; g < GROUPS; g++)
			turned[g][s] = weight[s][g] = 0.1f * ((float)rand() / (float)RAND_MAX - 0.5f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const float (*dives)[SPECIES] = (const float (*)[SPECIES])seen[watch.steps % LOTS];

		fields(dives);
		contrast(dives);
	}
	watch_tell(&watch);
	printf("weight %.5f, seen again %.4f\n", (double)weight[3][4], (double)again[0][0]);
	return 0;
}
