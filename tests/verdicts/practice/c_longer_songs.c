/*
 * A recurrent network hums melodies; after two and a half seconds its curriculum makes them longer.
 *
 * Planted: from then on melodies have 26 notes and not 16.
 * Truth: how much of a later step is longer than an earlier one.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <string.h>

enum { SHORT = 16, LONG = 26, UNITS = 256, VOICES = 8 };

static const double HALF_S = 2.5;
static float states[LONG + 1][VOICES][UNITS], weights[UNITS][UNITS], slopes[UNITS][UNITS];

static void forward(int notes)
{
	DWELL_ZONE("forward");
	for (int note = 0; note < notes; note++) {
		DWELL_OP("cell");
		for (int voice = 0; voice < VOICES; voice++)
			for (int unit = 0; unit < UNITS; unit++) {
				float sum = (float)((note + unit) % 5) / 5;

				for (int from = 0; from < UNITS; from++)
					sum += weights[unit][from] * states[note][voice][from];
				states[note + 1][voice][unit] = tanhf(sum);
			}
	}
}

static void backward(int notes)
{
	DWELL_ZONE("backward");
	for (int note = notes - 1; note >= 0; note--) {
		DWELL_OP("cell, backward");
		for (int voice = 0; voice < VOICES; voice++)
			for (int unit = 0; unit < UNITS; unit++)
				for (int from = 0; from < UNITS; from++)
					slopes[unit][from] +=
					    (states[note + 1][voice][unit] - 0.1f) * states[note][voice][from];
	}
}

static void update(void)
{
	DWELL_ZONE("optimizer");
	for (int unit = 0; unit < UNITS; unit++)
		for (int from = 0; from < UNITS; from++)
			weights[unit][from] -= 1e-6f * slopes[unit][from];
	memset(slopes, 0, sizeof(slopes));
}

static void step(int notes)
{
	DWELL_STEP();
	forward(notes);
	backward(notes);
	update();
}

int main(void)
{
	double early_s, late_s;
	struct watch watch;
	int early;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < HALF_S; watch.steps++)
		step(SHORT);
	early = watch.steps;
	early_s = watch_seconds(&watch) / early;
	for (; watch_seconds(&watch) < 2 * HALF_S; watch.steps++)
		step(LONG);
	late_s = (watch_seconds(&watch) - early_s * early) / (watch.steps - early);
	watch_tell_share(&watch, 1 - early_s / late_s);
	return 0;
}
