/*
 * A restricted Boltzmann machine in C, trained by contrastive divergence.
 *
 * Planted: nothing.
 * Truth: time of choosing the pictures of a step, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { SECONDS = 3, PICTURES = 600, BATCH = 56, SEEN = 400, HIDDEN = 160 };

static float pictures[PICTURES][SEEN], weights[SEEN][HIDDEN], slopes[SEEN][HIDDEN];
static float seen[BATCH][SEEN], hidden[BATCH][HIDDEN], again[BATCH][SEEN], then[BATCH][HIDDEN];
static uint32_t state = 232;

static uint32_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	return state ^= state << 5;
}

static void choose(void)
{
	for (int row = 0; row < BATCH; row++) {
		const float *picture = pictures[draw() % PICTURES];

		for (int column = 0; column < SEEN; column++)
			seen[row][column] = picture[column];
	}
}

static void look_up(float (*from)[SEEN], float (*to)[HIDDEN])
{
	DWELL_OP("hidden_given_seen");
	for (int row = 0; row < BATCH; row++) {
		for (int unit = 0; unit < HIDDEN; unit++)
			to[row][unit] = 0;
		for (int column = 0; column < SEEN; column++)
			for (int unit = 0; unit < HIDDEN; unit++)
				to[row][unit] += from[row][column] * weights[column][unit];
		for (int unit = 0; unit < HIDDEN; unit++)
			to[row][unit] = 1 / (1 + expf(-to[row][unit]));
	}
}

static void look_down(void)
{
	DWELL_OP("seen_given_hidden");
	for (int row = 0; row < BATCH; row++)
		for (int column = 0; column < SEEN; column++) {
			float sum = 0;

			for (int unit = 0; unit < HIDDEN; unit++)
				sum += hidden[row][unit] * weights[column][unit];
			again[row][column] = 1 / (1 + expf(-sum));
		}
}

static void diverge(void)
{
	DWELL_OP("divergence");
	for (int column = 0; column < SEEN; column++)
		for (int unit = 0; unit < HIDDEN; unit++)
			slopes[column][unit] = 0;
	for (int row = 0; row < BATCH; row++)
		for (int column = 0; column < SEEN; column++)
			for (int unit = 0; unit < HIDDEN; unit++)
				slopes[column][unit] += seen[row][column] * hidden[row][unit] - again[row][column] * then[row][unit];
}

static void learn(void)
{
	DWELL_OP("learn");
	for (int column = 0; column < SEEN; column++)
		for (int unit = 0; unit < HIDDEN; unit++)
			weights[column][unit] += 1e-3f * slopes[column][unit];
}

int main(void)
{
	double began, loop_s, choosing_s = 0;
	int steps = 0;

	for (int row = 0; row < PICTURES; row++)
		for (int column = 0; column < SEEN; column++)
			pictures[row][column] = (float)(draw() & 1);
	began = now_s();
	for (; now_s() - began < SECONDS && steps < 400; steps++) {
		double before;

		DWELL_STEP();
		before = now_s();
		choose();
		choosing_s += now_s() - before;
		{
			DWELL_ZONE("forward");
			look_up(seen, hidden);
			look_down();
			look_up(again, then);
		}
		{
			DWELL_ZONE("backward");
			diverge();
		}
		{
			DWELL_ZONE("optimizer");
			learn();
		}
	}
	loop_s = now_s() - began;
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", choosing_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
