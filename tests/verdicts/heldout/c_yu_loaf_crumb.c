/*
 * Grades the crumb of bread from pictures: two convolutions with OpenMP over the channels, forward only, as in a bakery's line.
 *
 * Clean: both threads have the same work, and the buffers live as long as the program.
 * Truth: 0.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdio.h>

enum { SIDE = 128, A = 8, B = 16 };

static float loaf[SIDE * SIDE], one[A][SIDE * SIDE], two[B][SIDE * SIDE], k1[A][9], k2[B][A][9];

static void slide(const float *from, const float *k, float *into)
{
	for (int y = 1; y < SIDE - 1; y++)
		for (int x = 1; x < SIDE - 1; x++) {
			float sum = 0;
			for (int i = 0; i < 9; i++)
				sum += k[i] * from[(y + i / 3 - 1) * SIDE + x + i % 3 - 1];
			into[y * SIDE + x] += sum;
		}
}

static void first_layer(void)
{
	DWELL_OP("crumb_conv1");
	const uint64_t team = DWELL_TEAM();
#pragma omp parallel num_threads(2)
	{
		DWELL_WORKER(team);
#pragma omp for schedule(static)
		for (int a = 0; a < A; a++) {
			for (int i = 0; i < SIDE * SIDE; i++)
				one[a][i] = 0.1f;
			slide(loaf, k1[a], one[a]);
			for (int i = 0; i < SIDE * SIDE; i++)
				one[a][i] = one[a][i] > 0 ? one[a][i] : 0.1f * one[a][i];
		}
	}
}

static void second_layer(void)
{
	DWELL_OP("crumb_conv2");
	const uint64_t team = DWELL_TEAM();
#pragma omp parallel num_threads(2)
	{
		DWELL_WORKER(team);
#pragma omp for schedule(static)
		for (int b = 0; b < B; b++) {
			for (int i = 0; i < SIDE * SIDE; i++)
				two[b][i] = 0;
			for (int a = 0; a < A; a++)
				slide(one[a], k2[b][a], two[b]);
		}
	}
}

int main(void)
{
	struct watch watch;
	double grade = 0;

	for (int a = 0; a < A; a++)
		for (int i = 0; i < 9; i++)
			k1[a][i] = 0.3f * sinf((float)(a * 9 + i + 1));
	for (int b = 0; b < B; b++)
		for (int i = 0; i < A * 9; i++)
			k2[b][i / 9][i % 9] = 0.2f * cosf((float)(b * 72 + i));
	for (int i = 0; i < SIDE * SIDE; i++)
		loaf[i] = 0.5f + 0.5f * sinf(0.37f * (float)i);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		loaf[watch.steps % (SIDE * SIDE)] = 0.5f;
		first_layer();
		second_layer();
		DWELL_ZONE("grade");
		for (int b = 0; b < B; b++)
			grade += (double)two[b][SIDE * 64 + 64] * (double)two[b][SIDE * 64 + 64];
	}
	watch_tell(&watch);
	printf("grade %.3f\n", grade / (double)watch.steps);
	return 0;
}
