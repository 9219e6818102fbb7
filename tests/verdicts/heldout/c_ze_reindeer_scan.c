/*
 * Says from the track of a reindeer's collar what the animal does: inference with two layers of a selective state-space model.
 *
 * Clean: nothing is planted; projections, a short convolution and the scan take what they need.
 * Truth: time of picking the track and of counting the answers, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIXES = 192, FEATURES = 6, MODEL = 48, INNER = 96, STATES = 8, DEEP = 2, DEEDS = 5, TRACKS = 40 };

struct layer {
	float in[MODEL][2 * INNER], taps[4][INNER], step[INNER], decay[INNER][STATES];
	float to_b[INNER][STATES], to_c[INNER][STATES], out[INNER][MODEL];
};

static struct layer layers[DEEP];
static float embed[FEATURES][MODEL], head[MODEL][DEEDS];
static float tracks[TRACKS][FIXES][FEATURES];
static float x[FIXES][MODEL], wide[FIXES][2 * INNER], mixed[FIXES][INNER], b[FIXES][STATES], c[FIXES][STATES];

/* y += x w, with w of inputs rows */
static void project(const float *input, int inputs, const float *weights, int outputs, float *result)
{
	for (int i = 0; i < inputs; i++)
		for (int o = 0; o < outputs; o++)
			result[o] += input[i] * weights[i * outputs + o];
}

static float silu(float value)
{
	return value / (1 + expf(-value));
}

static void read_in(const struct layer *layer)
{
	DWELL_OP("in_proj");
	memset(wide, 0, sizeof wide);
	for (int t = 0; t < FIXES; t++)
		project(x[t], MODEL, &layer->in[0][0], 2 * INNER, wide[t]);
}

static void convolve(const struct layer *layer)
{
	DWELL_OP("conv1d");
	for (int t = 0; t < FIXES; t++) {
		memset(mixed[t], 0, sizeof mixed[t]);
		for (int k = 0; k < 4 && k <= t; k++)
			for (int i = 0; i < INNER; i++)
				mixed[t][i] += layer->taps[k][i] * wide[t - k][i];
		for (int i = 0; i < INNER; i++)
			mixed[t][i] = silu(mixed[t][i]);
	}
}

static void select_states(const struct layer *layer)
{
	DWELL_OP("select");
	memset(b, 0, sizeof b);
	memset(c, 0, sizeof c);
	for (int t = 0; t < FIXES; t++) {
		project(mixed[t], INNER, &layer->to_b[0][0], STATES, b[t]);
		project(mixed[t], INNER, &layer->to_c[0][0], STATES, c[t]);
	}
}

static void scan(const struct layer *layer)
{
	DWELL_OP("selective_scan");
	static float held[INNER][STATES];

	memset(held, 0, sizeof held);
	for (int t = 0; t < FIXES; t++)
		for (int i = 0; i < INNER; i++) {
			float u = mixed[t][i], delta = layer->step[i] + 0.05f * u * u, sum = 0;

			for (int s = 0; s < STATES; s++) {
				float fade = 1 / (1 + delta * layer->decay[i][s]);

				held[i][s] = fade * held[i][s] + (1 - fade) * b[t][s] * u;
				sum += held[i][s] * c[t][s];
			}
			mixed[t][i] = (sum + u) * silu(wide[t][INNER + i]);
		}
}

static void write_out(const struct layer *layer)
{
	DWELL_OP("out_proj");
	for (int t = 0; t < FIXES; t++) {
		float scale = 0;

		project(mixed[t], INNER, &layer->out[0][0], MODEL, x[t]);
		for (int i = 0; i < MODEL; i++)
			scale += x[t][i] * x[t][i];
		scale = 1 / sqrtf(scale / MODEL + 1e-5f);
		for (int i = 0; i < MODEL; i++)
			x[t][i] *= scale;
	}
}

static int answer(void)
{
	DWELL_OP("head");
	float said[DEEDS] = { 0 };
	int best = 0;

	for (int t = FIXES / 2; t < FIXES; t++)
		project(x[t], MODEL, &head[0][0], DEEDS, said);
	for (int d = 1; d < DEEDS; d++)
		if (said[d] > said[best])
			best = d;
	return best;
}

static void fill(float *values, size_t count, float width)
{
	for (size_t i = 0; i < count; i++)
		values[i] = width * ((float)rand() / (float)RAND_MAX - 0.5f);
}

int main(void)
{
	struct watch watch;
	int deeds[DEEDS] = { 0 };

	srand(3);
	for (int l = 0; l < DEEP; l++) {
		fill(&layers[l].in[0][0], MODEL * 2 * INNER, 0.4f);
		fill(&layers[l].taps[0][0], 4 * INNER, 1);
		fill(layers[l].step, INNER, 0.2f);
		fill(&layers[l].decay[0][0], INNER * STATES, 2);
		fill(&layers[l].to_b[0][0], INNER * STATES, 0.5f);
		fill(&layers[l].to_c[0][0], INNER * STATES, 0.5f);
		fill(&layers[l].out[0][0], INNER * MODEL, 0.4f);
		for (int i = 0; i < INNER; i++) {
			layers[l].step[i] = fabsf(layers[l].step[i]) + 0.01f;
			for (int s = 0; s < STATES; s++)
				layers[l].decay[i][s] = fabsf(layers[l].decay[i][s]);
		}
	}
	fill(&embed[0][0], FEATURES * MODEL, 1);
	fill(&head[0][0], MODEL * DEEDS, 1);
	fill(&tracks[0][0][0], TRACKS * FIXES * FEATURES, 4);

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		float (*track)[FEATURES] = tracks[watch.steps % TRACKS];
		planted_end(&watch);
		{
			DWELL_OP("embed");
			memset(x, 0, sizeof x);
			for (int t = 0; t < FIXES; t++)
				project(track[t], FEATURES, &embed[0][0], MODEL, x[t]);
		}
		for (int l = 0; l < DEEP; l++) {
			DWELL_LAYER("Block");
			read_in(&layers[l]);
			convolve(&layers[l]);
			select_states(&layers[l]);
			scan(&layers[l]);
			write_out(&layers[l]);
		}
		int deed = answer();
		planted_begin(&watch);
		deeds[deed]++;
		planted_end(&watch);
	}
	watch_tell(&watch);
	for (int d = 0; d < DEEDS; d++)
		printf("deed %d: %d tracks\n", d, deeds[d]);
	return 0;
}
