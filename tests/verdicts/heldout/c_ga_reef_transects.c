/*
 * Predicts how many fish a diver counts on a transect of a reef: a network of radial basis functions, centres learnt too.
 *
 * Clean: distances, activations, gradients and an update with momentum, all arrays are there before the loop.
 * Truth: time of copying the batch, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRAITS = 12, CENTRES = 96, BATCH = 160, DIVES = 3000 };

static float dives[DIVES][TRAITS], counts[DIVES];
static float centre[CENTRES][TRAITS], width[CENTRES], weight[CENTRES];
static float centre_moment[CENTRES][TRAITS], weight_moment[CENTRES];
static float x[BATCH][TRAITS], y[BATCH], square[BATCH][CENTRES], bump[BATCH][CENTRES], error[BATCH];

static void draw_batch(int step)
{
	for (int b = 0; b < BATCH; b++) {
		int d = (step * 977 + b * 31) % DIVES;
		memcpy(x[b], dives[d], sizeof x[b]);
		y[b] = counts[d];
	}
}

static void distances(void)
{
	DWELL_OP("distances");
	for (int b = 0; b < BATCH; b++)
		for (int c = 0; c < CENTRES; c++) {
			float s = 0;
			for (int t = 0; t < TRAITS; t++) {
				float d = x[b][t] - centre[c][t];
				s += d * d;
			}
			square[b][c] = s;
		}
}

static float activations(void)
{
	DWELL_OP("activations");
	float loss = 0;

	for (int b = 0; b < BATCH; b++) {
		float out = 0;
		for (int c = 0; c < CENTRES; c++)
			out += weight[c] * (bump[b][c] = expf(-square[b][c] * width[c]));
		error[b] = (out - y[b]) / BATCH;
		loss += (out - y[b]) * (out - y[b]);
	}
	return loss / BATCH;
}

static void gradients(void)
{
	DWELL_OP("gradients");
	for (int c = 0; c < CENTRES; c++) {
		float g = 0, gc[TRAITS] = {0};

		for (int b = 0; b < BATCH; b++) {
			float k = error[b] * bump[b][c];
			g += k;
			k *= 2 * weight[c] * width[c];
			for (int t = 0; t < TRAITS; t++)
				gc[t] += k * (x[b][t] - centre[c][t]);
		}
		weight_moment[c] = 0.9f * weight_moment[c] + g;
		for (int t = 0; t < TRAITS; t++)
			centre_moment[c][t] = 0.9f * centre_moment[c][t] + gc[t];
	}
}

static void update(float rate)
{
	DWELL_OP("update");
	for (int c = 0; c < CENTRES; c++) {
		weight[c] -= rate * weight_moment[c];
		for (int t = 0; t < TRAITS; t++)
			centre[c][t] -= rate * centre_moment[c][t];
	}
}

int main(void)
{
	struct watch watch;
	float loss = 0;

	for (int d = 0; d < DIVES; d++) {
		for (int t = 0; t < TRAITS; t++)
			dives[d][t] = (float)rand() / (float)RAND_MAX;
		counts[d] = 3 * sinf(4 * dives[d][0]) + dives[d][1] * dives[d][2];
	}
	for (int c = 0; c < CENTRES; c++) {
		memcpy(centre[c], dives[c * 13], sizeof centre[c]);
		width[c] = 1.5f;
	}
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		planted_begin(&watch);
		draw_batch(watch.steps);
		planted_end(&watch);
		for (int pass = 0; pass < 3; pass++) {
			distances();
			loss = activations();
			gradients();
			update(0.02f);
		}
		watch.steps++;
	}
	watch_tell(&watch);
	fprintf(stderr, "loss %g\n", (double)loss);
	return 0;
}
