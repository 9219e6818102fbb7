/*
 * A model of piano strings that reads, sorts and checks its recordings for two seconds before it
 * learns.
 *
 * Decoy: the preparation sleeps, writes, synchronises and computes before the loop.
 * Truth: time of the first step beyond that of a mean step, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 5, STRINGS = 800, PARTIALS = 1100, CHECKS = 12 };

static float strings[STRINGS][PARTIALS], weights[PARTIALS];

static int by_value(const void *one, const void *other)
{
	float left = *(const float *)one, right = *(const float *)other;

	return (left > right) - (left < right);
}

static void prepare(void)
{
	struct timespec disk = { 0, 80000000 };
	FILE *file = fopen("strings.bin", "w");

	DWELL_ZONE("prepare");
	for (int check = 0; check < CHECKS; check++) {
		for (int at = 0; at < STRINGS * PARTIALS; at++)
			strings[at / PARTIALS][at % PARTIALS] = sinf((float)(at + check));
		for (int string = 0; string < STRINGS; string += 4)
			qsort(strings[string], PARTIALS, sizeof(float), by_value);
		fwrite(strings, sizeof(strings), 1, file);
		fflush(file);
		fsync(fileno(file));
		nanosleep(&disk, NULL);
	}
	fclose(file);
}

static void learn(void)
{
	DWELL_STEP();
	DWELL_OP("partials, gradient");
	for (int string = 0; string < STRINGS; string++) {
		float error = -(float)(string % 7);

		for (int partial = 0; partial < PARTIALS; partial++)
			error += strings[string][partial] * weights[partial];
		for (int partial = 0; partial < PARTIALS; partial++)
			weights[partial] -= 1e-7f * error * strings[string][partial];
	}
}

int main(void)
{
	struct watch watch;
	double first_s, loop_s;

	prepare();
	watch_begin(&watch);
	learn();
	first_s = watch_seconds(&watch);
	for (watch.steps = 1; watch_seconds(&watch) < SECONDS; watch.steps++)
		learn();
	loop_s = watch_seconds(&watch);
	watch_tell_share(&watch, fmax(0, first_s - loop_s / watch.steps) / loop_s);
	return 0;
}
