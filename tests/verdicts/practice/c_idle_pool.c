/*
 * A linear model in C beside a pool of threads that wait for work.
 *
 * Decoy of waiting and of locks: six threads wait on a condition all the time, and the trainer
 * takes their lock once a step, which is free. Truth: time of taking the lock in the trainer, of
 * the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { SECONDS = 3, ROWS = 1024, COLUMNS = 768, THREADS = 6, PASSES = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static bool ended;
static int finished;
static float rows[ROWS][COLUMNS], weights[COLUMNS], slopes[COLUMNS], errors[ROWS];

static void *wait_for_work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	while (!ended)
		pthread_cond_wait(&work, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void forward(void)
{
	DWELL_OP("predict");
	for (int row = 0; row < ROWS; row++) {
		float sum = 0;

		for (int column = 0; column < COLUMNS; column++)
			sum += rows[row][column] * weights[column];
		errors[row] = sum - (float)(row % 3);
	}
}

static void backward(void)
{
	DWELL_OP("slopes");
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0;
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			slopes[column] += errors[row] * rows[row][column];
}

static void descend(void)
{
	DWELL_OP("sgd");
	for (int column = 0; column < COLUMNS; column++)
		weights[column] -= 1e-7f * slopes[column];
}

int main(void)
{
	pthread_t threads[THREADS];
	double began, loop_s, locked_s = 0;
	int steps = 0;

	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			rows[row][column] = (float)((row * 3 + column * 5) % 17) / 17;
	for (int thread = 0; thread < THREADS; thread++)
		pthread_create(&threads[thread], NULL, wait_for_work, NULL);
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double asked;

		DWELL_STEP();
		for (int pass = 0; pass < PASSES; pass++) {
			{
				DWELL_ZONE("forward");
				forward();
			}
			{
				DWELL_ZONE("backward");
				backward();
			}
		}
		{
			DWELL_ZONE("optimizer");
			descend();
		}
		asked = now_s();
		pthread_mutex_lock(&lock);
		finished++;
		pthread_mutex_unlock(&lock);
		locked_s += now_s() - asked;
	}
	loop_s = now_s() - began;
	pthread_mutex_lock(&lock);
	ended = true;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&lock);
	for (int thread = 0; thread < THREADS; thread++)
		pthread_join(threads[thread], NULL);
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
	       locked_s / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return finished != steps;
}
