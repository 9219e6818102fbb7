/*
 * A language model of syllables: one block of causal attention that stays as it is, and a readout that learns which
 * syllable comes next. Rows of a line of verse are shared among the threads of OpenMP.
 *
 * Planted: a row looks at all rows before it, and schedule(static) gives the first half of the rows to the first
 * thread, which has a quarter of the work and waits for the other one at the end of the loop.
 * Truth: time of the first thread between the end of its rows and the end of the loop over rows, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 896, WIDTH = 64, HEADS = 2, PART = WIDTH / HEADS, SYLLABLES = 256 };

static float table[SYLLABLES][WIDTH], to_query[WIDTH][WIDTH], to_key[WIDTH][WIDTH], to_value[WIDTH][WIDTH];
static float readout[SYLLABLES][WIDTH], change[2][SYLLABLES][WIDTH];
static float query[LENGTH][WIDTH], key[LENGTH][WIDTH], value[LENGTH][WIDTH], context[LENGTH][WIDTH];
static int verse[LENGTH + 1];
static struct watch watch;

static float small(void)
{
	return 0.3f * ((float)rand() / (float)RAND_MAX - 0.5f);
}

static void project(float to[WIDTH], const float matrix[WIDTH][WIDTH], const float *from)
{
	for (int o = 0; o < WIDTH; o++) {
		float sum = 0;

		for (int i = 0; i < WIDTH; i++)
			sum += matrix[o][i] * from[i];
		to[o] = sum;
	}
}

static void attend(int t, int head)
{
	float weights[LENGTH], most = -1e9f, total = 0, *out = context[t] + head * PART;
	const float *q = query[t] + head * PART;

	for (int s = 0; s <= t; s++) {
		const float *k = key[s] + head * PART;
		float dot = 0;

		for (int i = 0; i < PART; i++)
			dot += q[i] * k[i];
		weights[s] = dot * 0.18f;
		most = weights[s] > most ? weights[s] : most;
	}
	memset(out, 0, PART * sizeof *out);
	for (int s = 0; s <= t; s++) {
		const float w = expf(weights[s] - most), *v = value[s] + head * PART;

		total += w;
		for (int i = 0; i < PART; i++)
			out[i] += w * v[i];
	}
	for (int i = 0; i < PART; i++)
		out[i] /= total;
}

static void attention(void)
{
	DWELL_OP("attention");
	const uint64_t team = DWELL_TEAM();

#pragma omp parallel num_threads(2)
	{
		DWELL_WORKER(team);
		const int mine = omp_get_thread_num() == 0;

#pragma omp for schedule(static)
		for (int t = 0; t < LENGTH; t++) {
			project(query[t], to_query, table[verse[t]]);
			project(key[t], to_key, table[verse[t]]);
			project(value[t], to_value, table[verse[t]]);
		}
#pragma omp for schedule(static) nowait
		for (int t = 0; t < LENGTH; t++)
			for (int head = 0; head < HEADS; head++)
				attend(t, head);
		if (mine)
			planted_begin(&watch);
#pragma omp barrier
		if (mine)
			planted_end(&watch);
	}
}

/* Rows of which each is as much work as another. */
static double learn(void)
{
	DWELL_OP("readout");
	const uint64_t team = DWELL_TEAM();
	double loss = 0;

#pragma omp parallel num_threads(2) reduction(+ : loss)
	{
		DWELL_WORKER(team);
		float(*gradient)[WIDTH] = change[omp_get_thread_num()];
		float odds[SYLLABLES];

		memset(gradient, 0, sizeof change[0]);
#pragma omp for schedule(static)
		for (int t = 0; t < LENGTH; t++) {
			float total = 0;

			for (int y = 0; y < SYLLABLES; y++) {
				float sum = 0;

				for (int i = 0; i < WIDTH; i++)
					sum += readout[y][i] * context[t][i];
				odds[y] = expf(sum);
				total += odds[y];
			}
			loss -= log(odds[verse[t + 1]] / total);
			for (int y = 0; y < SYLLABLES; y++) {
				const float wrong = odds[y] / total - (y == verse[t + 1]);

				for (int i = 0; i < WIDTH; i++)
					gradient[y][i] += wrong * context[t][i];
			}
		}
#pragma omp for schedule(static)
		for (int y = 0; y < SYLLABLES; y++)
			for (int i = 0; i < WIDTH; i++)
				readout[y][i] -= 0.01f / LENGTH * (change[0][y][i] + change[1][y][i]);
	}
	return loss / LENGTH;
}

int main(void)
{
	double loss = 0;

	srand(11);
	for (int y = 0; y < SYLLABLES; y++)
		for (int i = 0; i < WIDTH; i++) {
			table[y][i] = 4 * small();
			readout[y][i] = small();
		}
	for (int o = 0; o < WIDTH; o++)
		for (int i = 0; i < WIDTH; i++) {
			to_query[o][i] = small();
			to_key[o][i] = small();
			to_value[o][i] = small();
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int t = 0, at = rand(); t <= LENGTH; t++) {
			at = (at * 29 + rand() % 3) & 0xffff;
			verse[t] = at % SYLLABLES;
		}
		attention();
		loss = learn();
	}
	watch_tell(&watch);
	printf("loss %.4f\n", loss);
	return 0;
}
