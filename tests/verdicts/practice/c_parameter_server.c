/*
 * A trainer whose weights another thread averages with those of its peers.
 *
 * Planted: the averaging thread holds the weights' lock while it waits for its peers (12 ms of 16),
 * and the trainer waits for the lock in each step.
 * Truth: the time of pthread_mutex_lock() in the trainer, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { SECONDS = 9, ROWS = 600, COLUMNS = 1000 };

static pthread_mutex_t weights_lock = PTHREAD_MUTEX_INITIALIZER;
static float weights[ROWS][COLUMNS], gradient[ROWS][COLUMNS], input[COLUMNS], output[ROWS];
static atomic_bool training = true;

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void *average_with_peers(void *unused)
{
	(void)unused;
	while (training) {
		pthread_mutex_lock(&weights_lock);
		sleep_ms(12); /* the peers answer */
		pthread_mutex_unlock(&weights_lock);
		sleep_ms(4);
	}
	return NULL;
}

static void forward(void)
{
	DWELL_OP("dense");
	for (int repeat = 0; repeat < 4; repeat++)
		for (int row = 0; row < ROWS; row++) {
			float sum = 0;

			for (int column = 0; column < COLUMNS; column++)
				sum += weights[row][column] * input[column];
			output[row] = sum > 0 ? sum : 0;
		}
}

static void backward(void)
{
	DWELL_OP("dense_gradient");
	for (int repeat = 0; repeat < 4; repeat++)
		for (int row = 0; row < ROWS; row++)
			for (int column = 0; column < COLUMNS; column++)
				gradient[row][column] = 0.25f * gradient[row][column] + (output[row] - 1) * input[column];
}

static double update(void)
{
	double began = now_s(), waited;

	pthread_mutex_lock(&weights_lock);
	waited = now_s() - began;
	{
		DWELL_OP("sgd");
		for (int row = 0; row < ROWS; row++)
			for (int column = 0; column < COLUMNS; column++)
				weights[row][column] -= 1e-4f * gradient[row][column];
	}
	pthread_mutex_unlock(&weights_lock);
	return waited;
}

int main(void)
{
	pthread_t averaging;
	double began, loop_s, waited_s = 0;
	int steps = 0;

	for (int column = 0; column < COLUMNS; column++)
		input[column] = 1.0f / (float)(column + 1);
	pthread_create(&averaging, NULL, average_with_peers, NULL);
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			forward();
		}
		{
			DWELL_ZONE("backward");
			backward();
		}
		{
			DWELL_ZONE("optimizer");
			waited_s += update();
		}
	}
	loop_s = now_s() - began;
	training = false;
	pthread_join(averaging, NULL);
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", waited_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
