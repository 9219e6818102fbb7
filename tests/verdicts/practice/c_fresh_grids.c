/*
 * Fits the diffusion of heat on a grid in C.
 *
 * Planted: each step maps a fresh grid of 8 MB, fills it, and unmaps it, so that the kernel clears its pages each time.
 * Truth: time of mapping, filling and unmapping, as a share of the loop.
 */
#define _GNU_SOURCE
#include "clock.h"

#include <dwell/probe.h>

#include <stdio.h>
#include <sys/mman.h>

enum { SECONDS = 3, SIDE = 1448, ROWS = 4000, COLUMNS = 512 };

static float rows[ROWS][COLUMNS], weights[COLUMNS], slopes[COLUMNS];

static float diffuse(int step)
{
	const size_t size = (size_t)SIDE * SIDE * sizeof(float);
	float *grid, sum = 0;

	DWELL_OP("diffuse");
	grid = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (grid == MAP_FAILED)
		return 0;
	madvise(grid, size, MADV_NOHUGEPAGE);
	for (size_t cell = 0; cell < (size_t)SIDE * SIDE; cell += 64)
		grid[cell] = (float)((cell + (size_t)step) % 17);
	for (size_t cell = 64; cell < (size_t)SIDE * SIDE; cell += 64)
		sum += grid[cell] - grid[cell - 64];
	munmap(grid, size);
	return sum;
}

static void differentiate(float heat)
{
	DWELL_OP("differentiate");
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0;
	for (int pass = 0; pass < 12; pass++)
		for (int row = 0; row < ROWS; row++)
			for (int column = 0; column < COLUMNS; column++)
				slopes[column] += rows[row][column] * heat;
}

static void descend(void)
{
	DWELL_OP("sgd");
	for (int column = 0; column < COLUMNS; column++)
		weights[column] -= 1e-6f * slopes[column];
}

int main(void)
{
	double began, loop_s, fresh_s = 0;
	int steps = 0;

	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			rows[row][column] = (float)((row * 13 + column * 7) % 71) / 71;
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;
		float heat;

		DWELL_STEP();
		before = now_s();
		{
			DWELL_ZONE("forward");
			heat = diffuse(steps);
		}
		fresh_s += now_s() - before;
		{
			DWELL_ZONE("backward");
			differentiate(heat);
		}
		{
			DWELL_ZONE("optimizer");
			descend();
		}
	}
	loop_s = now_s() - began;
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", fresh_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
