/*
 * Reads the signs on clay tablets: two readers describe a sign each, look for it in a lexicon that both share, and count it there.
 *
 * Planted: the lexicon's mutex is held through the whole search, though only the count needs it, so that a reader waits for the other.
 * Truth: time that the first reader, whose tablets are the steps, waits for the mutex and then for the second reader, of its loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { STROKES = 64, POINTS = 40, ENTRIES = 1200, SIGNS = 24 };

struct lexicon {
	pthread_mutex_t mutex;
	float entry[ENTRIES][STROKES];
	unsigned seen[ENTRIES];
};

static struct lexicon lexicon = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t tablet_begins, tablet_ends;
static int finished;
static struct watch watch;
static float wedges[2][SIGNS][POINTS][3];

static void describe(float (*points)[3], float *stroke)
{
	for (int s = 0; s < STROKES; s++) {
		float sum = 0;
		for (int p = 0; p < POINTS; p++)
			sum += sinf(points[p][0] * (float)(s + 1) * 0.11f + points[p][1]) * points[p][2];
		stroke[s] = sum / POINTS;
	}
}

static int nearest(const float *stroke)
{
	float least = 1e30f;
	int found = 0;

	for (int e = 0; e < ENTRIES; e++) {
		float far = 0;
		for (int s = 0; s < STROKES; s++) {
			const float d = lexicon.entry[e][s] - stroke[s];
			far += d * d;
		}
		if (far < least) {
			least = far;
			found = e;
		}
	}
	return found;
}

static int look_up(const float *stroke)
{
	pthread_mutex_lock(&lexicon.mutex);
	const int found = nearest(stroke);
	lexicon.seen[found]++;
	pthread_mutex_unlock(&lexicon.mutex);
	return found;
}

/* The same, for the reader whose time is taken. */
static int look_up_timed(const float *stroke)
{
	planted_begin(&watch);
	pthread_mutex_lock(&lexicon.mutex);
	planted_end(&watch);
	const int found = nearest(stroke);
	lexicon.seen[found]++;
	pthread_mutex_unlock(&lexicon.mutex);
	return found;
}

static void *second_reader(void *unused)
{
	float stroke[STROKES];

	(void)unused;
	for (;;) {
		pthread_barrier_wait(&tablet_begins);
		if (finished)
			return NULL;
		for (int s = 0; s < SIGNS; s++) {
			describe(wedges[1][s], stroke);
			look_up(stroke);
		}
		pthread_barrier_wait(&tablet_ends);
	}
}

int main(void)
{
	pthread_t thread;
	float stroke[STROKES];
	long sum = 0;

	for (int i = 0; i < ENTRIES * STROKES; i++)
		(&lexicon.entry[0][0])[i] = 0.2f * sinf((float)i * 1.7f);
	for (int i = 0; i < 2 * SIGNS * POINTS * 3; i++)
		(&wedges[0][0][0][0])[i] = cosf((float)i * 0.9f);
	pthread_barrier_init(&tablet_begins, NULL, 2);
	pthread_barrier_init(&tablet_ends, NULL, 2);
	pthread_create(&thread, NULL, second_reader, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		pthread_barrier_wait(&tablet_begins);
		for (int s = 0; s < SIGNS; s++) {
			{
				DWELL_ZONE("describe");
				describe(wedges[0][s], stroke);
			}
			DWELL_ZONE("look up");
			sum += look_up_timed(stroke);
		}
		DWELL_ZONE("tablet done");
		planted_begin(&watch);
		pthread_barrier_wait(&tablet_ends);
		planted_end(&watch);
	}
	watch_tell(&watch);
	finished = 1;
	pthread_barrier_wait(&tablet_begins);
	pthread_join(thread, NULL);
	printf("mean entry %.2f\n", (double)sum / (double)(watch.steps * SIGNS));
	return 0;
}
