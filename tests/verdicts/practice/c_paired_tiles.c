/*
 * Convolutions over tiles of a mosaic with OpenMP: two threads, and small pieces that are dealt out
 * on demand.
 *
 * Planted: nothing.
 * Truth: time of the update, which one thread does, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <omp.h>

enum { SECONDS = 5, TILES = 32, SIDE = 64, FILTERS = 6 };

static float tiles[TILES][SIDE][SIDE], filters[FILTERS][9], slopes[TILES][FILTERS][9];

static float at_place(int tile, int filter, int row, int column)
{
	float sum = 0;

	for (int k = 0; k < 9; k++)
		sum += filters[filter][k] * tiles[tile][row + k / 3 - 1][column + k % 3 - 1];
	return sum;
}

static void gradients(void)
{
	DWELL_OP("convolution, gradient");
#pragma omp parallel for schedule(dynamic, 2)
	for (int tile = 0; tile < TILES; tile++)
		for (int filter = 0; filter < FILTERS; filter++) {
			float *mine = slopes[tile][filter];

			for (int k = 0; k < 9; k++)
				mine[k] = 0;
			for (int row = 1; row < SIDE - 1; row++)
				for (int column = 1; column < SIDE - 1; column++) {
					float error = at_place(tile, filter, row, column) - 0.5f;

					for (int k = 0; k < 9; k++)
						mine[k] += error * tiles[tile][row + k / 3 - 1][column + k % 3 - 1];
				}
		}
}

static void update(void)
{
	DWELL_OP("sgd");
	for (int tile = 0; tile < TILES; tile++)
		for (int filter = 0; filter < FILTERS; filter++)
			for (int k = 0; k < 9; k++)
				filters[filter][k] -= 1e-7f * slopes[tile][filter][k];
}

int main(void)
{
	struct watch watch;

	for (int at = 0; at < TILES * SIDE * SIDE; at++)
		tiles[at / SIDE / SIDE][at / SIDE % SIDE][at % SIDE] = (float)(at * 13 % 211) / 211;
	omp_set_num_threads(2);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		gradients();
		planted_begin(&watch);
		update();
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
