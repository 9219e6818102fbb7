/*
 * Learns wave heights from buoys; their readings are text in a file.
 *
 * Planted: each step reads its rows as text and turns them into numbers.
 * Truth: time of reading rows, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>

enum { SECONDS = 5, ROWS = 512, READINGS = 64, HIDDEN = 112, FILE_ROWS = 8192 };

static float rows[ROWS][READINGS], hidden[ROWS][HIDDEN];
static float inner[HIDDEN][READINGS], slopes[HIDDEN][READINGS];

static void write_table(const char *path)
{
	FILE *file = fopen(path, "w");

	for (int row = 0; row < FILE_ROWS; row++)
		for (int at = 0; at < READINGS; at++)
			fprintf(file, "%.4f%c", (row * 37 + at * 11) % 1000 / 1000.0,
			        at + 1 < READINGS ? ',' : '\n');
	fclose(file);
}

static void read_rows(FILE *file)
{
	static char line[READINGS * 16];

	DWELL_SCOPE(DWELL_CATEGORY_DATA, "read rows");
	for (int row = 0; row < ROWS; row++) {
		char *next = line;

		if (!fgets(line, sizeof(line), file)) {
			rewind(file);
			row--;
			continue;
		}
		for (int at = 0; at < READINGS; at++, next++)
			rows[row][at] = strtof(next, &next);
	}
}

static void forward(void)
{
	DWELL_OP("hidden");
	for (int row = 0; row < ROWS; row++)
		for (int unit = 0; unit < HIDDEN; unit++) {
			float sum = 0;

			for (int at = 0; at < READINGS; at++)
				sum += rows[row][at] * inner[unit][at];
			hidden[row][unit] = sum > 0 ? sum : 0.1f * sum;
		}
}

static void backward(void)
{
	DWELL_OP("hidden, backward");
	for (int row = 0; row < ROWS; row++)
		for (int unit = 0; unit < HIDDEN; unit++)
			for (int at = 0; at < READINGS; at++)
				slopes[unit][at] += (hidden[row][unit] - 0.5f) * rows[row][at];
}

static void update(void)
{
	DWELL_OP("sgd");
	for (int unit = 0; unit < HIDDEN; unit++)
		for (int at = 0; at < READINGS; at++) {
			inner[unit][at] -= 1e-6f * slopes[unit][at];
			slopes[unit][at] = 0;
		}
}

int main(void)
{
	struct watch watch;
	FILE *file;

	write_table("buoys.csv");
	file = fopen("buoys.csv", "r");
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		read_rows(file);
		planted_end(&watch);
		forward();
		backward();
		update();
	}
	watch_tell(&watch);
	fclose(file);
	return 0;
}
