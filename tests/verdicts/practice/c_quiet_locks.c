/*
 * Counts n-grams in C with a lock for each part of the table.
 *
 * Decoy: hundreds of locks are taken in each step, but the other thread seldom wants one of them.
 * Truth: time of taking the locks, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 5, PARTS = 256, CELLS = 2048, TURNS = 12 };

static pthread_mutex_t locks[PARTS];
static float table[PARTS][CELLS], smooth[PARTS][CELLS];
static atomic_int ended;
static float seen;

static void *look(void *unused)
{
	for (int part = 0; !atomic_load(&ended); part = (part + 37) % PARTS) {
		pthread_mutex_lock(&locks[part]);
		seen += table[part][0];
		pthread_mutex_unlock(&locks[part]);
		usleep(4000);
	}
	return unused;
}

int main(void)
{
	struct watch watch;
	pthread_t thread;

	for (int part = 0; part < PARTS; part++)
		pthread_mutex_init(&locks[part], NULL);
	pthread_create(&thread, NULL, look, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("count");
			for (int part = 0; part < PARTS; part++) {
				planted_begin(&watch);
				pthread_mutex_lock(&locks[part]);
				planted_end(&watch);
				for (int turn = 0; turn < TURNS; turn++)
					for (int cell = 0; cell < CELLS; cell++)
						table[part][cell] += (float)((cell + turn + watch.steps) & 7);
				pthread_mutex_unlock(&locks[part]);
			}
		}
		DWELL_ZONE("smooth");
		for (int part = 0; part < PARTS; part++)
			for (int turn = 0; turn < TURNS; turn++)
				for (int cell = 1; cell < CELLS; cell++)
					smooth[part][cell] = 0.9f * smooth[part][cell] + 0.1f * table[part][cell - 1];
	}
	watch_tell(&watch);
	atomic_store(&ended, 1);
	pthread_join(thread, NULL);
	return 0;
}
