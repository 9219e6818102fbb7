/*
 * Learns how deep snow lies, and reports each step in several lines.
 *
 * Decoy: the lines stay in a buffer of a megabyte, which is seldom written.
 * Truth: time of printing, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

enum { SECONDS = 5, HUTS = 2500, FACTS = 480, LINES = 40 };

static float huts[HUTS][FACTS], weights[FACTS];

static double learn(void)
{
	double loss = 0;

	DWELL_OP("depth, gradient");
	for (int hut = 0; hut < HUTS; hut++) {
		float error = -(float)(hut % 11);

		for (int fact = 0; fact < FACTS; fact++)
			error += huts[hut][fact] * weights[fact];
		for (int fact = 0; fact < FACTS; fact++)
			weights[fact] -= 1e-7f * error * huts[hut][fact];
		loss += error * error;
	}
	return loss;
}

static void report(FILE *file, int step, double loss)
{
	DWELL_ZONE("logging");
	for (int line = 0; line < LINES; line++)
		fprintf(file, "step %d loss %.6f weight %d %.6f\n", step, loss, line,
		        (double)weights[line]);
}

int main(void)
{
	FILE *file = fopen("report.txt", "w");
	struct watch watch;
	double loss;

	setvbuf(file, NULL, _IOFBF, 1 << 20);
	for (int at = 0; at < HUTS * FACTS; at++)
		huts[at / FACTS][at % FACTS] = (float)(at % 103) / 103;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		loss = learn();
		planted_begin(&watch);
		report(file, watch.steps, loss);
		planted_end(&watch);
	}
	watch_tell(&watch);
	fclose(file);
	return 0;
}
