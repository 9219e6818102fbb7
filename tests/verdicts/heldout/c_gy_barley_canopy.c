/*
 * The canopy of barley: a field of 64 x 64 plots, each with what a drone saw of it, and a network that passes messages between
 * neighbouring plots twice and foretells each plot's yield.
 *
 * Clean: two threads of OpenMP, each with half of the rows, and the same work in each step.
 * Truth: 0.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD = 64, PLOTS = FIELD * FIELD, WIDE = 24, ROUNDS = 2, HANDS = 2 };

typedef float plots[PLOTS][WIDE];
typedef float square[WIDE][WIDE];

static plots value[ROUNDS + 1], around[ROUNDS], back, back_sum, back_around;
static square own[ROUNDS], other[ROUNDS], own_slope[HANDS][ROUNDS], other_slope[HANDS][ROUNDS];
static float yield[PLOTS], head[WIDE], head_slope[HANDS][64];

static int wrap(int at)
{
	return (at + FIELD) % FIELD;
}

/* The mean of the four neighbours; its own transpose, so it carries gradients too. */
static void gather(plots from, plots to)
{
#pragma omp parallel for num_threads(HANDS) schedule(static)
	for (int y = 0; y < FIELD; y++)
		for (int x = 0; x < FIELD; x++) {
			const float *up = from[wrap(y - 1) * FIELD + x], *down = from[wrap(y + 1) * FIELD + x];
			const float *left = from[y * FIELD + wrap(x - 1)], *right = from[y * FIELD + wrap(x + 1)];

			for (int c = 0; c < WIDE; c++)
				to[y * FIELD + x][c] = 0.25f * (up[c] + down[c] + left[c] + right[c]);
		}
}

static void combine(int round)
{
#pragma omp parallel for num_threads(HANDS) schedule(static)
	for (int p = 0; p < PLOTS; p++)
		for (int o = 0; o < WIDE; o++) {
			float sum = 0;

			for (int c = 0; c < WIDE; c++)
				sum += own[round][o][c] * value[round][p][c] + other[round][o][c] * around[round][p][c];
			value[round + 1][p][o] = sum / (1 + fabsf(sum));
		}
}

static float compare(void)
{
	float loss = 0;

#pragma omp parallel for num_threads(HANDS) schedule(static) reduction(+ : loss)
	for (int p = 0; p < PLOTS; p++) {
		float guess = 0, error;

		for (int c = 0; c < WIDE; c++)
			guess += head[c] * value[ROUNDS][p][c];
		error = (guess - yield[p]) / PLOTS;
		loss += error * error * PLOTS;
		for (int c = 0; c < WIDE; c++) {
			head_slope[omp_get_thread_num()][c] += error * value[ROUNDS][p][c];
			back[p][c] = error * head[c];
		}
	}
	return loss;
}

static void combine_back(int round)
{
#pragma omp parallel for num_threads(HANDS) schedule(static)
	for (int p = 0; p < PLOTS; p++) {
		int hand = omp_get_thread_num();
		float to_own[WIDE] = {0}, to_other[WIDE] = {0};

		for (int o = 0; o < WIDE; o++) {
			float rest = 1 - fabsf(value[round + 1][p][o]), slope = back[p][o] * rest * rest;

			for (int c = 0; c < WIDE; c++) {
				own_slope[hand][round][o][c] += slope * value[round][p][c];
				other_slope[hand][round][o][c] += slope * around[round][p][c];
				to_own[c] += slope * own[round][o][c];
				to_other[c] += slope * other[round][o][c];
			}
		}
		memcpy(back_sum[p], to_own, sizeof to_own);
		memcpy(back_around[p], to_other, sizeof to_other);
	}
}

static void step_down(float *weight, float *first, float *second, int count)
{
	for (int i = 0; i < count; i++) {
		weight[i] -= 0.2f * (first[i] + second[i]);
		first[i] = second[i] = 0;
	}
}

static void draw(float *value, int count, float size)
{
	for (int i = 0; i < count; i++)
		value[i] = size * ((float)rand() / (float)RAND_MAX - 0.5f);
}

int main(void)
{
	struct watch watch;
	float loss = 0;

	srand(23);
	draw((float *)value[0], PLOTS * WIDE, 1);
	for (int p = 0; p < PLOTS; p++)
		yield[p] = value[0][p][0] + value[0][(p + 1) % PLOTS][1] + (float)rand() / (float)RAND_MAX;
	draw((float *)own, ROUNDS * WIDE * WIDE, 0.5f);
	draw((float *)other, ROUNDS * WIDE * WIDE, 0.5f);
	draw(head, WIDE, 1);

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		{
			DWELL_ZONE("messages");
			for (int r = 0; r < ROUNDS; r++) {
				gather(value[r], around[r]);
				combine(r);
			}
			loss = compare();
		}
		{
			DWELL_ZONE("messages back");
			for (int r = ROUNDS - 1; r >= 0; r--) {
				combine_back(r);
				gather(back_around, back);
#pragma omp parallel for num_threads(HANDS) schedule(static)
				for (int p = 0; p < PLOTS; p++)
					for (int c = 0; c < WIDE; c++)
						back[p][c] += back_sum[p][c];
			}
		}
		DWELL_ZONE("step down");
		step_down((float *)own, (float *)own_slope[0], (float *)own_slope[1], ROUNDS * WIDE * WIDE);
		step_down((float *)other, (float *)other_slope[0], (float *)other_slope[1], ROUNDS * WIDE * WIDE);
		step_down(head, head_slope[0], head_slope[1], WIDE);
		watch.steps++;
	}
	watch_tell(&watch);
	printf("loss %.5f\n", (double)loss);
	return 0;
}
