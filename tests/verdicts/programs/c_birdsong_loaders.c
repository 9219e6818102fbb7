/*
 * A classifier of bird song. Two threads make spectrograms, and the loop takes their batches in turn.
 *
 * Planted: the recordings of the second thread are in an archive that answers late.
 * Truth: time that the loop waits for a batch, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { Loaders = 2, Depth = 2, Batch = 96, Bins = 512, Units = 128, Species = 16 };

typedef struct {
	int number;
	long archive_ns; /* how long its storage takes for the recordings of a batch */
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int made, taken;
	bool stop;
	float batches[Depth][Batch][Bins];
} Loader;

static Loader loaders[Loaders] = {
	{ .number = 0, .archive_ns = 300000, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER },
	{ .number = 1, .archive_ns = 17000000, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER },
};

static float batch[Batch][Bins], w1[Units][Bins], h[Batch][Units], d[Batch][Units];

static void makeSpectrograms(const Loader *loader, float (*out)[Bins])
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "spectrograms");
	struct timespec answer = { 0, loader->archive_ns };

	nanosleep(&answer, NULL);
	for (int i = 0; i < Batch; i++) {
		float phase = (float)(loader->made * Batch + i), power = 0;

		for (int b = 0; b < Bins; b++) {
			phase = phase * 1.0007f + 0.37f;
			power = 0.95f * power + (phase - (float)(int)phase) * 0.05f;
			out[i][b] = power;
		}
	}
}

static void *loaderMain(void *argument)
{
	Loader *loader = argument;

	dwell_thread_number("loader", loader->number);
	for (;;) {
		pthread_mutex_lock(&loader->mutex);
		while (!loader->stop && loader->made - loader->taken == Depth)
			pthread_cond_wait(&loader->changed, &loader->mutex);
		pthread_mutex_unlock(&loader->mutex);
		if (loader->stop)
			return NULL;
		makeSpectrograms(loader, loader->batches[loader->made % Depth]);
		pthread_mutex_lock(&loader->mutex);
		loader->made++;
		pthread_cond_broadcast(&loader->changed);
		pthread_mutex_unlock(&loader->mutex);
	}
}

static void nextBatch(Loader *loader)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "next batch");
	pthread_mutex_lock(&loader->mutex);
	while (loader->made == loader->taken)
		pthread_cond_wait(&loader->changed, &loader->mutex);
	memcpy(batch, loader->batches[loader->taken % Depth], sizeof(batch));
	loader->taken++;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->mutex);
}

static void train(int step)
{
	{
		DWELL_PHASE("forward");
		for (int i = 0; i < Batch; i++)
			for (int u = 0; u < Units; u++) {
				float sum = 0;

				for (int b = 0; b < Bins; b++)
					sum += w1[u][b] * batch[i][b];
				h[i][u] = sum > 0 ? sum : 0.01f * sum;
			}
	}
	DWELL_PHASE("backward");
	for (int i = 0; i < Batch; i++)
		for (int u = 0; u < Units; u++) {
			d[i][u] = (h[i][u] - (float)((i + step) % Species == u % Species)) * 1e-5f;
			for (int b = 0; b < Bins; b++)
				w1[u][b] -= d[i][u] * batch[i][b];
		}
}

int main(void)
{
	struct watch watch;

	for (int u = 0; u < Units; u++)
		for (int b = 0; b < Bins; b++)
			w1[u][b] = (float)(rand() % 200 - 100) / 2000;
	for (int i = 0; i < Loaders; i++)
		pthread_create(&loaders[i].thread, NULL, loaderMain, &loaders[i]);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.0; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		nextBatch(&loaders[watch.steps % Loaders]);
		planted_end(&watch);
		train(watch.steps);
	}
	watch_tell(&watch);
	for (int i = 0; i < Loaders; i++) {
		pthread_mutex_lock(&loaders[i].mutex);
		loaders[i].stop = true;
		pthread_cond_broadcast(&loaders[i].changed);
		pthread_mutex_unlock(&loaders[i].mutex);
		pthread_join(loaders[i].thread, NULL);
	}
	return 0;
}
