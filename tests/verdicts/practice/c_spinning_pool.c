/*
 * Hidden units of a wide layer in C, shared by a pool of threads that was tuned on another machine.
 *
 * Planted: three threads for each processor spin at a barrier after each part of a step.
 * Truth: the share of the loop that the parts' own processor time, divided by the processors,
 * leaves.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 6, UNITS = 960, INPUTS = 512, ROUNDS = 8, MANY = 64 };

static float weights[UNITS][INPUTS], inputs[INPUTS], outputs[UNITS];
static atomic_int arrived, generation, ended;
static double work_s[MANY];
static int threads;

static void barrier(void)
{
	int now = atomic_load(&generation);

	if (atomic_fetch_add(&arrived, 1) == threads - 1) {
		atomic_store(&arrived, 0);
		atomic_fetch_add(&generation, 1);
		return;
	}
	for (long turn = 0; atomic_load(&generation) == now; turn++)
		if (turn % 100000 == 99999)
			sched_yield();
}

static void part(int thread)
{
	double before = cpu_s();

	for (int unit = thread; unit < UNITS; unit += threads)
		for (int pass = 0; pass < 8; pass++) {
			float sum = 0;

			for (int at = 0; at < INPUTS; at++)
				sum += weights[unit][at] * inputs[at];
			outputs[unit] = sum + (float)pass;
		}
	work_s[thread] += cpu_s() - before;
}

static void *help(void *thread)
{
	for (;;) {
		barrier();
		if (atomic_load(&ended))
			return NULL;
		part((int)(long)thread);
		barrier();
	}
}

int main(void)
{
	int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t ids[MANY];
	struct watch watch;
	double all_s = 0;

	threads = processors > MANY / 3 ? MANY : 3 * processors;
	for (long thread = 1; thread < threads; thread++)
		pthread_create(&ids[thread], NULL, help, (void *)thread);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int round = 0; round < ROUNDS; round++) {
			DWELL_ZONE("forward");
			barrier();
			part(0);
			barrier();
		}
		DWELL_ZONE("optimizer");
		for (int unit = 0; unit < UNITS; unit++)
			weights[unit][unit % INPUTS] -= 1e-6f * outputs[unit];
	}
	for (int thread = 0; thread < threads; thread++)
		all_s += work_s[thread];
	watch_tell_share(&watch, 1 - all_s / processors / watch_seconds(&watch));
	atomic_store(&ended, 1);
	barrier();
	for (int thread = 1; thread < threads; thread++)
		pthread_join(ids[thread], NULL);
	return 0;
}
