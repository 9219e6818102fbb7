/*
 * Retrieves temperatures from radiances of a weather satellite; threads of OpenMP share the scans of an orbit.
 *
 * Planted: the larger part of each scan is done in an ordered section, in which a thread waits for its turn.
 * Truth: time that the first thread waits for its turn, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#define SCANS 96
#define PIXELS 90
#define BANDS 20
#define LEVELS 32

static float radiance[SCANS][PIXELS][BANDS], profile[SCANS][PIXELS][LEVELS];
static float jacobian[LEVELS][BANDS], bias[BANDS], covariance[BANDS][BANDS];

static void invert(int scan)
{
	for (int p = 0; p < PIXELS; p++)
		for (int l = 0; l < LEVELS; l++) {
			float sum = 0;

			for (int b = 0; b < BANDS; b++)
				sum += jacobian[l][b] * (radiance[scan][p][b] - bias[b]);
			profile[scan][p][l] = sum;
		}
}

/* In the order of the scans, so that two runs give the same bits. */
static void tune(int scan)
{
	for (int pass = 0; pass < 3 * PIXELS; pass++) {
		const int p = pass % PIXELS;
		float rest[BANDS];

		for (int b = 0; b < BANDS; b++) {
			float sum = 0;

			for (int l = 0; l < LEVELS; l++)
				sum += jacobian[l][b] * profile[scan][p][l];
			rest[b] = radiance[scan][p][b] - sum - bias[b];
		}
		for (int b = 0; b < BANDS; b++) {
			bias[b] += 1e-6f * rest[b];
			for (int other = 0; other < BANDS; other++)
				covariance[b][other] += 1e-3f * (rest[b] * rest[other] - covariance[b][other]);
			for (int l = 0; l < LEVELS; l++)
				jacobian[l][b] += 1e-9f * rest[b] * profile[scan][p][l];
		}
	}
}

int main(void)
{
	struct watch watch;

	for (int s = 0; s < SCANS; s++)
		for (int p = 0; p < PIXELS; p++)
			for (int b = 0; b < BANDS; b++)
				radiance[s][p][b] = (float)(rand() % 1000) / 1000;
	for (int l = 0; l < LEVELS; l++)
		for (int b = 0; b < BANDS; b++)
			jacobian[l][b] = expf(-(float)((l - b) * (l - b)) / 20) / 20;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		DWELL_ZONE("retrieve orbit");
#pragma omp parallel for ordered schedule(dynamic, 1)
		for (int scan = 0; scan < SCANS; scan++) {
			const int first = omp_get_thread_num() == 0;

			invert(scan);
			if (first)
				planted_begin(&watch);
#pragma omp ordered
			{
				if (first)
					planted_end(&watch);
				tune(scan);
			}
		}
	}
	watch_tell(&watch);
	return 0;
}
