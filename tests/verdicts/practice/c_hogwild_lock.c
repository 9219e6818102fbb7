/*
 * Two threads train one linear model of clicks; each adds its gradient to the shared weights.
 *
 * Planted: one lock protects all weights, and the other thread holds it for most of its time.
 * Truth: time until the loop gets the lock, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SECONDS = 5, FEATURES = 200000, ACTIVE = 600000 };

static float shared[FEATURES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool ended;

static float gradient_of(unsigned seed, int count)
{
	float sum = 0;

	for (int at = 0; at < count; at++) {
		seed = seed * 1664525u + 1013904223u;
		sum += shared[seed % FEATURES] * 0.5f + (float)(seed >> 20) * 1e-6f;
	}
	return sum / (float)count;
}

static void add(float gradient, int passes)
{
	for (int pass = 0; pass < passes; pass++)
		for (int at = 0; at < FEATURES; at++)
			shared[at] = shared[at] * 0.9999f - 1e-4f * gradient;
}

static void *other(void *unused)
{
	for (unsigned seed = 1; !ended; seed++) {
		float gradient = gradient_of(seed, ACTIVE / 2);

		pthread_mutex_lock(&lock);
		add(gradient, 60);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	struct watch watch;
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		float gradient;
		{
			DWELL_ZONE("gradient");
			gradient = gradient_of((unsigned)watch.steps * 77u, ACTIVE * 2);
		}
		DWELL_ZONE("apply");
		planted_begin(&watch);
		pthread_mutex_lock(&lock);
		planted_end(&watch);
		add(gradient, 4);
		pthread_mutex_unlock(&lock);
	}
	watch_tell(&watch);
	ended = true;
	pthread_join(thread, NULL);
	return 0;
}
