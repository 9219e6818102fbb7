/*
 * Learns the demand of a shop in C, while a thread of its own writes a journal.
 *
 * Decoy of waiting for a file: the journal's thread waits for the disk all the time, and the trainer
 * only leaves a number in memory. Truth: time of leaving it, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 3, ROWS = 6000, COLUMNS = 512 };

static _Atomic int newest;
static _Atomic int ended;
static float rows[ROWS][COLUMNS], weights[COLUMNS], slopes[COLUMNS], errors[ROWS];

static void *keep_journal(void *descriptor)
{
	const struct timespec pause = {0, 20000000};
	int fd = *(int *)descriptor;

	while (!atomic_load(&ended)) {
		int step = atomic_load(&newest);

		if (write(fd, &step, sizeof(step)) < 0 || fsync(fd))
			return NULL;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void predict(void)
{
	DWELL_OP("predict");
	for (int row = 0; row < ROWS; row++) {
		float sum = 0;

		for (int column = 0; column < COLUMNS; column++)
			sum += rows[row][column] * weights[column];
		errors[row] = sum - (float)(row % 10);
	}
}

static void differentiate(void)
{
	DWELL_OP("differentiate");
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0;
	for (int pass = 0; pass < 2; pass++)
		for (int row = 0; row < ROWS; row++)
			for (int column = 0; column < COLUMNS; column++)
				slopes[column] += rows[row][column] * errors[row];
}

static void descend(void)
{
	DWELL_OP("sgd");
	for (int column = 0; column < COLUMNS; column++)
		weights[column] -= 1e-6f * slopes[column];
}

int main(void)
{
	char path[] = "./journal-XXXXXX";
	int fd = mkstemp(path), steps = 0;
	double began, loop_s, leaving_s = 0;
	pthread_t journal;

	if (fd < 0)
		return 1;
	unlink(path);
	if (pthread_create(&journal, NULL, keep_journal, &fd))
		return 1;
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			rows[row][column] = (float)((row * 19 + column * 23) % 89) / 89;
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;

		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			predict();
		}
		{
			DWELL_ZONE("backward");
			differentiate();
		}
		{
			DWELL_ZONE("optimizer");
			descend();
		}
		before = now_s();
		atomic_store(&newest, steps);
		leaving_s += now_s() - before;
	}
	loop_s = now_s() - began;
	atomic_store(&ended, 1);
	pthread_join(journal, NULL);
	close(fd);
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", leaving_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
