/*
 * Learns the height of the tide at forty gauges from the last hours, with a small network, forward and backward by hand.
 * The hours come from the station's log, a file of text lines.
 *
 * Planted: each reading is found by opening the station's log anew and skipping to its line, so a batch opens the file often.
 * Truth: time of fopen, the skipped lines and fclose, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { GAUGES = 40, HIDDEN = 320, BATCH = 48, HOURS = 900 };

static char path[64];
static float w1[GAUGES * HIDDEN], w2[HIDDEN * GAUGES], g1[GAUGES * HIDDEN], g2[HIDDEN * GAUGES];
static float in[BATCH][GAUGES], want[BATCH][GAUGES], hid[BATCH][HIDDEN], out[BATCH][GAUGES], back[BATCH][HIDDEN];

static int write_log(void)
{
	snprintf(path, sizeof path, "/tmp/tide-%d.log", (int)getpid());
	FILE *log = fopen(path, "w");

	if (!log)
		return 0;
	for (int h = 0; h < HOURS; h++) {
		for (int g = 0; g < GAUGES; g++)
			fprintf(log, "%.3f ", sin(0.506 * h + g) + 0.4 * sin(0.241 * h - 2 * g));
		fputc('\n', log);
	}
	return fclose(log) == 0;
}

/* The line of that hour, as numbers. */
static void reading(struct watch *watch, int hour, float *into)
{
	char line[1024];

	planted_begin(watch);
	FILE *log = fopen(path, "r");
	if (!log)
		exit(1);
	for (int h = 0; h <= hour; h++)
		if (!fgets(line, sizeof line, log))
			exit(1);
	fclose(log);
	planted_end(watch);
	char *at = line;
	for (int g = 0; g < GAUGES; g++)
		into[g] = strtof(at, &at);
}

static double train(void)
{
	double loss = 0;

	for (int b = 0; b < BATCH; b++) {
		for (int j = 0; j < HIDDEN; j++) {
			float sum = 0;
			for (int i = 0; i < GAUGES; i++)
				sum += in[b][i] * w1[i * HIDDEN + j];
			hid[b][j] = tanhf(sum);
		}
		for (int k = 0; k < GAUGES; k++) {
			float sum = 0;
			for (int j = 0; j < HIDDEN; j++)
				sum += hid[b][j] * w2[j * GAUGES + k];
			out[b][k] = sum - want[b][k];
			loss += out[b][k] * out[b][k];
		}
	}
	for (int i = 0; i < HIDDEN * GAUGES; i++)
		g1[i] = g2[i] = 0;
	for (int b = 0; b < BATCH; b++)
		for (int j = 0; j < HIDDEN; j++) {
			float sum = 0;
			for (int k = 0; k < GAUGES; k++) {
				g2[j * GAUGES + k] += out[b][k] * hid[b][j];
				sum += out[b][k] * w2[j * GAUGES + k];
			}
			back[b][j] = sum * (1 - hid[b][j] * hid[b][j]);
			for (int i = 0; i < GAUGES; i++)
				g1[i * HIDDEN + j] += back[b][j] * in[b][i];
		}
	for (int i = 0; i < HIDDEN * GAUGES; i++) {
		w1[i] -= 0.001f * g1[i];
		w2[i] -= 0.001f * g2[i];
	}
	return loss;
}

int main(void)
{
	struct watch watch;
	unsigned pick = 7;
	double loss = 0;

	if (!write_log())
		return 1;
	for (int i = 0; i < GAUGES * HIDDEN; i++) {
		w1[i] = 0.1f * sinf((float)(7 * i + 1));
		w2[i] = 0.05f * cosf((float)(5 * i + 1));
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("readings");
			for (int b = 0; b < BATCH; b++) {
				pick = pick * 1664525u + 1013904223u;
				const int hour = (int)((pick >> 8) % (HOURS / 5));
				reading(&watch, hour, in[b]);
				reading(&watch, hour + 1, want[b]);
			}
		}
		DWELL_ZONE("train");
		for (int pass = 0; pass < 2; pass++)
			loss = train();
	}
	watch_tell(&watch);
	unlink(path);
	printf("loss %.4f\n", loss);
	return 0;
}
