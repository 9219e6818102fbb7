/*
 * Picks the first arrival of an earthquake's wave on the traces of a network of seismometers: a kernel over time is learned for
 * each of sixteen filters, and two threads of OpenMP share the traces.
 *
 * Planted: before each step the traces are freed from their medians by sorting each, a loop that nobody gave to the team.
 * Truth: time of that loop, which one thread does while the other rests, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define TRACES 96
#define LENGTH 1024
#define FILTERS 16
#define TAPS 32

static float raw[4][TRACES][LENGTH], traces[TRACES][LENGTH + TAPS];
static float filters[FILTERS][TAPS], gradients[2][FILTERS][TAPS], answers[TRACES][FILTERS][LENGTH];
static float arrival[TRACES];

static int by_value(const void *one, const void *other)
{
	const float a = *(const float *)one, b = *(const float *)other;

	return (a > b) - (a < b);
}

static void free_from_median(const float *from, float *to)
{
	float sorted[LENGTH];

	memcpy(sorted, from, sizeof sorted);
	qsort(sorted, LENGTH, sizeof *sorted, by_value);
	const float middle = sorted[LENGTH / 2], spread = sorted[LENGTH * 3 / 4] - sorted[LENGTH / 4] + 0.01f;

	for (int s = 0; s < LENGTH; s++)
		to[s] = (from[s] - middle) / spread;
}

static void prepare(long step)
{
	DWELL_ZONE("prepare");
	for (int t = 0; t < TRACES; t++)
		free_from_median(raw[step % 4][t], traces[t] + TAPS / 2);
}

static void filter(void)
{
	DWELL_OP("filter");
	const uint64_t team = DWELL_TEAM();

#pragma omp parallel num_threads(2)
	{
		DWELL_WORKER(team);
#pragma omp for schedule(static)
		for (int t = 0; t < TRACES; t++)
			for (int f = 0; f < FILTERS; f++) {
				float *answer = answers[t][f];

				memset(answer, 0, sizeof answers[t][f]);
				for (int k = 0; k < TAPS; k++)
					for (int s = 0; s < LENGTH; s++)
						answer[s] += filters[f][k] * traces[t][s + k];
			}
	}
}

static void correct(void)
{
	DWELL_OP("correct");
	const uint64_t team = DWELL_TEAM();

#pragma omp parallel num_threads(2)
	{
		DWELL_WORKER(team);
		float (*mine)[TAPS] = gradients[omp_get_thread_num()];

		memset(mine, 0, sizeof gradients[0]);
#pragma omp for schedule(static)
		for (int t = 0; t < TRACES; t++)
			for (int f = 0; f < FILTERS; f++) {
				const float *answer = answers[t][f];

				for (int k = 0; k < TAPS; k++) {
					float part[4] = {0};

					for (int s = 0; s < LENGTH; s += 4)
						for (int p = 0; p < 4; p++)
							part[p] += (answer[s + p] - arrival[t]) * traces[t][s + k + p];
					mine[f][k] += part[0] + part[1] + part[2] + part[3];
				}
			}
	}
	for (int f = 0; f < FILTERS; f++)
		for (int k = 0; k < TAPS; k++)
			filters[f][k] -= 1e-9f * (gradients[0][f][k] + gradients[1][f][k]);
}

int main(void)
{
	static struct watch watch;

	srand(1906);
	for (int n = 0; n < 4; n++)
		for (int t = 0; t < TRACES; t++)
			for (int s = 0; s < LENGTH; s++)
				raw[n][t][s] = (float)rand() / (float)RAND_MAX + (s > 300 + t * 4 ? sinf((float)s * 0.3f) * 2 : 0);
	for (int f = 0; f < FILTERS; f++)
		for (int k = 0; k < TAPS; k++)
			filters[f][k] = 0.2f * (float)rand() / (float)RAND_MAX - 0.1f;
	for (int t = 0; t < TRACES; t++)
		arrival[t] = (float)(300 + t * 4) / LENGTH;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		prepare(watch.steps);
		planted_end(&watch);
		filter();
		correct();
	}
	watch_tell(&watch);
	printf("filter %.6f\n", (double)filters[3][4]);
	return 0;
}
