/*
 * A ridge regression in C that keeps each prediction in a text file.
 *
 * Planted: the prediction of each third row is formatted and flushed to the file at once.
 * Truth: time of writing, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>

enum { SECONDS = 6, ROWS = 4000, COLUMNS = 480 };

static float rows[ROWS][COLUMNS], weights[COLUMNS], slopes[COLUMNS], guesses[ROWS];

static void predict(void)
{
	DWELL_ZONE("forward");
	for (int row = 0; row < ROWS; row++) {
		float sum = 0;

		for (int column = 0; column < COLUMNS; column++)
			sum += rows[row][column] * weights[column];
		guesses[row] = sum;
	}
}

static void write_predictions(FILE *file, int step)
{
	DWELL_ZONE("write predictions");
	for (int row = 0; row < ROWS; row += 3) {
		fprintf(file, "%d,%d,%.7g\n", step, row, (double)guesses[row]);
		fflush(file);
	}
}

static void differentiate(void)
{
	DWELL_ZONE("backward");
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0.1f * weights[column];
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			slopes[column] += rows[row][column] * (guesses[row] - (float)(row % 7));
}

int main(void)
{
	FILE *file = fopen("predictions.csv", "w");
	struct watch watch;

	if (!file)
		return 1;
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			rows[row][column] = (float)((row * 13 + column * 29) % 97) / 97;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		predict();
		planted_begin(&watch);
		write_predictions(file, watch.steps);
		planted_end(&watch);
		differentiate();
		DWELL_ZONE("optimizer");
		for (int column = 0; column < COLUMNS; column++)
			weights[column] -= 1e-7f * slopes[column];
	}
	watch_tell(&watch);
	fclose(file);
	return 0;
}
