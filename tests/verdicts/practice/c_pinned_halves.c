/*
 * Simulates and fits a reservoir of neurons; a second thread has one half of them.
 *
 * Planted: the program binds itself to one processor, for steady timings, before it makes the thread, which inherits that.
 * Truth: time of the shared part, less that of one half alone, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NEURONS   640
#define TICKS     24
#define READOUTS  64
#define HALF      (NEURONS / 2)

static float recurrent[NEURONS][NEURONS], now[NEURONS], then[NEURONS];
static float readout[READOUTS][NEURONS];
static pthread_barrier_t barrier;
static bool ended;

static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void half_tick(int half, const float *from, float *to)
{
	for (int n = half * HALF; n < (half + 1) * HALF; n++) {
		float sum = 0.1f;

		for (int k = 0; k < NEURONS; k++)
			sum += recurrent[n][k] * from[k];
		to[n] = 0.7f * from[n] + 0.3f * sum / (1 + (sum < 0 ? -sum : sum));
	}
}

/* Both threads, each with its half; TICKS is even, so that the last state is in `now`. */
static void ticks(int half)
{
	for (int tick = 0; tick < TICKS; tick++) {
		half_tick(half, tick % 2 ? then : now, tick % 2 ? now : then);
		pthread_barrier_wait(&barrier);
	}
}

static void *second(void *unused)
{
	dwell_thread_name("second half");
	for (;;) {
		pthread_barrier_wait(&barrier);
		if (ended)
			return unused;
		DWELL_ZONE("half of the neurons");
		ticks(1);
	}
}

static void fit(int step)
{
	DWELL_ZONE("fit");
	for (int r = 0; r < READOUTS; r++) {
		float sum = 0, error;

		for (int n = 0; n < NEURONS; n++)
			sum += readout[r][n] * now[n];
		error = 1e-4f * (sum - (float)((step + r) % 7) / 7);
		for (int n = 0; n < NEURONS; n++)
			readout[r][n] -= error * now[n];
	}
}

static double seconds_of_half(void)
{
	double began;

	for (int i = 0; i < 200; i++)
		half_tick(0, now, then);
	began = now_s();
	for (int i = 0; i < 20 * TICKS; i++)
		half_tick(0, now, then);
	return (now_s() - began) / 20;
}

int main(void)
{
	struct watch watch;
	pthread_t thread;
	double alone;

	for (int n = 0; n < NEURONS; n++)
		for (int k = 0; k < NEURONS; k++)
			recurrent[n][k] = (float)(rand() % 200 - 100) / 2000;
	alone = seconds_of_half();
	stay_here();
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, second, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int n = 0; n < NEURONS; n += 16)
			now[n] = (float)((watch.steps * 13 + n) % 50) / 50;
		planted_begin(&watch);
		{
			DWELL_ZONE("reservoir");
			pthread_barrier_wait(&barrier);
			ticks(0);
		}
		planted_end(&watch);
		fit(watch.steps);
	}
	watch_tell_share(&watch, (watch.planted_s - watch.steps * alone) / watch_seconds(&watch));
	ended = true;
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return 0;
}
