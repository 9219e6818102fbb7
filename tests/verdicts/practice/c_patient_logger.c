/*
 * A naive Bayes of river levels in C, which logs much.
 *
 * Decoy: a thread writes and syncs each line, but the loop only puts lines into a ring without a
 * lock.
 * Truth: time that the loop takes to log, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 5, RING = 4096, RIVERS = 400, LEVELS = 512, CLASSES = 20 };

static char ring[RING][64];
static atomic_long put, taken;
static atomic_int ended;
static float levels[RIVERS][LEVELS], means[CLASSES][LEVELS], spreads[CLASSES][LEVELS];

static void *write_lines(void *file)
{
	while (!atomic_load(&ended)) {
		if (atomic_load(&taken) == atomic_load(&put)) {
			usleep(2000);
			continue;
		}
		fputs(ring[atomic_load(&taken) % RING], file);
		fflush(file);
		fsync(fileno(file));
		atomic_fetch_add(&taken, 1);
	}
	return NULL;
}

static void say(int step, float loss)
{
	DWELL_ZONE("log");
	if (atomic_load(&put) - atomic_load(&taken) >= RING)
		return; /* A line is lost. */
	snprintf(ring[atomic_load(&put) % RING], sizeof(ring[0]), "step %d loss %.4g\n", step,
	         (double)loss);
	atomic_fetch_add(&put, 1);
}

static float classify(void)
{
	DWELL_ZONE("classify");
	float loss = 0;

	for (int river = 0; river < RIVERS; river++)
		for (int class = 0; class < CLASSES; class++) {
			float distance = 0;

			for (int level = 0; level < LEVELS; level++) {
				float off = levels[river][level] - means[class][level];

				distance += off * off * spreads[class][level];
			}
			loss += distance;
		}
	return loss;
}

static void fit(void)
{
	DWELL_ZONE("fit");
	for (int river = 0; river < RIVERS; river++)
		for (int level = 0; level < LEVELS; level++) {
			float off = levels[river][level] - means[river % CLASSES][level];

			means[river % CLASSES][level] += 0.01f * off;
			spreads[river % CLASSES][level] = 0.99f * spreads[river % CLASSES][level] +
			                                  0.01f / (0.1f + off * off);
		}
}

int main(void)
{
	FILE *file = fopen("levels.log", "w");
	struct watch watch;
	pthread_t thread;
	float loss;

	if (!file)
		return 1;
	for (int river = 0; river < RIVERS; river++)
		for (int level = 0; level < LEVELS; level++)
			levels[river][level] = (float)((river * 17 + level * 3) % 103) / 103;
	pthread_create(&thread, NULL, write_lines, file);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		loss = classify();
		fit();
		planted_begin(&watch);
		say(watch.steps, loss);
		planted_end(&watch);
	}
	watch_tell(&watch);
	atomic_store(&ended, 1);
	pthread_join(thread, NULL);
	return 0;
}
