/*
 * An autoencoder of sensor vectors in C that saves itself often.
 *
 * Planted: a checkpoint after each fourth step, written as text by the loop's thread.
 * Truth: time of the checkpoints, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>

enum { SECONDS = 7, BATCH = 64, WIDE = 400, NARROW = 96 };

static float inputs[BATCH][WIDE], codes[BATCH][NARROW], outputs[BATCH][WIDE];
static float encoder[NARROW][WIDE], decoder[NARROW][WIDE];
static float encoder_slopes[NARROW][WIDE], decoder_slopes[NARROW][WIDE];

static void forward(void)
{
	DWELL_ZONE("forward");
	for (int item = 0; item < BATCH; item++) {
		for (int at = 0; at < WIDE; at++)
			outputs[item][at] = -inputs[item][at];
		for (int code = 0; code < NARROW; code++) {
			float sum = 0;

			for (int at = 0; at < WIDE; at++)
				sum += encoder[code][at] * inputs[item][at];
			codes[item][code] = sum;
			for (int at = 0; at < WIDE; at++)
				outputs[item][at] += sum * decoder[code][at];
		}
	}
}

static void backward(void)
{
	DWELL_ZONE("backward");
	for (int item = 0; item < BATCH; item++)
		for (int code = 0; code < NARROW; code++) {
			float slope = 0;

			for (int at = 0; at < WIDE; at++) {
				decoder_slopes[code][at] += codes[item][code] * outputs[item][at];
				slope += outputs[item][at] * decoder[code][at];
			}
			for (int at = 0; at < WIDE; at++)
				encoder_slopes[code][at] += slope * inputs[item][at];
		}
}

static void update(void)
{
	DWELL_ZONE("optimizer");
	for (int code = 0; code < NARROW; code++)
		for (int at = 0; at < WIDE; at++) {
			encoder[code][at] -= 1e-6f * encoder_slopes[code][at];
			decoder[code][at] -= 1e-6f * decoder_slopes[code][at];
			encoder_slopes[code][at] = decoder_slopes[code][at] = 0;
		}
}

static void save(void)
{
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save weights");
	FILE *file = fopen("weights.txt", "w");

	if (!file)
		exit(1);
	for (int code = 0; code < NARROW; code++)
		for (int at = 0; at < WIDE; at++)
			fprintf(file, "%.9g %.9g\n", (double)encoder[code][at], (double)decoder[code][at]);
	fclose(file);
}

int main(void)
{
	struct watch watch;

	for (int code = 0; code < NARROW; code++)
		for (int at = 0; at < WIDE; at++)
			encoder[code][at] = decoder[code][at] = (float)((code * 17 + at * 5) % 89) / 8900;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "batch");
			for (int item = 0; item < BATCH; item++)
				for (int at = 0; at < WIDE; at++)
					inputs[item][at] = (float)((watch.steps + item * at) % 19) / 19;
		}
		forward();
		backward();
		update();
		if (watch.steps % 4 == 3) {
			planted_begin(&watch);
			save();
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	return 0;
}
