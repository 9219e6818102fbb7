/*
 * Learns a filter that follows the water of tidal pools from photographs taken in a row: a convolution with 12 filters, a readout,
 * and their gradients, over 16 photographs in each step. Two threads of OpenMP have eight photographs each.
 *
 * Clean: nothing is planted; each step has the same photographs' size, the same filters and equal halves.
 * Truth: nothing comes near a cause, 0.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <string.h>

enum { SIDE = 36, FILTERS = 12, REACH = 5, PHOTOS = 16, ALL = 64, INNER = SIDE - REACH + 1 };

static float photo[ALL][SIDE][SIDE], water[ALL];
static float filter[FILTERS][REACH][REACH], readout[FILTERS];
static float seen[PHOTOS][FILTERS][INNER][INNER], wrong[PHOTOS];
static float slope[PHOTOS][FILTERS][REACH][REACH], mean[PHOTOS][FILTERS];

static void look(int p, const float (*picture)[SIDE])
{
	for (int f = 0; f < FILTERS; f++) {
		float sum = 0;
		for (int y = 0; y < INNER; y++)
			for (int x = 0; x < INNER; x++) {
				float value = 0;
				for (int dy = 0; dy < REACH; dy++)
					for (int dx = 0; dx < REACH; dx++)
						value += picture[y + dy][x + dx] * filter[f][dy][dx];
				value = value / (1.0f + fabsf(value));
				seen[p][f][y][x] = value;
				sum += value;
			}
		mean[p][f] = sum / (INNER * INNER);
	}
}

static void learn(int p, const float (*picture)[SIDE])
{
	for (int f = 0; f < FILTERS; f++) {
		const float from_readout = 2 * wrong[p] * readout[f] / (INNER * INNER);
		memset(slope[p][f], 0, sizeof slope[p][f]);
		for (int y = 0; y < INNER; y++)
			for (int x = 0; x < INNER; x++) {
				const float left = 1.0f - fabsf(seen[p][f][y][x]);
				const float d = from_readout * left * left;
				for (int dy = 0; dy < REACH; dy++)
					for (int dx = 0; dx < REACH; dx++)
						slope[p][f][dy][dx] += d * picture[y + dy][x + dx];
			}
	}
}

int main(void)
{
	struct watch watch;
	float loss = 0;

	for (int a = 0; a < ALL; a++) {
		water[a] = 0.5f + 0.4f * sinf((float)a * 0.3f);
		for (int i = 0; i < SIDE * SIDE; i++)
			(&photo[a][0][0])[i] = water[a] * (1.1f + sinf((float)i * 0.7f + (float)a)) + 0.2f * cosf((float)(i * (a + 3)));
	}
	for (int i = 0; i < FILTERS * REACH * REACH; i++)
		(&filter[0][0][0])[i] = 0.2f * sinf((float)i * 1.3f + 0.5f);
	for (int f = 0; f < FILTERS; f++)
		readout[f] = f % 2 ? 0.3f : -0.2f;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const int from = watch.steps * PHOTOS % ALL;
		{
			DWELL_ZONE("look");
#pragma omp parallel for num_threads(2) schedule(static)
			for (int p = 0; p < PHOTOS; p++)
				look(p, photo[from + p]);
		}
		{
			DWELL_ZONE("read out");
			loss = 0;
			for (int p = 0; p < PHOTOS; p++) {
				float level = 0;
				for (int f = 0; f < FILTERS; f++)
					level += readout[f] * mean[p][f];
				wrong[p] = level - water[from + p];
				loss += wrong[p] * wrong[p] / PHOTOS;
			}
		}
		{
			DWELL_ZONE("learn");
#pragma omp parallel for num_threads(2) schedule(static)
			for (int p = 0; p < PHOTOS; p++)
				learn(p, photo[from + p]);
		}
		DWELL_ZONE("update");
		for (int p = 0; p < PHOTOS; p++)
			for (int f = 0; f < FILTERS; f++) {
				readout[f] -= 0.002f * wrong[p] * mean[p][f];
				for (int i = 0; i < REACH * REACH; i++)
					(&filter[f][0][0])[i] -= 0.001f * (&slope[p][f][0][0])[i];
			}
	}
	watch_tell(&watch);
	printf("loss %.5f\n", (double)loss);
	return 0;
}
