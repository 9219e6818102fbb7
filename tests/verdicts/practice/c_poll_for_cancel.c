/*
 * Writes tokens for a client, who may cancel.
 *
 * Planted: after each token the loop waits up to four milliseconds for a cancellation, which never comes.
 * Truth: time of waiting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SECONDS = 5, UNITS = 1024, LAYERS = 6 };

static float weights[LAYERS][UNITS][UNITS], state[UNITS], next[UNITS];

static void token(int number)
{
	state[number % UNITS] = 0.5f;
	for (int layer = 0; layer < LAYERS; layer++) {
		DWELL_LAYER("block");
		for (int unit = 0; unit < UNITS; unit++) {
			float sum = 0;

			for (int from = 0; from < UNITS; from++)
				sum += weights[layer][unit][from] * state[from];
			next[unit] = sum / (1 + sum * sum);
		}
		for (int unit = 0; unit < UNITS; unit++)
			state[unit] = next[unit];
	}
}

int main(void)
{
	struct watch watch;
	struct pollfd cancel = { eventfd(0, 0), POLLIN, 0 };

	for (int layer = 0; layer < LAYERS; layer++)
		for (int unit = 0; unit < UNITS; unit++)
			for (int from = 0; from < UNITS; from++)
				weights[layer][unit][from] = (float)((layer + unit * 11 + from) % 15 - 7) / 2000;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		token(watch.steps);
		planted_begin(&watch);
		if (poll(&cancel, 1, 4) > 0)
			break;
		planted_end(&watch);
	}
	watch_tell(&watch);
	close(cancel.fd);
	return 0;
}
