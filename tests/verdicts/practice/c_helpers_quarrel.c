/*
 * A filter for radio signals; two helper threads keep statistics that they share.
 *
 * Decoy: the helpers wait for each other's lock nearly all of the time, but the loop never takes it.
 * Truth: time of handing numbers to the helpers, which is one atomic store, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { SECONDS = 5, SAMPLES = 8192, TAPS = 256 };

static float signal_[SAMPLES + TAPS], taps[TAPS], out[SAMPLES], slopes[TAPS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool ended;
static atomic_int handed;
static long seen;

static void *keep(void *unused)
{
	while (!ended) {
		pthread_mutex_lock(&lock);
		seen += handed;
		usleep(15000);
		pthread_mutex_unlock(&lock);
		usleep(100);
	}
	return unused;
}

int main(void)
{
	struct watch watch;
	pthread_t helpers[2];

	for (int at = 0; at < SAMPLES + TAPS; at++)
		signal_[at] = (float)((at * 37) % 101) / 101 - 0.5f;
	for (int at = 0; at < 2; at++)
		pthread_create(&helpers[at], NULL, keep, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_OP("fir");
			for (int at = 0; at < SAMPLES; at++) {
				float sum = 0;

				for (int tap = 0; tap < TAPS; tap++)
					sum += taps[tap] * signal_[at + tap];
				out[at] = sum;
			}
		}
		{
			DWELL_OP("fir_backward");
			for (int tap = 0; tap < TAPS; tap++)
				slopes[tap] = 0;
			for (int at = 0; at < SAMPLES; at++)
				for (int tap = 0; tap < TAPS; tap++)
					slopes[tap] += (out[at] - signal_[at]) * signal_[at + tap];
			for (int tap = 0; tap < TAPS; tap++)
				taps[tap] -= 1e-6f * slopes[tap];
		}
		planted_begin(&watch);
		handed = watch.steps;
		planted_end(&watch);
	}
	watch_tell(&watch);
	ended = true;
	for (int at = 0; at < 2; at++)
		pthread_join(helpers[at], NULL);
	return 0;
}
