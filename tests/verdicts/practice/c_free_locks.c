/*
 * A model of card games whose tables have a lock each; the threads that could take them sleep.
 *
 * Decoy: thousands of locks a step, all of them free, and two threads that always wait.
 * Truth: time of one step's locks, measured before the loop, times the steps, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>

enum { SECONDS = 5, TABLES = 3000, CARDS = 104, ROUNDS = 24, SLEEPERS = 2 };

static pthread_mutex_t locks[TABLES], sleep_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static float tables[TABLES][CARDS], weights[CARDS];
static int ended;

static void *sleeper(void *unused)
{
	pthread_mutex_lock(&sleep_lock);
	while (!ended)
		pthread_cond_wait(&wake, &sleep_lock);
	pthread_mutex_unlock(&sleep_lock);
	return unused;
}

static void learn(float *cards)
{
	for (int round = 0; round < ROUNDS; round++) {
		float error = -1;

		for (int card = 0; card < CARDS; card++)
			error += cards[card] * weights[card];
		for (int card = 0; card < CARDS; card++)
			weights[card] -= 1e-7f * error * cards[card];
	}
}

static void all_tables(void)
{
	DWELL_OP("tables");
	for (int table = 0; table < TABLES; table++) {
		pthread_mutex_lock(&locks[table]);
		learn(tables[table]);
		pthread_mutex_unlock(&locks[table]);
	}
}

int main(void)
{
	pthread_t threads[SLEEPERS];
	double locks_s = now_s();
	struct watch watch;

	for (int table = 0; table < TABLES; table++) {
		pthread_mutex_init(&locks[table], NULL);
		for (int card = 0; card < CARDS; card++)
			tables[table][card] = (float)((table + card) % 13) / 13;
	}
	for (int at = 0; at < SLEEPERS; at++)
		pthread_create(&threads[at], NULL, sleeper, NULL);
	locks_s = now_s();
	for (int table = 0; table < TABLES; table++) {
		pthread_mutex_lock(&locks[table]);
		pthread_mutex_unlock(&locks[table]);
	}
	locks_s = now_s() - locks_s;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		all_tables();
	}
	watch_tell_share(&watch, locks_s * watch.steps / watch_seconds(&watch));
	pthread_mutex_lock(&sleep_lock);
	ended = 1;
	pthread_cond_broadcast(&wake);
	pthread_mutex_unlock(&sleep_lock);
	for (int at = 0; at < SLEEPERS; at++)
		pthread_join(threads[at], NULL);
	return 0;
}
