/*
 * Trains on blocks that four threads fetch from a store on the network and put into a queue. There is no mark.
 *
 * The fault: a thread fetches its block while it holds the queue's lock, so the threads fetch one after the other,
 * and the loop waits for the lock to take a block that is ready.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { STEPS = 350, THREADS = 4, ENTRIES = 8, NUMBERS = 4096, ROUNDS = 220 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static float queue[ENTRIES][NUMBERS], weights[NUMBERS];
static int first, count;

/* Stands for the store: it answers after 8 ms. */
static void fetch(float *block)
{
	nanosleep(&(struct timespec){ .tv_nsec = 8000000 }, NULL);
	for (int at = 0; at < NUMBERS; at++)
		block[at] = (float)(at % 17) / 17;
}

static void put(const float *block)
{
	while (count == ENTRIES)
		pthread_cond_wait(&emptied, &lock);
	for (int at = 0; at < NUMBERS; at++)
		queue[(first + count) % ENTRIES][at] = block[at];
	count++;
	pthread_cond_signal(&filled);
}

static void *load(void *unused)
{
	float block[NUMBERS];

	for (;;) {
		pthread_mutex_lock(&lock);
		fetch(block);
		put(block);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

__attribute__((noinline)) static void take(float *block)
{
	pthread_mutex_lock(&lock);
	while (!count)
		pthread_cond_wait(&filled, &lock);
	for (int at = 0; at < NUMBERS; at++)
		block[at] = queue[first][at];
	first = (first + 1) % ENTRIES;
	count--;
	pthread_cond_signal(&emptied);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void train_step(void)
{
	float block[NUMBERS];

	take(block);
	for (int round = 0; round < ROUNDS; round++)
		for (int at = 0; at < NUMBERS; at++)
			weights[at] += 1e-4f * (block[at] - weights[at] * block[at]);
}

int main(void)
{
	pthread_t thread;

	for (int number = 0; number < THREADS; number++)
		pthread_create(&thread, NULL, load, NULL);
	for (int step = 0; step < STEPS; step++)
		train_step();
	printf("%f\n", (double)weights[5]);
	return 0;
}
