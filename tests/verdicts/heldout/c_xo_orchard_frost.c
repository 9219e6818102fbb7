/*
 * Warns of frost in an orchard: a network with a hidden layer learns from sums of random features (a reservoir that is run
 * anew for each night) whether blossoms will freeze.
 *
 * Clean: nothing is planted; one thread runs the same number of nights and hours in each step.
 * Truth: nothing comes near a cause, 0.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { STATIONS = 10, POOL = 192, HOURS = 14, NIGHTS = 40 };

static float from_air[POOL][STATIONS], inner[POOL][POOL], readout[POOL + 1], gather[POOL + 1];
static float pool[2][POOL];

static float any(void)
{
	return (float)rand() / (float)RAND_MAX - 0.5f;
}

static const float *night(const float air[HOURS][STATIONS])
{
	DWELL_ZONE("reservoir");
	for (int p = 0; p < POOL; p++)
		pool[0][p] = 0.1f;
	for (int h = 0; h < HOURS; h++) {
		const float *from = pool[h & 1];
		float *to = pool[~h & 1];

		for (int p = 0; p < POOL; p++) {
			float sums[8] = { 0 };

			for (int s = 0; s < STATIONS; s++)
				sums[s & 7] += from_air[p][s] * air[h][s];
			for (int q = 0; q < POOL; q += 8)
				for (int k = 0; k < 8; k++)
					sums[k] += inner[p][q + k] * from[q + k];
			to[p] = tanhf(sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7]);
		}
	}
	return pool[HOURS & 1];
}

static float learn(const float *state, int frost)
{
	float sum = readout[POOL], chance;

	DWELL_ZONE("readout");
	for (int p = 0; p < POOL; p++)
		sum += readout[p] * state[p];
	chance = 1 / (1 + expf(-sum));
	for (int p = 0; p < POOL; p++)
		gather[p] += (chance - (float)frost) * state[p];
	gather[POOL] += chance - (float)frost;
	return -logf(1e-6f + (frost ? chance : 1 - chance));
}

int main(void)
{
	static struct watch watch;
	float loss = 0;

	srand(23);
	for (int p = 0; p < POOL; p++) {
		for (int s = 0; s < STATIONS; s++)
			from_air[p][s] = any();
		for (int q = 0; q < POOL; q++)
			inner[p][q] = 0.22f * any();
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int p = 0; p <= POOL; p++)
			gather[p] = 0;
		loss = 0;
		for (int n = 0; n < NIGHTS; n++) {
			float air[HOURS][STATIONS], coldest = 9;

			for (int h = 0; h < HOURS; h++)
				for (int s = 0; s < STATIONS; s++) {
					air[h][s] = any() + cosf(0.3f * (float)h);
					coldest = air[h][s] < coldest ? air[h][s] : coldest;
				}
			loss += learn(night(air), coldest < -1.38f);
		}
		for (int p = 0; p <= POOL; p++)
			readout[p] -= 0.05f / NIGHTS * gather[p];
	}
	watch_tell(&watch);
	printf("loss %.4f\n", loss / NIGHTS);
	return 0;
}
