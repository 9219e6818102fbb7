/*
 * A search engine learns to rank from clicks. Queries read the index under a shared lock; a thread merges new segments.
 *
 * Planted: the merger, three times a second, sorts the whole list of documents while it holds the lock for writing. Queries wait meanwhile.
 * Truth: time until a query has the lock, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define DOCUMENTS 900000
#define SEGMENT   20000
#define TERMS     6
#define FOUND     256
#define SIGNALS   40
#define UNITS     96

static uint32_t documents[DOCUMENTS]; /* the index: hashes in order */
static pthread_rwlock_t index_lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_bool ended;
static float signals[FOUND][SIGNALS], first[UNITS][SIGNALS], second[UNITS], active[FOUND][UNITS], score[FOUND];
static struct watch watch;

static int by_hash(const void *one, const void *two)
{
	const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;

	return (a > b) - (a < b);
}

static void *merger(void *unused)
{
	unsigned seed = 3;

	(void)unused;
	while (!atomic_load(&ended)) {
		usleep(250000);
		pthread_rwlock_wrlock(&index_lock);
		{
			DWELL_ZONE("merge segment");
			for (int i = 0; i < SEGMENT; i++)
				documents[rand_r(&seed) % DOCUMENTS] = (uint32_t)rand_r(&seed) * 2u;
			qsort(documents, DOCUMENTS, sizeof(documents[0]), by_hash);
		}
		pthread_rwlock_unlock(&index_lock);
	}
	return NULL;
}

static void retrieve(uint32_t query)
{
	DWELL_ZONE("retrieve");
	uint32_t hash = query;

	planted_begin(&watch);
	pthread_rwlock_rdlock(&index_lock);
	planted_end(&watch);
	for (int f = 0; f < FOUND; f++)
		for (int term = 0; term < TERMS; term++) {
			size_t low = 0, high = DOCUMENTS;

			hash = hash * 2654435761u + 12345u;
			while (low < high) {
				const size_t middle = (low + high) / 2;

				if (documents[middle] < hash)
					low = middle + 1;
				else
					high = middle;
			}
			for (int s = term; s < SIGNALS; s += TERMS)
				signals[f][s] = (float)((low + (size_t)s * 77) % 1000) / 1000 - 0.5f;
		}
	pthread_rwlock_unlock(&index_lock);
}

static void rank(void)
{
	DWELL_ZONE("rank");
	for (int f = 0; f < FOUND; f++) {
		score[f] = 0;
		for (int u = 0; u < UNITS; u++) {
			float z = 0;

			for (int s = 0; s < SIGNALS; s++)
				z += first[u][s] * signals[f][s];
			active[f][u] = tanhf(z);
			score[f] += second[u] * active[f][u];
		}
	}
}

static void learn_from_clicks(uint32_t query)
{
	DWELL_ZONE("learn from clicks");
	const int clicked = (int)(query % 11);

	for (int f = 0; f < FOUND; f++) {
		const float error = 1e-3f / (1 + expf(score[clicked] - score[f]));

		for (int u = 0; u < UNITS; u++) {
			const float d = error * second[u] * (1 - active[f][u] * active[f][u]);

			second[u] -= error * (active[f][u] - active[clicked][u]);
			for (int s = 0; s < SIGNALS; s++)
				first[u][s] -= d * (signals[f][s] - signals[clicked][s]);
		}
	}
}

int main(void)
{
	pthread_t thread;
	unsigned seed = 1;

	for (int i = 0; i < DOCUMENTS; i++)
		documents[i] = (uint32_t)rand_r(&seed) * 2u;
	qsort(documents, DOCUMENTS, sizeof(documents[0]), by_hash);
	for (int u = 0; u < UNITS; u++) {
		second[u] = (float)(u % 7 - 3) / 40;
		for (int s = 0; s < SIGNALS; s++)
			first[u][s] = (float)((u * 5 + s * 3) % 19 - 9) / 50;
	}
	pthread_create(&thread, NULL, merger, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 7; watch.steps++) {
		const uint32_t query = (uint32_t)watch.steps * 2246822519u;

		DWELL_STEP();
		retrieve(query);
		for (int pass = 0; pass < 2; pass++) {
			rank();
			learn_from_clicks(query);
		}
	}
	watch_tell(&watch);
	atomic_store(&ended, true);
	pthread_join(thread, NULL);
	return 0;
}
