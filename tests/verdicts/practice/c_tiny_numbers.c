/*
 * A leaky recurrent layer in C whose state decays towards zero.
 *
 * Planted: after two seconds, half of its numbers are subnormal, with which the processor is many
 * times slower.
 * Truth: what steps took longer than the median of the first thirty, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>

enum { SECONDS = 8, UNITS = 4096, TURNS = 4000, FIRST = 30 };

static float state[UNITS], leak[UNITS], output[UNITS];

static void recur(void)
{
	DWELL_ZONE("forward");
	for (int turn = 0; turn < TURNS; turn++)
		for (int unit = 0; unit < UNITS; unit++)
			output[unit] = 0.5f * output[unit] + leak[unit] * state[unit];
}

static int by_size(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

int main(void)
{
	double began[FIRST], usual = 0, longer_s = 0;
	int decayed = 0;
	struct watch watch;

	for (int unit = 0; unit < UNITS; unit++) {
		state[unit] = 1;
		leak[unit] = 0.25f + (float)(unit % 7) / 64;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		double before = now_s(), took;

		{
			DWELL_STEP();
			recur();
			DWELL_ZONE("decay");
			/* A wrong rate of decay. */
			if (!decayed && before - watch.began > 2) {
				for (int unit = 0; unit < UNITS; unit += 16)
					for (int at = unit; at < unit + 8; at++)
						state[at] = 1e-38f;
				decayed = 1;
			}
		}
		took = now_s() - before;
		if (watch.steps < FIRST)
			began[watch.steps] = took;
		if (watch.steps == FIRST) {
			qsort(began, FIRST, sizeof(*began), by_size);
			usual = began[FIRST / 2];
		}
		if (decayed && took > usual)
			longer_s += took - usual;
	}
	watch_tell_share(&watch, longer_s / watch_seconds(&watch));
	return 0;
}
