/*
 * Currents of an ocean on a grid: a linear model of neighbours, in loops of OpenMP.
 *
 * Planted: each loop runs in eight times as many threads as there are processors.
 * Truth: by how much a step takes longer than with one thread a processor, measured before the
 * loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <omp.h>

enum { SECONDS = 6, SIDE = 130, SWEEPS = 100, TRIES = 4 };

static float heights[2][SIDE][SIDE], weights[9], errors[SIDE];

static void sweep(int from)
{
	DWELL_OP("neighbours");
#pragma omp parallel for schedule(static)
	for (int row = 1; row < SIDE - 1; row++)
		for (int column = 1; column < SIDE - 1; column++) {
			float sum = 0;

			for (int k = 0; k < 9; k++)
				sum += weights[k] * heights[from][row + k / 3 - 1][column + k % 3 - 1];
			heights[1 - from][row][column] = sum;
		}
}

static void fit(void)
{
	DWELL_OP("fit");
#pragma omp parallel for schedule(static)
	for (int row = 1; row < SIDE - 1; row++) {
		errors[row] = 0;
		for (int column = 1; column < SIDE - 1; column++)
			errors[row] += heights[0][row][column] - heights[1][row][column];
	}
	for (int row = 1; row < SIDE - 1; row++)
		weights[row % 9] -= 1e-9f * errors[row];
}

static void step(void)
{
	for (int at = 0; at < SWEEPS; at++) {
		sweep(at & 1);
		fit();
	}
}

int main(void)
{
	double alone_s = 1e9;
	struct watch watch;

	for (int at = 0; at < SIDE * SIDE; at++)
		heights[0][at / SIDE][at % SIDE] = (float)(at % 89) / 89;
	for (int k = 0; k < 9; k++)
		weights[k] = 0.11f;
	omp_set_num_threads(omp_get_num_procs());
	for (int at = 0; at < TRIES; at++) {
		double before = now_s();

		step();
		if (now_s() - before < alone_s)
			alone_s = now_s() - before;
	}
	omp_set_num_threads(8 * omp_get_num_procs());
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		step();
	}
	watch_tell_share(&watch, 1 - alone_s * watch.steps / watch_seconds(&watch));
	return 0;
}
