/*
 * A one-dimensional convolution in C for earthquake traces, validated while it trains.
 *
 * Planted: all validation traces after each second step.
 * Truth: time of the validations, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>

enum { SECONDS = 6, FILTERS = 12, TAPS = 24, LENGTH = 2000, BATCH = 8, HELD = 9 };

static float traces[BATCH + HELD][LENGTH + TAPS], filters[FILTERS][TAPS], slopes[FILTERS][TAPS];
static float outputs[FILTERS][LENGTH];

static float forward(const float *trace)
{
	DWELL_OP("convolve");
	float loss = 0;

	for (int filter = 0; filter < FILTERS; filter++)
		for (int at = 0; at < LENGTH; at++) {
			float sum = -1;

			for (int tap = 0; tap < TAPS; tap++)
				sum += filters[filter][tap] * trace[at + tap];
			outputs[filter][at] = sum;
			loss += sum * sum;
		}
	return loss;
}

static void backward(const float *trace)
{
	DWELL_OP("convolve_backward");
	for (int filter = 0; filter < FILTERS; filter++)
		for (int tap = 0; tap < TAPS; tap++) {
			float sum = 0;

			for (int at = 0; at < LENGTH; at++)
				sum += outputs[filter][at] * trace[at + tap];
			slopes[filter][tap] += sum;
		}
}

static float validate(void)
{
	DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "validate");
	float loss = 0;

	for (int held = BATCH; held < BATCH + HELD; held++)
		loss += forward(traces[held]);
	return loss;
}

int main(void)
{
	struct watch watch;
	float best = 1e30f, loss;

	for (int trace = 0; trace < BATCH + HELD; trace++)
		for (int at = 0; at < LENGTH + TAPS; at++)
			traces[trace][at] = (float)((trace * 41 + at * at) % 67) / 67;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		{
			DWELL_STEP();
			for (int trace = 0; trace < BATCH; trace++) {
				{
					DWELL_ZONE("forward");
					forward(traces[trace]);
				}
				DWELL_ZONE("backward");
				backward(traces[trace]);
			}
			DWELL_ZONE("optimizer");
			for (int filter = 0; filter < FILTERS; filter++)
				for (int tap = 0; tap < TAPS; tap++) {
					filters[filter][tap] -= 1e-7f * slopes[filter][tap];
					slopes[filter][tap] = 0;
				}
		}
		if (watch.steps % 2)
			continue;
		planted_begin(&watch);
		loss = validate();
		planted_end(&watch);
		best = loss < best ? loss : best;
	}
	watch_tell(&watch);
	return best < 0;
}
