/*
 * A network in C whose data another thread prepares, one batch at a time.
 *
 * Planted: the trainer waits on a condition for the batch of a producer that needs longer.
 * Truth: time of waiting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { SECONDS = 3, ROWS = 2000, COLUMNS = 640, PRODUCE_MS = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, taken = PTHREAD_COND_INITIALIZER;
static bool full, ended;
static float batch[COLUMNS], rows[ROWS][COLUMNS], scores[ROWS], slopes[COLUMNS], weights[COLUMNS];

static void *produce(void *unused)
{
	const struct timespec far = {0, PRODUCE_MS * 1000000L};

	(void)unused;
	pthread_mutex_lock(&lock);
	while (!ended) {
		pthread_mutex_unlock(&lock);
		nanosleep(&far, NULL);
		pthread_mutex_lock(&lock);
		while (full && !ended)
			pthread_cond_wait(&taken, &lock);
		for (int column = 0; column < COLUMNS; column++)
			batch[column] = (float)(column % 13) / 13;
		full = true;
		pthread_cond_signal(&filled);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void take(void)
{
	pthread_mutex_lock(&lock);
	while (!full)
		pthread_cond_wait(&filled, &lock);
	for (int column = 0; column < COLUMNS; column++)
		rows[column % ROWS][column] = batch[column];
	full = false;
	pthread_cond_signal(&taken);
	pthread_mutex_unlock(&lock);
}

static void score(void)
{
	DWELL_OP("score");
	for (int row = 0; row < ROWS; row++) {
		float sum = 0;

		for (int column = 0; column < COLUMNS; column++)
			sum += rows[row][column] * weights[column];
		scores[row] = sum > 0 ? sum : 0.1f;
	}
}

static void differentiate(void)
{
	DWELL_OP("differentiate");
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0;
	for (int pass = 0; pass < 12; pass++)
		for (int row = 0; row < ROWS; row++)
			for (int column = 0; column < COLUMNS; column++)
				slopes[column] += rows[row][column] * scores[row];
}

int main(void)
{
	pthread_t producer;
	double began, loop_s, waiting_s = 0;
	int steps = 0;

	if (pthread_create(&producer, NULL, produce, NULL))
		return 1;
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;

		DWELL_STEP();
		before = now_s();
		take();
		waiting_s += now_s() - before;
		{
			DWELL_ZONE("forward");
			score();
		}
		{
			DWELL_ZONE("backward");
			differentiate();
		}
		{
			DWELL_ZONE("optimizer");
			for (int column = 0; column < COLUMNS; column++)
				weights[column] -= 1e-6f * slopes[column];
		}
	}
	loop_s = now_s() - began;
	pthread_mutex_lock(&lock);
	ended = true;
	pthread_cond_signal(&taken);
	pthread_mutex_unlock(&lock);
	pthread_join(producer, NULL);
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", waiting_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
