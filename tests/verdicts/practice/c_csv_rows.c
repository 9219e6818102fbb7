/*
 * Predicts rainfall from a table of measurements that is kept as comma-separated text.
 *
 * Planted: the loop reads each batch's numbers with fscanf, in a range of the category of data.
 * Truth: time of reading, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 5, ROWS = 4000, COLUMNS = 32, BATCH = 256, HIDDEN = 256 };

static float batch[BATCH][COLUMNS], hidden[BATCH][HIDDEN], out[BATCH];
static float first[HIDDEN][COLUMNS], first_slopes[HIDDEN][COLUMNS], second[HIDDEN], second_slopes[HIDDEN];

static void write_table(const char *path)
{
	FILE *file = fopen(path, "w");

	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			fprintf(file, "%.5f%c", (row * 31 + column * 17) % 997 / 997.0, column + 1 < COLUMNS ? ',' : '\n');
	fclose(file);
}

static void next_rows(FILE *file)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "next rows");
	for (int row = 0; row < BATCH; row++)
		for (int column = 0; column < COLUMNS; column++)
			if (fscanf(file, "%f%*c", &batch[row][column]) != 1) {
				rewind(file);
				column--;
			}
}

static void forward(void)
{
	DWELL_PHASE("forward");
	for (int row = 0; row < BATCH; row++) {
		out[row] = 0;
		for (int unit = 0; unit < HIDDEN; unit++) {
			float sum = 0;

			for (int column = 0; column < COLUMNS; column++)
				sum += first[unit][column] * batch[row][column];
			hidden[row][unit] = sum > 0 ? sum : 0;
			out[row] += second[unit] * hidden[row][unit];
		}
	}
}

static void backward(void)
{
	DWELL_PHASE("backward");
	for (int row = 0; row < BATCH; row++) {
		float slope = (out[row] - batch[row][0]) / BATCH;

		for (int unit = 0; unit < HIDDEN; unit++) {
			float down = hidden[row][unit] > 0 ? slope * second[unit] : 0;

			second_slopes[unit] += slope * hidden[row][unit];
			for (int column = 0; column < COLUMNS; column++)
				first_slopes[unit][column] += down * batch[row][column];
		}
	}
}

static void update(void)
{
	DWELL_PHASE("optimizer");
	for (int unit = 0; unit < HIDDEN; unit++) {
		second[unit] -= 0.01f * second_slopes[unit];
		second_slopes[unit] = 0;
		for (int column = 0; column < COLUMNS; column++) {
			first[unit][column] -= 0.01f * first_slopes[unit][column];
			first_slopes[unit][column] = 0;
		}
	}
}

int main(void)
{
	struct watch watch;
	FILE *file;

	for (int unit = 0; unit < HIDDEN; unit++) {
		second[unit] = (float)(unit % 7 - 3) / 30;
		for (int column = 0; column < COLUMNS; column++)
			first[unit][column] = (float)((unit * 5 + column) % 13 - 6) / 40;
	}
	write_table("rain.csv");
	file = fopen("rain.csv", "r");
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		next_rows(file);
		planted_end(&watch);
		forward();
		backward();
		update();
	}
	watch_tell(&watch);
	fclose(file);
	unlink("rain.csv");
	return 0;
}
