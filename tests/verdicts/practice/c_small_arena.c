/*
 * A perceptron in C that takes its vectors from an arena, and keeps a journal.
 *
 * Decoy: each step takes and returns memory and writes a journal; the arena is reused, and the
 * journal is a buffer in memory. Truth: time of the arena and the journal, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdio.h>

enum { SECONDS = 3, ROWS = 4000, COLUMNS = 700, ARENA = 1 << 16 };

static float rows[ROWS][COLUMNS], weights[COLUMNS], arena[ARENA];
static char journal[4096];
static size_t used;

static float *take(size_t count)
{
	float *memory = arena + used;

	used += count;
	return memory;
}

static void train(float *errors, float *slopes)
{
	DWELL_OP("train");
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0;
	for (int row = 0; row < ROWS; row++) {
		float sum = (float)(row % 3) - 1;

		for (int column = 0; column < COLUMNS; column++)
			sum += rows[row][column] * weights[column];
		errors[row] = sum;
		for (int column = 0; column < COLUMNS; column++)
			slopes[column] += sum * rows[row][column];
	}
	for (int column = 0; column < COLUMNS; column++)
		weights[column] -= 1e-7f * slopes[column];
}

int main(void)
{
	double began, loop_s, aside_s = 0;
	int steps = 0;

	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			rows[row][column] = (float)((row + column * 11) % 53) / 53 - 0.5f;
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;
		float *errors, *slopes;

		DWELL_STEP();
		before = now_s();
		errors = take(ROWS);
		slopes = take(COLUMNS);
		aside_s += now_s() - before;
		train(errors, slopes);
		before = now_s();
		snprintf(journal + steps % 64 * 64, 64, "%d %g\n", steps, (double)errors[steps % ROWS]);
		used = 0;
		aside_s += now_s() - before;
	}
	loop_s = now_s() - began;
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
	       aside_s / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
