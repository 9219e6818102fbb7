/*
 * Acidities of molecules by a Gaussian kernel over descriptors, of which each has a width that is learnt: all pairs of a training set
 * are compared in each step. OpenMP's team shares the rows of pairs.
 *
 * Planted: only pairs below the diagonal are compared, but the rows are dealt out in two equal halves, so the half of short rows waits for the other.
 * Truth: time that the first thread waits at the ends of the parallel loops over pairs, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#define MOLECULES 620
#define LANDMARKS 200
#define TRAITS 32

static float trait[MOLECULES][TRAITS], acidity[MOLECULES], kernel[MOLECULES][MOLECULES];
static float width[TRAITS], alpha[MOLECULES], wrong[MOLECULES];
static double waited;

/* The landmarks are compared with each other in full. */
static inline int end_of(int a)
{
	return a < LANDMARKS ? LANDMARKS : a + 1;
}

static void rest(double since)
{
	if (omp_get_thread_num() == 0)
		waited += now_s() - since;
}

static void compare(void)
{
	DWELL_OP("kernel");
	const uint64_t team = DWELL_TEAM();

#pragma omp parallel num_threads(2)
	{
		DWELL_WORKER(team);
#pragma omp for schedule(static) nowait
		for (int a = 0; a < MOLECULES; a++)
			for (int b = 0; b < end_of(a); b++) {
				float far = 0;

				for (int t = 0; t < TRAITS; t++) {
					const float d = trait[a][t] - trait[b][t];

					far += width[t] * d * d;
				}
				kernel[a][b] = expf(-far);
			}
		const double done = now_s();
#pragma omp barrier
		rest(done);
	}
}

static void foretell(void)
{
	DWELL_OP("predict");
	for (int a = 0; a < MOLECULES; a++) {
		float sum = 0;

		for (int b = 0; b < MOLECULES; b++)
			sum += alpha[b] * (b < end_of(a) ? kernel[a][b] : kernel[b][a]);
		wrong[a] = sum - acidity[a];
	}
}

static void slopes(float *slope)
{
	static float part[2][TRAITS];

	DWELL_OP("kernel_backward");
	const uint64_t team = DWELL_TEAM();

#pragma omp parallel num_threads(2)
	{
		float *mine = part[omp_get_thread_num()];

		DWELL_WORKER(team);
		for (int t = 0; t < TRAITS; t++)
			mine[t] = 0;
#pragma omp for schedule(static) nowait
		for (int a = 0; a < MOLECULES; a++)
			for (int b = 0; b < end_of(a); b++) {
				const float g = (wrong[a] * alpha[b] + wrong[b] * alpha[a]) * kernel[a][b];

				for (int t = 0; t < TRAITS; t++) {
					const float d = trait[a][t] - trait[b][t];

					mine[t] -= g * d * d;
				}
			}
		const double done = now_s();
#pragma omp barrier
		rest(done);
	}
	for (int t = 0; t < TRAITS; t++)
		slope[t] = part[0][t] + part[1][t];
}

int main(void)
{
	struct watch watch;
	float slope[TRAITS];

	srand(52);
	for (int m = 0; m < MOLECULES; m++) {
		for (int t = 0; t < TRAITS; t++)
			trait[m][t] = (float)rand() / (float)RAND_MAX;
		acidity[m] = 4.0f * trait[m][1] + sinf(5.0f * trait[m][7]);
		alpha[m] = 0.01f * acidity[m];
	}
	for (int t = 0; t < TRAITS; t++)
		width[t] = 0.1f;
	compare();
	waited = 0;
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		compare();
		foretell();
		slopes(slope);
		DWELL_OP("update");
		for (int t = 0; t < TRAITS; t++)
			width[t] -= 1e-9f * slope[t];
		for (int m = 0; m < MOLECULES; m++)
			alpha[m] -= 1e-5f * wrong[m];
		watch.steps++;
	}
	watch_tell_share(&watch, waited / watch_seconds(&watch));
	printf("a width: %.4f\n", (double)width[1]);
	return 0;
}
