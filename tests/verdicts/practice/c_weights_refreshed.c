/*
 * Answers questions with a small network whose weights another thread refreshes from afar.
 *
 * Planted: the refresher keeps the write lock while it waits for the rest of the weights.
 * Truth: time until the loop gets its read lock, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { SECONDS = 5, UNITS = 900, LAYERS = 4 };

static float weights[LAYERS][UNITS][UNITS], state[UNITS], next[UNITS];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_bool ended;

static void *refresh(void *unused)
{
	for (int round = 0; !ended; round++) {
		usleep(9000);
		pthread_rwlock_wrlock(&lock);
		for (int part = 0; part < 6; part++) {
			usleep(1000);
			weights[round % LAYERS][part * 100][round % UNITS] += 0.001f;
		}
		pthread_rwlock_unlock(&lock);
	}
	return unused;
}

static void answer(void)
{
	for (int layer = 0; layer < LAYERS; layer++) {
		DWELL_ZONE("layer");
		for (int unit = 0; unit < UNITS; unit++) {
			float sum = 0.1f;

			for (int from = 0; from < UNITS; from++)
				sum += weights[layer][unit][from] * state[from];
			next[unit] = sum > 0 ? sum : 0.01f * sum;
		}
		for (int unit = 0; unit < UNITS; unit++)
			state[unit] = next[unit];
	}
}

int main(void)
{
	struct watch watch;
	pthread_t thread;

	for (int layer = 0; layer < LAYERS; layer++)
		for (int unit = 0; unit < UNITS; unit++)
			for (int from = 0; from < UNITS; from++)
				weights[layer][unit][from] = (float)((unit * 7 + from * 3 + layer) % 19 - 9) / 9000;
	pthread_create(&thread, NULL, refresh, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		state[watch.steps % UNITS] = 1;
		planted_begin(&watch);
		pthread_rwlock_rdlock(&lock);
		planted_end(&watch);
		answer();
		pthread_rwlock_unlock(&lock);
	}
	watch_tell(&watch);
	ended = true;
	pthread_join(thread, NULL);
	return 0;
}
