/*
 * Trains a filter for radio noise while threads watch for new antennas.
 *
 * Planted: three threads look for them without a pause and use the processors that the loop needs.
 * Truth: time in which the loop's thread had no processor, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>

enum { SECONDS = 6, SIGNAL = 60000, TAPS = 128, WATCHERS = 3 };

static float signal_in[SIGNAL + TAPS], taps[TAPS], slopes[TAPS];
static atomic_int antennas, ended;

static void *look(void *seen)
{
	while (!atomic_load_explicit(&ended, memory_order_relaxed))
		*(int *)seen += atomic_load_explicit(&antennas, memory_order_relaxed);
	return NULL;
}

static void learn(void)
{
	DWELL_OP("filter, gradient");
	for (int at = 0; at < SIGNAL; at++) {
		float error = -signal_in[at + 7];

		for (int tap = 0; tap < TAPS; tap++)
			error += taps[tap] * signal_in[at + tap];
		for (int tap = 0; tap < TAPS; tap++)
			slopes[tap] += error * signal_in[at + tap];
	}
	for (int tap = 0; tap < TAPS; tap++) {
		taps[tap] -= 1e-8f * slopes[tap];
		slopes[tap] = 0;
	}
}

int main(void)
{
	pthread_t threads[WATCHERS];
	int seen[WATCHERS] = { 0 };
	struct watch watch;
	double cpu_before;

	for (int at = 0; at < SIGNAL + TAPS; at++)
		signal_in[at] = (float)(at * 7919 % 2003) / 2003;
	for (int at = 0; at < WATCHERS; at++)
		pthread_create(&threads[at], NULL, look, &seen[at]);
	watch_begin(&watch);
	cpu_before = cpu_s();
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		learn();
	}
	watch_tell_share(&watch, 1 - (cpu_s() - cpu_before) / watch_seconds(&watch));
	ended = 1;
	for (int at = 0; at < WATCHERS; at++)
		pthread_join(threads[at], NULL);
	return 0;
}
