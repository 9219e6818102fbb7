/*
 * Two threads factorise a table of ratings in C; both change the factors of the same films.
 *
 * Planted: one lock for all films, which the helper holds for a whole block of ratings.
 * Truth: time that the loop's thread waits for the lock, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SECONDS = 6, FILMS = 3000, PEOPLE = 2000, FACTORS = 96, BLOCK = 6000, BLOCKS = 6 };

static float films[FILMS][FACTORS], people[PEOPLE][FACTORS], slopes[PEOPLE][FACTORS];
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ended;

static void ratings(unsigned seed)
{
	for (int at = 0; at < BLOCK; at++) {
		unsigned film = (seed = seed * 1103515245u + 12345u) / 7 % FILMS;
		unsigned person = seed / 65536 % PEOPLE;
		float error = -3;

		for (int k = 0; k < FACTORS; k++)
			error += films[film][k] * people[person][k];
		for (int k = 0; k < FACTORS; k++) {
			films[film][k] -= 1e-5f * error * people[person][k];
			people[person][k] -= 1e-5f * error * films[film][k];
		}
	}
}

static void *help(void *unused)
{
	for (unsigned seed = 77; !atomic_load(&ended); seed++) {
		pthread_mutex_lock(&table);
		for (int block = 0; block < BLOCKS; block++)
			ratings(seed * 31 + (unsigned)block);
		pthread_mutex_unlock(&table);
		for (double until = now_s() + 0.004; now_s() < until;)
			;
	}
	return unused;
}

static void regularise(void)
{
	for (int pass = 0; pass < 24; pass++)
		for (int person = 0; person < PEOPLE; person++)
			for (int k = 0; k < FACTORS; k++)
				slopes[person][k] = 0.99f * slopes[person][k] + 0.01f * people[person][k];
}

int main(void)
{
	struct watch watch;
	pthread_t thread;

	for (int film = 0; film < FILMS; film++)
		for (int k = 0; k < FACTORS; k++)
			films[film][k] = people[film % PEOPLE][k] = (float)((film + k * 3) % 11) / 22;
	pthread_create(&thread, NULL, help, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("ratings");
			planted_begin(&watch);
			pthread_mutex_lock(&table);
			planted_end(&watch);
			ratings((unsigned)watch.steps);
			pthread_mutex_unlock(&table);
		}
		DWELL_ZONE("regularise");
		regularise();
	}
	watch_tell(&watch);
	atomic_store(&ended, 1);
	pthread_join(thread, NULL);
	return 0;
}
