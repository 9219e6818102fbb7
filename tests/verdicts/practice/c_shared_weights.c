/*
 * A linear map in C, whose weights another thread smooths.
 *
 * Planted: the thread holds the mutex of the weights for 5 ms at a time, and each step needs the
 * mutex. Truth: time of waiting for the mutex, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { SECONDS = 3, ROWS = 1500, SIDE = 600 };

static float inputs[ROWS][SIDE], weights[SIDE], slopes[SIDE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ended;

static void pause_ms(long ms)
{
	struct timespec pause = { 0, ms * 1000000 };

	nanosleep(&pause, NULL);
}

static void *smooth(void *nothing)
{
	(void)nothing;
	while (!ended) {
		pthread_mutex_lock(&lock);
		for (int at = 1; at < SIDE; at++)
			weights[at] = 0.999f * weights[at] + 0.001f * weights[at - 1];
		pause_ms(5);
		pthread_mutex_unlock(&lock);
		pause_ms(3);
	}
	return NULL;
}

static void differentiate(void)
{
	DWELL_OP("differentiate");
	for (int at = 0; at < SIDE; at++)
		slopes[at] = 0;
	for (int row = 0; row < ROWS; row++) {
		float sum = -1;

		for (int at = 0; at < SIDE; at++)
			sum += inputs[row][at] * weights[at];
		for (int at = 0; at < SIDE; at++)
			slopes[at] += sum * inputs[row][at];
	}
}

static void descend(void)
{
	DWELL_OP("descend");
	for (int at = 0; at < SIDE; at++)
		weights[at] -= 1e-6f * slopes[at];
}

int main(void)
{
	double began, loop_s, waited_s = 0;
	pthread_t thread;
	int steps = 0;

	for (int row = 0; row < ROWS; row++)
		for (int at = 0; at < SIDE; at++)
			inputs[row][at] = (float)((row * 7 + at * 13) % 29) / 29;
	pthread_create(&thread, NULL, smooth, NULL);
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;

		DWELL_STEP();
		for (int part = 0; part < 4; part++)
			differentiate();
		before = now_s();
		pthread_mutex_lock(&lock);
		waited_s += now_s() - before;
		descend();
		pthread_mutex_unlock(&lock);
	}
	loop_s = now_s() - began;
	ended = 1;
	pthread_join(thread, NULL);
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
	       waited_s / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
