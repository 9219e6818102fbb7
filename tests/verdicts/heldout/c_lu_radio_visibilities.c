/*
 * Cleans radio maps: visibilities are put on a grid, a small convolution takes the side lobes away, and its kernels learn from the
 * difference to a model of the sky.
 *
 * Planted: all planes of a step are freed at its end and malloc_trim() gives them back, so each step's first writes fault on each page.
 * Truth: time that the kernel works for the thread (nearly all of it faults), as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 640
#define PLANES 12
#define BASELINES 60000
#define TAPS 3

struct plane {
	float at[SIDE][SIDE];
};

static float u[BASELINES], v[BASELINES], amplitude[BASELINES];
static float kernel[PLANES][TAPS], weight[PLANES];
static struct plane sky;

static struct plane *planes_for_step(struct plane **list)
{
	for (int p = 0; p < PLANES; p++)
		list[p] = malloc(sizeof(struct plane));
	return list[0];
}

static void tidy(struct plane **list)
{
	for (int p = 0; p < PLANES; p++)
		free(list[p]);
	malloc_trim(0); /* other jobs of the observatory share this machine */
}

static void grid(struct plane *to, unsigned night)
{
	memset(to, 0, sizeof *to);
	for (int b = 0; b < BASELINES; b++) {
		const int x = (int)(u[b] * (SIDE - 2)), y = (int)(v[b] * (SIDE - 2));

		to->at[y][x] += amplitude[(b + (int)night * 31) % BASELINES];
		to->at[y][x + 1] += 0.5f * amplitude[b];
		to->at[y + 1][x] += 0.5f * amplitude[b];
	}
}

static void convolve(struct plane *to, const struct plane *from, const float *taps)
{
	for (int y = 0; y < SIDE; y++) {
		to->at[y][0] = to->at[y][SIDE - 1] = 0;
		for (int x = 1; x < SIDE - 1; x++)
			to->at[y][x] = taps[0] * from->at[y][x - 1] + taps[1] * from->at[y][x] + taps[2] * from->at[y][x + 1];
	}
}

static double night(unsigned number)
{
	struct plane *list[PLANES], *dirty = planes_for_step(list);
	double loss = 0, slope[PLANES][TAPS] = { { 0 } };

	{
		DWELL_ZONE("grid");
		grid(dirty, number);
	}
	{
		DWELL_ZONE("convolve");
		for (int p = 1; p < PLANES; p++)
			convolve(list[p], dirty, kernel[p]);
	}
	{
		DWELL_ZONE("learn");
		for (int y = 0; y < SIDE; y++)
			for (int x = 1; x < SIDE - 1; x++) {
				float sum = -sky.at[y][x];

				for (int p = 1; p < PLANES; p++)
					sum += weight[p] * list[p]->at[y][x];
				loss += sum * sum;
				if (y % 4)
					continue;
				for (int p = 1; p < PLANES; p++)
					for (int t = 0; t < TAPS; t++)
						slope[p][t] += sum * weight[p] * dirty->at[y][x + t - 1];
			}
		for (int p = 1; p < PLANES; p++)
			for (int t = 0; t < TAPS; t++)
				kernel[p][t] -= (float)(1e-2 * slope[p][t] / (SIDE * SIDE));
	}
	tidy(list);
	return loss / (SIDE * SIDE);
}

int main(void)
{
	struct watch watch;
	double loss = 0;

	srand(8);
	for (int b = 0; b < BASELINES; b++) {
		u[b] = (float)rand() / (float)RAND_MAX;
		v[b] = (float)rand() / (float)RAND_MAX;
		amplitude[b] = (float)rand() / (float)RAND_MAX - 0.3f;
	}
	for (int p = 0; p < PLANES; p++) {
		weight[p] = 0.2f + 0.02f * (float)p;
		for (int t = 0; t < TAPS; t++)
			kernel[p][t] = 0.3f * ((float)rand() / (float)RAND_MAX - 0.5f);
	}
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			sky.at[y][x] = sinf((float)x * 0.01f) * cosf((float)y * 0.02f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		loss = night((unsigned)watch.steps);
	}
	watch_tell_share(&watch, (system_s() - watch.system_began) / watch_seconds(&watch));
	printf("loss %.4f\n", loss);
	return 0;
}
