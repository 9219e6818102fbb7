/*
 * Ships and buoys on a harbour's radar: a thread unpacks sweeps from their compact text, the loop trains a small network
 * on them, and four slots lie between both.
 *
 * Planted: the one thread that unpacks spends longer on a group of sweeps than the loop on training with it, so the loop
 * waits on its condition in nearly each step.
 * Truth: time for which the loop waits for a full slot, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RAYS = 240, SWEEPS = 256, HIDDEN = 120, SLOTS = 4, TEXTS = 48, TEXT = RAYS * 12 };

struct slot {
	float rays[SWEEPS][RAYS], target[SWEEPS];
};

struct pier {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct slot slots[SLOTS];
	int full, closed;
};

static struct pier pier = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .emptied = PTHREAD_COND_INITIALIZER };
static char texts[TEXTS][TEXT];
static float in[HIDDEN][RAYS], gin[HIDDEN][RAYS], leave[HIDDEN], gleave[HIDDEN];

/* "3f2.118 ": hexadecimal range, a dot, decimal strength. */
static void unpack(const char *text, float *rays)
{
	for (int r = 0; r < RAYS; r++) {
		unsigned range = 0;
		float strength = 0;
		int used = 0;

		sscanf(text, "%x%f%n", &range, &strength, &used);
		rays[r] = log1pf((float)range) * strength * 0.1f;
		text += used;
	}
}

static void *unpack_all(void *unused)
{
	(void)unused;
	for (int number = 0, at = 0;; number++, at = (at + 1) % SLOTS) {
		pthread_mutex_lock(&pier.lock);
		while (pier.full == SLOTS && !pier.closed)
			pthread_cond_wait(&pier.emptied, &pier.lock);
		const int closed = pier.closed;
		pthread_mutex_unlock(&pier.lock);
		if (closed)
			return NULL;
		{
			DWELL_ZONE("unpack");
			for (int s = 0; s < SWEEPS; s++) {
				unpack(texts[(number * SWEEPS + s) % TEXTS], pier.slots[at].rays[s]);
				pier.slots[at].target[s] = pier.slots[at].rays[s][s % RAYS] > 0.3f;
			}
		}
		pthread_mutex_lock(&pier.lock);
		pier.full++;
		pthread_cond_signal(&pier.filled);
		pthread_mutex_unlock(&pier.lock);
	}
}

static void train(const struct slot *slot)
{
	DWELL_ZONE("train");
	float hidden[HIDDEN];

	for (int s = 0; s < SWEEPS; s++) {
		float score = 0;

		for (int h = 0; h < HIDDEN; h++) {
			float sum = 0;

			for (int r = 0; r < RAYS; r++)
				sum += in[h][r] * slot->rays[s][r];
			hidden[h] = tanhf(sum);
			score += leave[h] * hidden[h];
		}
		const float miss = 1 / (1 + expf(-score)) - slot->target[s];

		for (int h = 0; h < HIDDEN; h++) {
			const float slope = miss * leave[h] * (1 - hidden[h] * hidden[h]);

			gleave[h] += miss * hidden[h];
			for (int r = 0; r < RAYS; r++)
				gin[h][r] += slope * slot->rays[s][r];
		}
	}
	for (int h = 0; h < HIDDEN; h++) {
		leave[h] -= 0.01f / SWEEPS * gleave[h];
		gleave[h] = 0;
		for (int r = 0; r < RAYS; r++) {
			in[h][r] -= 0.01f / SWEEPS * gin[h][r];
			gin[h][r] = 0;
		}
	}
}

int main(void)
{
	struct watch watch;
	pthread_t thread;

	for (int t = 0; t < TEXTS; t++)
		for (int r = 0, at = 0; r < RAYS; r++)
			at += snprintf(texts[t] + at, (size_t)(TEXT - at), "%x.%03d ", (unsigned)(rand() % 4000 + 16), rand() % 1000);
	for (int h = 0; h < HIDDEN; h++) {
		leave[h] = (float)(rand() % 2001) / 1000 - 1;
		for (int r = 0; r < RAYS; r++)
			in[h][r] = ((float)(rand() % 2001) / 1000 - 1) * 0.1f;
	}
	pthread_create(&thread, NULL, unpack_all, NULL);
	watch_begin(&watch);
	for (int at = 0; watch_seconds(&watch) < 6; watch.steps++, at = (at + 1) % SLOTS) {
		DWELL_STEP();
		planted_begin(&watch);
		pthread_mutex_lock(&pier.lock);
		while (!pier.full)
			pthread_cond_wait(&pier.filled, &pier.lock);
		pthread_mutex_unlock(&pier.lock);
		planted_end(&watch);
		train(&pier.slots[at]);
		pthread_mutex_lock(&pier.lock);
		pier.full--;
		pthread_cond_signal(&pier.emptied);
		pthread_mutex_unlock(&pier.lock);
	}
	watch_tell(&watch);
	pthread_mutex_lock(&pier.lock);
	pier.closed = 1;
	pthread_cond_signal(&pier.emptied);
	pthread_mutex_unlock(&pier.lock);
	pthread_join(thread, NULL);
	return 0;
}
