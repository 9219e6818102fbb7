/*
 * Two processes add up the gradients of a step in shared memory.
 *
 * Planted: the helper has five eighths of the rows, and the loop waits for it in a semaphore.
 * Truth: time of waiting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 5, ROWS = 4000, COLUMNS = 900 };

struct shared {
	sem_t go, done;
	volatile int ended;
	float weights[COLUMNS], slopes[2][COLUMNS], rows[ROWS][COLUMNS];
};

static void add_up(struct shared *shared, int part, int from, int to)
{
	float *slopes = shared->slopes[part];

	DWELL_OP("gradients");
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0;
	for (int row = from; row < to; row++) {
		float error = -1;

		for (int column = 0; column < COLUMNS; column++)
			error += shared->rows[row][column] * shared->weights[column];
		for (int column = 0; column < COLUMNS; column++)
			slopes[column] += error * shared->rows[row][column];
	}
}

static void help(struct shared *shared)
{
	for (;;) {
		sem_wait(&shared->go);
		if (shared->ended)
			_exit(0);
		add_up(shared, 1, ROWS * 3 / 8, ROWS);
		sem_post(&shared->done);
	}
}

int main(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct watch watch;

	sem_init(&shared->go, 1, 0);
	sem_init(&shared->done, 1, 0);
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			shared->rows[row][column] = (float)((row + 3 * column) % 41) / 41;
	if (!fork())
		help(shared);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		sem_post(&shared->go);
		add_up(shared, 0, 0, ROWS * 3 / 8);
		planted_begin(&watch);
		sem_wait(&shared->done);
		planted_end(&watch);
		DWELL_OP("sgd");
		for (int column = 0; column < COLUMNS; column++)
			shared->weights[column] -=
			    1e-9f * (shared->slopes[0][column] + shared->slopes[1][column]);
	}
	watch_tell(&watch);
	shared->ended = 1;
	sem_post(&shared->go);
	wait(NULL);
	return 0;
}
