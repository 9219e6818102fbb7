/*
 * A wide linear model in C; a library that it calls wants double precision.
 *
 * Planted: all features and weights are converted to double and back in each step.
 * Truth: time of the conversions, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>

enum { SECONDS = 6, ROWS = 1500, COLUMNS = 1024 };

static float rows[ROWS][COLUMNS], weights[COLUMNS], errors[ROWS];
static double wide_rows[ROWS][COLUMNS], wide_weights[COLUMNS], wide_errors[ROWS];

static void widen(void)
{
	DWELL_ZONE("to double");
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			wide_rows[row][column] = rows[row][column];
	for (int column = 0; column < COLUMNS; column++)
		wide_weights[column] = weights[column];
}

static void narrow(void)
{
	DWELL_ZONE("to float");
	for (int row = 0; row < ROWS; row++)
		errors[row] = (float)wide_errors[row];
	for (int column = 0; column < COLUMNS; column++)
		weights[column] = (float)wide_weights[column];
	/* The library may have scaled the features. */
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			rows[row][column] = (float)wide_rows[row][column];
}

int main(void)
{
	struct watch watch;

	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			rows[row][column] = (float)((row + column * 11) % 71) / 71;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		widen();
		planted_end(&watch);
		{
			DWELL_ZONE("forward");
			for (int row = 0; row < ROWS; row++) {
				double sum = -1;

				for (int column = 0; column < COLUMNS; column++)
					sum += wide_rows[row][column] * wide_weights[column];
				wide_errors[row] = sum;
			}
		}
		{
			DWELL_ZONE("backward");
			for (int row = 0; row < ROWS; row++)
				for (int column = 0; column < COLUMNS; column++)
					wide_weights[column] -= 1e-9 * wide_errors[row] * wide_rows[row][column];
		}
		planted_begin(&watch);
		narrow();
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
