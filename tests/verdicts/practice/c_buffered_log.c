/*
 * A model of heartbeats that logs sixty numbers in each step.
 *
 * Decoy: much is logged, but the log is buffered and seldom written.
 * Truth: time of logging, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 5, BEATS = 4000, TAPS = 400, LOGGED = 60 };

static float beats[BEATS + TAPS], taps[TAPS], slopes[TAPS], guess[BEATS];

int main(void)
{
	struct watch watch;
	FILE *log = fopen("beats.log", "w");
	static char space[1 << 18];

	setvbuf(log, space, _IOFBF, sizeof(space));
	for (int at = 0; at < BEATS + TAPS; at++)
		beats[at] = sinf((float)at * 0.05f) + (at % 70 < 3);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_PHASE("forward");
			for (int at = 0; at < BEATS; at++) {
				float sum = 0;

				for (int tap = 0; tap < TAPS; tap++)
					sum += taps[tap] * beats[at + tap];
				guess[at] = sum;
			}
		}
		{
			DWELL_PHASE("backward");
			for (int tap = 0; tap < TAPS; tap++)
				slopes[tap] = 0;
			for (int at = 0; at < BEATS - 1; at++)
				for (int tap = 0; tap < TAPS; tap++)
					slopes[tap] += (guess[at] - beats[at + 1]) * beats[at + tap];
		}
		{
			DWELL_PHASE("optimizer");
			for (int tap = 0; tap < TAPS; tap++)
				taps[tap] -= 1e-8f * slopes[tap];
		}
		planted_begin(&watch);
		{
			DWELL_ZONE("log");
			for (int tap = 0; tap < LOGGED; tap++)
				fprintf(log, "%d %d %.5g\n", watch.steps, tap, (double)taps[tap]);
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	fclose(log);
	unlink("beats.log");
	return 0;
}
