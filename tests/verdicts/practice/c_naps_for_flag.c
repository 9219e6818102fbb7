/*
 * A thread simulates a pendulum, and the loop learns from each of its runs.
 *
 * Planted: the loop looks for a finished run, and sleeps longer after each vain look.
 * Truth: time of looking and sleeping, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SECONDS = 5, POINTS = 1200, WIDTH = 220 };

static float swings[POINTS], slopes[WIDTH], weights[WIDTH];
static atomic_int ready, ended;

static void *simulate(void *unused)
{
	struct timespec hardware = { 0, 2500000 };

	(void)unused;
	while (!ended) {
		double angle = 1, speed = 0;

		while (ready && !ended)
			nanosleep(&(struct timespec){ 0, 100000 }, NULL);
		nanosleep(&hardware, NULL); /* a real pendulum needs its time */
		for (int at = 0; at < POINTS; at++) {
			speed -= 0.01 * sin(angle);
			angle += 0.01 * speed;
			swings[at] = (float)angle;
		}
		ready = 1;
	}
	return NULL;
}

static void wait_for_run(void)
{
	long nap_ns = 200000;

	while (!ready) {
		nanosleep(&(struct timespec){ 0, nap_ns }, NULL);
		nap_ns += nap_ns / 2;
	}
}

static void learn(void)
{
	DWELL_OP("autoregression");
	for (int round = 0; round < 12; round++)
		for (int at = WIDTH; at < POINTS; at++) {
			float error = -swings[at];

			for (int lag = 0; lag < WIDTH; lag++)
				error += weights[lag] * swings[at - lag - 1];
			for (int lag = 0; lag < WIDTH; lag++)
				slopes[lag] += error * swings[at - lag - 1];
		}
	for (int lag = 0; lag < WIDTH; lag++) {
		weights[lag] -= 1e-7f * slopes[lag];
		slopes[lag] = 0;
	}
}

int main(void)
{
	struct watch watch;
	pthread_t thread;

	pthread_create(&thread, NULL, simulate, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		wait_for_run();
		planted_end(&watch);
		learn();
		ready = 0;
	}
	watch_tell(&watch);
	ended = 1;
	pthread_join(thread, NULL);
	return 0;
}
