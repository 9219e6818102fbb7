/*
 * Factorises a matrix of film ratings. Each user has a lock, because a thread sums up norms now and then.
 *
 * Planted: nothing. The loop takes and leaves a lock for each rating, but nobody else wants it.
 * Truth: time of so many pairs of lock and unlock, measured alone, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { USERS = 2048, FILMS = 1500, FACTORS = 640, RATINGS = 8000 };

struct user {
	pthread_mutex_t lock;
	float factors[FACTORS];
};

static struct user users[USERS];
static float films[FILMS][FACTORS];
static atomic_bool ended;
static _Atomic float norm;

static void *watch_norms(void *unused)
{
	const struct timespec pause = { 0, 100000000 };

	dwell_thread_name("norms");
	while (!ended) {
		float sum = 0;

		nanosleep(&pause, NULL);
		for (int u = 0; u < USERS; u += 64) {
			pthread_mutex_lock(&users[u].lock);
			for (int k = 0; k < FACTORS; k++)
				sum += users[u].factors[k] * users[u].factors[k];
			pthread_mutex_unlock(&users[u].lock);
		}
		norm = sum;
	}
	return unused;
}

static void rate(struct user *user, float *film, float stars)
{
	float guess = 0, error;

	pthread_mutex_lock(&user->lock);
	for (int k = 0; k < FACTORS; k++)
		guess += user->factors[k] * film[k];
	error = 0.002f * (stars - guess);
	for (int k = 0; k < FACTORS; k++) {
		float before = user->factors[k];

		user->factors[k] += error * film[k];
		film[k] += error * before;
	}
	pthread_mutex_unlock(&user->lock);
}

static double seconds_of_pairs(int pairs)
{
	double began = now_s();

	for (int p = 0; p < pairs; p++) {
		pthread_mutex_lock(&users[p % USERS].lock);
		pthread_mutex_unlock(&users[p % USERS].lock);
	}
	return now_s() - began;
}

int main(void)
{
	struct watch watch;
	pthread_t thread;
	unsigned seed = 41;
	double of_pairs;

	for (int u = 0; u < USERS; u++) {
		pthread_mutex_init(&users[u].lock, NULL);
		for (int k = 0; k < FACTORS; k++)
			users[u].factors[k] = (float)(rand() % 100) / 2000;
	}
	for (int f = 0; f < FILMS; f++)
		for (int k = 0; k < FACTORS; k++)
			films[f][k] = (float)(rand() % 100) / 2000;
	pthread_create(&thread, NULL, watch_norms, NULL);
	of_pairs = seconds_of_pairs(50 * RATINGS) / 50;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		DWELL_ZONE("ratings");
		for (int r = 0; r < RATINGS; r++) {
			unsigned user, film;

			seed = seed * 1664525u + 1013904223u;
			user = (seed >> 8) % USERS;
			film = (seed >> 4) % FILMS;
			rate(&users[user], films[film], (float)(1 + (user * 7 + film * 3) % 5));
		}
	}
	watch_tell_share(&watch, (watch.steps * of_pairs) / watch_seconds(&watch));
	ended = 1;
	pthread_join(thread, NULL);
	return norm < 0;
}
