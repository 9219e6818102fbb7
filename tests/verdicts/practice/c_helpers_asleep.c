/*
 * A logistic model of rainfall in C in a program that has many services.
 *
 * Decoy: forty threads exist and wake twice a second; the loop's thread computes all the time.
 * Truth: processor time of the other threads, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 5, THREADS = 40, DAYS = 5000, STATIONS = 300 };

static float days[DAYS][STATIONS], weights[STATIONS], slopes[STATIONS], errors[DAYS];
static atomic_int ended;
static double helper_s[THREADS];

static void *sleep_on(void *number)
{
	while (!atomic_load(&ended)) {
		usleep(500000);
		helper_s[(int)(long)number] = cpu_s();
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	struct watch watch;
	double all_s = 0;

	for (long number = 0; number < THREADS; number++)
		pthread_create(&threads[number], NULL, sleep_on, (void *)number);
	for (int day = 0; day < DAYS; day++)
		for (int station = 0; station < STATIONS; station++)
			days[day][station] = (float)((day * 3 + station * 23) % 107) / 107;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			for (int day = 0; day < DAYS; day++) {
				float sum = 0;

				for (int station = 0; station < STATIONS; station++)
					sum += days[day][station] * weights[station];
				errors[day] = 1 / (1 + expf(-sum)) - (float)(day % 4 == 0);
			}
		}
		{
			DWELL_ZONE("backward");
			for (int day = 0; day < DAYS; day++)
				for (int station = 0; station < STATIONS; station++)
					slopes[station] += errors[day] * days[day][station];
		}
		DWELL_ZONE("optimizer");
		for (int station = 0; station < STATIONS; station++) {
			weights[station] -= 1e-5f * slopes[station];
			slopes[station] = 0;
		}
	}
	for (int number = 0; number < THREADS; number++)
		all_s += helper_s[number];
	watch_tell_share(&watch, all_s / watch_seconds(&watch));
	atomic_store(&ended, 1);
	for (int number = 0; number < THREADS; number++)
		pthread_join(threads[number], NULL);
	return 0;
}
