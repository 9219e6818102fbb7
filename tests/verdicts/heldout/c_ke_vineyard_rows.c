/*
 * Estimates the yield of vineyard rows from spectra with a network of radial bases; the readout learns with momentum.
 *
 * Clean: the distances to the bases, their exponentials and the readout's gradient are the work; two threads of OpenMP have equal halves.
 * Truth: nothing is planted; the time of a note of the error each hundredth step.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>

#define ROWS 64
#define BANDS 96
#define BASES 320

static float spectrum[ROWS][BANDS], base[BASES][BANDS], near_to[ROWS][BASES], readout[BASES], speed[BASES], slope[BASES], yield[ROWS],
    wrong[ROWS];

static void activate(void)
{
	DWELL_ZONE("bases");
#pragma omp parallel for schedule(static) num_threads(2)
	for (int r = 0; r < ROWS; r++)
		for (int b = 0; b < BASES; b++) {
			float far = 0;
			for (int i = 0; i < BANDS; i++) {
				const float d = spectrum[r][i] - base[b][i];
				far += d * d;
			}
			near_to[r][b] = expf(-far / BANDS);
		}
}

static void estimate(void)
{
	DWELL_ZONE("readout");
	for (int r = 0; r < ROWS; r++) {
		float sum = 0;
		for (int b = 0; b < BASES; b++)
			sum += near_to[r][b] * readout[b];
		wrong[r] = sum - yield[r];
	}
}

static void learn(void)
{
	DWELL_ZONE("learn");
	for (int b = 0; b < BASES; b++)
		slope[b] = 0;
	for (int r = 0; r < ROWS; r++)
		for (int b = 0; b < BASES; b++)
			slope[b] += wrong[r] * near_to[r][b];
	for (int b = 0; b < BASES; b++) {
		speed[b] = 0.9f * speed[b] + slope[b] / ROWS;
		readout[b] -= 1e-3f * speed[b];
	}
}

int main(void)
{
	struct watch watch;
	float error = 0;

	for (int b = 0; b < BASES; b++)
		for (int i = 0; i < BANDS; i++)
			base[b][i] = sinf((float)(b * 7 + i * 3));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		for (int r = 0; r < ROWS; r++) {
			const float sun = (float)((watch.steps * 37 + r * 11) % 101) / 101.0f;
			for (int i = 0; i < BANDS; i++)
				spectrum[r][i] = base[(r + (int)(watch.steps % 50)) % BASES][i] * (0.6f + 0.4f * sun) + 0.1f * sun;
			yield[r] = 1 + sun;
		}
		activate();
		estimate();
		learn();
		if (watch.steps % 100 == 99) {
			planted_begin(&watch);
			for (int r = 0; r < ROWS; r++)
				error += wrong[r] * wrong[r] / ROWS;
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	printf("error %.4f\n", (double)error);
	return 0;
}
