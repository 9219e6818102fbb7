/*
 * A loop beside threads that use the CPUs without pause.
 *
 *     crowd THREADS [bind]
 *
 * Runs 120 steps of 20 ms, in which the main thread computes, while so many further threads compute. With "bind" all of
 * them may use one CPU.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "dwell/probe.h"

#define STEPS 120
#define STEP_NS 20000000
#define MOST_THREADS 64

static int ended;

static void *turn(void *unused)
{
	while (!__atomic_load_n(&ended, __ATOMIC_RELAXED))
		;
	return unused;
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **arguments)
{
	int wanted = count > 1 ? atoi(arguments[1]) : 0, made = 0;
	pthread_t threads[MOST_THREADS];
	cpu_set_t here;

	if (count > 2) {
		CPU_ZERO(&here);
		CPU_SET(sched_getcpu(), &here);
		sched_setaffinity(0, sizeof here, &here);
	}
	while (made < wanted && made < MOST_THREADS && !pthread_create(&threads[made], NULL, turn, NULL))
		made++;
	for (int i = 0; i < STEPS; i++) {
		DWELL_STEP();
		DWELL_ZONE("compute");
		for (long long end = now_ns() + STEP_NS; now_ns() < end;)
			;
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	while (made)
		pthread_join(threads[--made], NULL);
	return 0;
}
