/*
 * Tells mushrooms apart; its author wants to see every gradient.
 *
 * Planted: each step writes a line for each unit to a diary, and flushes the file after each line.
 * Truth: time of writing, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

enum { SECONDS = 5, MUSHROOMS = 300, SIGNS = 120, UNITS = 90 };

static float mushrooms[MUSHROOMS][SIGNS], weights[UNITS][SIGNS], slopes[UNITS][SIGNS];

static void gradients(void)
{
	DWELL_OP("gradients");
	for (int at = 0; at < MUSHROOMS; at++)
		for (int unit = 0; unit < UNITS; unit++) {
			float sum = -0.5f;

			for (int sign = 0; sign < SIGNS; sign++)
				sum += mushrooms[at][sign] * weights[unit][sign];
			for (int sign = 0; sign < SIGNS; sign++)
				slopes[unit][sign] += sum * mushrooms[at][sign];
		}
}

static void write_diary(FILE *diary, int step)
{
	DWELL_ZONE("logging");
	for (int unit = 0; unit < UNITS; unit++) {
		for (int sign = 0; sign < 24; sign++)
			fprintf(diary, "step %d unit %d sign %d %+.6e; ", step, unit, sign,
			        (double)slopes[unit][sign]);
		fputc('\n', diary);
		fflush(diary);
	}
}

static void update(void)
{
	DWELL_OP("sgd");
	for (int unit = 0; unit < UNITS; unit++)
		for (int sign = 0; sign < SIGNS; sign++) {
			weights[unit][sign] -= 1e-6f * slopes[unit][sign];
			slopes[unit][sign] = 0;
		}
}

int main(void)
{
	FILE *diary = fopen("diary.txt", "w");
	struct watch watch;

	for (int at = 0; at < MUSHROOMS; at++)
		for (int sign = 0; sign < SIGNS; sign++)
			mushrooms[at][sign] = (float)((at * sign) % 7) / 7;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		gradients();
		planted_begin(&watch);
		write_diary(diary, watch.steps);
		planted_end(&watch);
		update();
	}
	watch_tell(&watch);
	fclose(diary);
	return 0;
}
