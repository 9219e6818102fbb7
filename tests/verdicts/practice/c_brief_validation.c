/*
 * Fits tidal harmonics in C and validates after each fifth step.
 *
 * Decoy: an evaluation and a growing history of losses, but both take a moment only.
 * Truth: time of evaluating and of keeping the loss, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 5, HOURS = 12000, WAVES = 72, HELD = 600, MOST = 100000 };

static float basis[HOURS][WAVES], heights[HOURS], weights[WAVES], slopes[WAVES], history[MOST];

static float error_at(int hour)
{
	float sum = -heights[hour];

	for (int wave = 0; wave < WAVES; wave++)
		sum += weights[wave] * basis[hour][wave];
	return sum;
}

static float validate(void)
{
	DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "validate");
	float loss = 0;

	for (int hour = HOURS - HELD; hour < HOURS; hour++)
		loss += error_at(hour) * error_at(hour);
	return loss;
}

int main(void)
{
	struct watch watch;

	for (int hour = 0; hour < HOURS; hour++) {
		heights[hour] = sinf((float)hour * 0.5f);
		for (int wave = 0; wave < WAVES; wave++)
			basis[hour][wave] = cosf((float)hour * 0.02f * (float)wave);
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int pass = 0; pass < 4; pass++) {
			DWELL_ZONE("fit");
			for (int hour = 0; hour < HOURS - HELD; hour++) {
				float error = error_at(hour);

				for (int wave = 0; wave < WAVES; wave++)
					slopes[wave] += error * basis[hour][wave];
			}
			for (int wave = 0; wave < WAVES; wave++) {
				weights[wave] -= 1e-6f * slopes[wave];
				slopes[wave] = 0;
			}
		}
		planted_begin(&watch);
		history[watch.steps % MOST] = watch.steps % 5 ? 0 : validate();
		planted_end(&watch);
	}
	watch_tell(&watch);
	return history[0] < 0;
}
