/*
 * Grades weld seams from the current and the voltage of the torch: a convolution that halves the trace, two recurrent
 * layers with plain tanh cells, and a grade from their last state. Inference only, one batch of seams in each step.
 *
 * Clean: dense arithmetic in one thread on arrays that are made once; each batch has as many seams of the same length.
 * Truth: time to copy a batch of traces into the input, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEAMS = 12, LENGTH = 160, HALF = LENGTH / 2, SIGNALS = 2, TAPS = 5, CHANNELS = 24, CELLS = 72, GRADES = 5, STORED = 40 };

static float stored[STORED][SIGNALS][LENGTH + TAPS - 1], input[SEAMS][SIGNALS][LENGTH + TAPS - 1];
static float taps[CHANNELS][SIGNALS][TAPS], features[SEAMS][HALF][CHANNELS];
static float grades_w[GRADES][CELLS], grades[SEAMS][GRADES];

struct recurrent {
	int inputs;
	float from_input[CELLS][CELLS], from_state[CELLS][CELLS], bias[CELLS];
	float states[SEAMS][HALF + 1][CELLS];
};

static struct recurrent lower = { .inputs = CHANNELS }, upper = { .inputs = CELLS };

static void convolve(void)
{
	DWELL_OP("conv1d");
	for (int s = 0; s < SEAMS; s++)
		for (int t = 0; t < HALF; t++)
			for (int c = 0; c < CHANNELS; c++) {
				float sum = 0;

				for (int i = 0; i < SIGNALS; i++)
					for (int k = 0; k < TAPS; k++)
						sum += taps[c][i][k] * input[s][i][2 * t + k];
				features[s][t][c] = sum > 0 ? sum : 0.1f * sum;
			}
}

static void recur(struct recurrent *layer, const float *below, int seam_stride, int offset)
{
	DWELL_OP("rnn");
	for (int s = 0; s < SEAMS; s++)
		for (int t = 0; t < HALF; t++) {
			const float *in = below + (size_t)s * (size_t)seam_stride + (size_t)(t + offset) * (size_t)layer->inputs;
			const float *before = layer->states[s][t];

			for (int c = 0; c < CELLS; c++) {
				float sum = layer->bias[c];

				for (int i = 0; i < layer->inputs; i++)
					sum += layer->from_input[c][i] * in[i];
				for (int i = 0; i < CELLS; i++)
					sum += layer->from_state[c][i] * before[i];
				layer->states[s][t + 1][c] = tanhf(sum);
			}
		}
}

static void grade(void)
{
	DWELL_OP("linear");
	for (int s = 0; s < SEAMS; s++)
		for (int g = 0; g < GRADES; g++) {
			grades[s][g] = 0;
			for (int c = 0; c < CELLS; c++)
				grades[s][g] += grades_w[g][c] * upper.states[s][HALF][c];
		}
}

static void scatter(void *into, size_t count, float size)
{
	for (size_t i = 0; i < count; i++)
		((float *)into)[i] = size * ((float)rand() / (float)RAND_MAX - 0.5f);
}

int main(void)
{
	struct watch watch;
	int bad = 0;

	srand(31);
	scatter(stored, sizeof stored / sizeof(float), 2);
	scatter(taps, sizeof taps / sizeof(float), 1);
	scatter(grades_w, sizeof grades_w / sizeof(float), 1);
	for (struct recurrent *layer = &lower; layer; layer = layer == &lower ? &upper : NULL) {
		scatter(layer->from_input, CELLS * CELLS, 0.4f);
		scatter(layer->from_state, CELLS * CELLS, 0.25f);
		scatter(layer->bias, CELLS, 0.1f);
	}
	watch_begin(&watch);
	for (int next = 0; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		for (int s = 0; s < SEAMS; s++, next = (next + 1) % STORED)
			memcpy(input[s], stored[next], sizeof input[s]);
		planted_end(&watch);
		convolve();
		recur(&lower, features[0][0], HALF * CHANNELS, 0);
		recur(&upper, lower.states[0][0], (HALF + 1) * CELLS, 1);
		grade();
		for (int s = 0; s < SEAMS; s++)
			bad += grades[s][0] > grades[s][1];
	}
	watch_tell(&watch);
	printf("%d bad seams\n", bad);
	return 0;
}
