/*
 * Scores poses of a ligand in a pocket by potentials on small grids, and learns the weights of the potentials.
 *
 * Planted: the poses' grids are freed at the end of each step and the heap is trimmed, so that their pages are new each time.
 * Truth: time of the loop's thread in the kernel, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <malloc.h>
#include <stdlib.h>

#define POSES 64
#define CELLS 24000
#define TERMS 5

static float weights[TERMS] = { 0.2f, 0.1f, 0.05f, 0.3f, 0.02f };
static float pocket[TERMS][CELLS];

static float *lay_out(int pose, int step)
{
	float *grid = malloc(CELLS * sizeof *grid);
	int shift = (pose * 131 + step * 17) % 4096;

	for (int cell = 0; cell < CELLS; cell++)
		grid[cell] = pocket[0][cell] * weights[0] + pocket[1][(cell + shift) % CELLS] * weights[1];
	return grid;
}

static float score(float *grid)
{
	float energy = 0;

	for (int term = 2; term < TERMS; term++)
		for (int cell = 0; cell < CELLS; cell += 4)
			energy += weights[term] * pocket[term][cell] * grid[cell];
	return energy / CELLS;
}

static void learn(float *const *grids, const float *energies)
{
	for (int term = 0; term < TERMS; term++) {
		float gradient = 0;

		for (int pose = 0; pose < POSES; pose++)
			for (int cell = 0; cell < CELLS; cell += 32)
				gradient += (energies[pose] - 1) * grids[pose][cell] * pocket[term][cell];
		weights[term] -= 1e-8f * gradient;
	}
}

int main(void)
{
	float *grids[POSES], energies[POSES];
	double system_began;
	struct watch watch;

	for (int term = 0; term < TERMS; term++)
		for (int cell = 0; cell < CELLS; cell++)
			pocket[term][cell] = (float)(rand() % 1000) / 1000;
	watch_begin(&watch);
	system_began = system_s();
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		{
			DWELL_PHASE("forward");
			for (int pose = 0; pose < POSES; pose++) {
				grids[pose] = lay_out(pose, watch.steps);
				energies[pose] = score(grids[pose]);
			}
		}
		{
			DWELL_PHASE("backward");
			learn(grids, energies);
		}
		for (int pose = 0; pose < POSES; pose++)
			free(grids[pose]);
		malloc_trim(0);
		watch.steps++;
	}
	watch_tell_share(&watch, (system_s() - system_began) / watch_seconds(&watch));
	return 0;
}
