/*
 * Inference in C: two layers and a softmax answer batches of questions, one batch a step.
 *
 * Planted: nothing.
 * Truth: time of the softmax, the smallest operator, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>

enum { SECONDS = 5, BATCH = 48, INPUTS = 400, UNITS = 300, ANSWERS = 60 };

static float inputs[BATCH][INPUTS], hidden[BATCH][UNITS], answers[BATCH][ANSWERS];
static float inner[UNITS][INPUTS], outer[ANSWERS][UNITS];

static void linear(const float *in, const float *weights, float *out, int width, int outputs)
{
	DWELL_OP("linear");
	for (int row = 0; row < BATCH; row++)
		for (int to = 0; to < outputs; to++) {
			float sum = 0;

			for (int at = 0; at < width; at++)
				sum += in[row * width + at] * weights[to * width + at];
			out[row * outputs + to] = sum > 0 ? sum : 0;
		}
}

static void softmax(void)
{
	DWELL_OP("softmax");
	for (int row = 0; row < BATCH; row++) {
		float sum = 0;

		for (int at = 0; at < ANSWERS; at++)
			sum += answers[row][at] = expf(answers[row][at] * 0.01f);
		for (int at = 0; at < ANSWERS; at++)
			answers[row][at] /= sum;
	}
}

int main(void)
{
	struct watch watch;

	for (int at = 0; at < UNITS * INPUTS; at++)
		inner[at / INPUTS][at % INPUTS] = (float)(at % 29) / 2900;
	for (int at = 0; at < ANSWERS * UNITS; at++)
		outer[at / UNITS][at % UNITS] = (float)(at % 31) / 3100;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		inputs[watch.steps % BATCH][watch.steps % INPUTS] = 1;
		linear(inputs[0], inner[0], hidden[0], INPUTS, UNITS);
		linear(hidden[0], outer[0], answers[0], UNITS, ANSWERS);
		planted_begin(&watch);
		softmax();
		planted_end(&watch);
	}
	watch_tell(&watch);
	return answers[0][0] < 0;
}
