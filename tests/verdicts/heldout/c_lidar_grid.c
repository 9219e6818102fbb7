/*
 * Detects cars in lidar scans: points are put into a grid of voxels, and occupied pillars go through a network.
 *
 * Planted: the grid of 39 MB is allocated, cleared by the kernel page by page, and freed for each scan.
 * Truth: time of allocating, filling and freeing a grid, less that of filling one whose pages are there, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { GRID_X = 320, GRID_Y = 320, GRID_Z = 96, POINTS = 9000, PILLARS = 2250, CHANNELS = 96, INPUTS = GRID_Z };

struct point { float x, y, z, reflection; };

static struct point scan[POINTS];
static float layer1[CHANNELS][INPUTS], layer2[CHANNELS][CHANNELS], head[CHANNELS];
static float heat[PILLARS];
static uint32_t seed = 20;

static float uniform(void)
{
	seed = seed * 1664525u + 1013904223u;
	return (float)(seed >> 8) / 16777216.0f;
}

static void next_scan(void)
{
	DWELL_LAYER("detector.sensor");
	for (int i = 0; i < POINTS; i++)
		scan[i] = (struct point){ uniform(), uniform(), uniform(), 0.5f };
}

static void fill(float *grid)
{
	for (int i = 0; i < POINTS; i++) {
		int x = (int)(scan[i].x * GRID_X), y = (int)(scan[i].y * GRID_Y), z = (int)(scan[i].z * GRID_Z);

		grid[((size_t)x * GRID_Y + y) * GRID_Z + z] += scan[i].reflection;
	}
}

static float *new_grid(void)
{
	return calloc((size_t)GRID_X * GRID_Y * GRID_Z, sizeof(float));
}

static void pillars(const float *grid)
{
	DWELL_LAYER("detector.pillars");
	for (int p = 0; p < PILLARS; p++) {
		/* the pillars that hold a point; a point in four is taken */
		const struct point *at = &scan[p * (POINTS / PILLARS)];
		const float *column = &grid[((size_t)(int)(at->x * GRID_X) * GRID_Y + (int)(at->y * GRID_Y)) * GRID_Z];
		float first[CHANNELS], sum = 0;

		for (int c = 0; c < CHANNELS; c++) {
			float z = 0.01f;

			for (int i = 0; i < INPUTS; i++)
				z += layer1[c][i] * column[i];
			first[c] = fmaxf(z, 0);
		}
		for (int c = 0; c < CHANNELS; c++) {
			float z = 0;

			for (int i = 0; i < CHANNELS; i++)
				z += layer2[c][i] * first[i];
			sum += head[c] * fmaxf(z, 0);
		}
		heat[p] = sum;
	}
}

static double seconds_to_fill(void)
{
	float *grid = new_grid();
	double began;

	for (size_t at = 0; at < (size_t)GRID_X * GRID_Y * GRID_Z; at++)
		grid[at] = 1;
	next_scan();
	began = now_s();
	for (int i = 0; i < 5; i++) {
		next_scan();
		fill(grid);
	}
	began = now_s() - began;
	free(grid);
	return began / 5;
}

int main(void)
{
	struct watch watch;
	double of_filling = seconds_to_fill();
	int cars = 0;

	for (int c = 0; c < CHANNELS; c++) {
		head[c] = uniform() - 0.5f;
		for (int i = 0; i < CHANNELS; i++) {
			layer1[c][i] = uniform() - 0.5f;
			layer2[c][i] = (uniform() - 0.5f) / 8;
		}
	}
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		float *grid;

		planted_begin(&watch);
		next_scan();
		{
			DWELL_LAYER("detector.voxels");
			grid = new_grid();
			if (!grid)
				return 1;
			fill(grid);
		}
		planted_end(&watch);
		pillars(grid);
		for (int p = 0; p < PILLARS; p++)
			cars += heat[p] > 1;
		planted_begin(&watch);
		free(grid);
		planted_end(&watch);
		watch.steps++;
	}
	watch_tell_share(&watch, (watch.planted_s - watch.steps * of_filling) / watch_seconds(&watch));
	return cars < 0;
}
