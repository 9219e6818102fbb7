/*
 * A thread reads postcards from a slow album, always some batches before the loop needs them.
 *
 * Decoy: the reader sleeps most of the time, and the queue is never empty.
 * Truth: time in which the loop waits for a batch, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>

enum { SECONDS = 5, SLOTS = 6, CARDS = 128, PIXELS = 900, UNITS = 40 };

static float slots[SLOTS][CARDS][PIXELS], weights[UNITS][PIXELS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int filled, used, ended;

static void *read_album(void *unused)
{
	struct timespec album = { 0, 3000000 };

	(void)unused;
	for (int batch = 0;; batch++) {
		int stop;

		pthread_mutex_lock(&lock);
		while (filled - used == SLOTS && !ended)
			pthread_cond_wait(&changed, &lock);
		stop = ended;
		pthread_mutex_unlock(&lock);
		if (stop)
			return NULL;
		nanosleep(&album, NULL);
		for (int at = 0; at < CARDS * PIXELS; at += 16)
			slots[batch % SLOTS][at / PIXELS][at % PIXELS] = (float)((batch + at) % 50) / 50;
		pthread_mutex_lock(&lock);
		filled++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
}

static void wait_for_batch(void)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "next batch");
	pthread_mutex_lock(&lock);
	while (filled == used)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void learn(float cards[CARDS][PIXELS])
{
	DWELL_OP("layer");
	for (int card = 0; card < CARDS; card++)
		for (int unit = 0; unit < UNITS; unit++) {
			float sum = -1;

			for (int pixel = 0; pixel < PIXELS; pixel++)
				sum += cards[card][pixel] * weights[unit][pixel];
			for (int pixel = 0; pixel < PIXELS; pixel++)
				weights[unit][pixel] -= 1e-7f * sum * cards[card][pixel];
		}
}

int main(void)
{
	struct timespec moment = { 0, 50000000 };
	struct watch watch;
	pthread_t reader;

	pthread_create(&reader, NULL, read_album, NULL);
	nanosleep(&moment, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		wait_for_batch();
		planted_end(&watch);
		learn(slots[used % SLOTS]);
		pthread_mutex_lock(&lock);
		used++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	watch_tell(&watch);
	pthread_mutex_lock(&lock);
	ended = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(reader, NULL);
	return 0;
}
