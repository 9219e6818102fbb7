/*
 * A wide random-feature model in C with an arena of its own.
 *
 * Decoy: 400 MB are allocated and touched, but before the loop; the steps take their buffers from
 * the arena.
 * Truth: time of taking buffers, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 5, ITEMS = 16, INPUTS = 256, FEATURES = 4096 };

static char *arena;
static size_t used;

static float *take(size_t count)
{
	float *buffer = (float *)(arena + used);

	used += (count * sizeof(*buffer) + 63) & ~(size_t)63;
	return buffer;
}

static void forward(const float *inputs, const float *random, const float *weights, float *features,
                    float *errors)
{
	DWELL_ZONE("forward");
	for (int item = 0; item < ITEMS; item++) {
		errors[item] = -1;
		for (int feature = 0; feature < FEATURES; feature++) {
			float sum = 0;

			for (int at = 0; at < INPUTS; at++)
				sum += random[(size_t)feature * INPUTS + at] * inputs[item * INPUTS + at];
			features[item * FEATURES + feature] = sum > 0 ? sum : 0;
			errors[item] += weights[feature] * features[item * FEATURES + feature];
		}
	}
}

int main(void)
{
	const size_t size = (size_t)400 << 20;
	float *inputs, *random, *weights;
	struct watch watch;
	size_t kept;

	arena = malloc(size);
	if (!arena)
		return 1;
	memset(arena, 1, size);
	inputs = take(ITEMS * INPUTS);
	random = take((size_t)FEATURES * INPUTS);
	weights = take(FEATURES);
	for (size_t at = 0; at < (size_t)FEATURES * INPUTS; at++)
		random[at] = (float)(at * 2654435761u % 401) / 401 - 0.5f;
	for (int at = 0; at < ITEMS * INPUTS; at++)
		inputs[at] = (float)(at % 9);
	memset(weights, 0, FEATURES * sizeof(*weights));
	kept = used;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		float *features, *errors;

		DWELL_STEP();
		planted_begin(&watch);
		used = kept;
		features = take((size_t)ITEMS * FEATURES);
		errors = take(ITEMS);
		planted_end(&watch);
		forward(inputs, random, weights, features, errors);
		DWELL_ZONE("backward");
		for (int item = 0; item < ITEMS; item++)
			for (int feature = 0; feature < FEATURES; feature++)
				weights[feature] -= 1e-9f * errors[item] * features[item * FEATURES + feature];
	}
	watch_tell(&watch);
	return 0;
}
