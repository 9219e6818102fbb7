/*
 * Tells species by their song: an echo state network listens to bouts in two threads, and a linear readout learns
 * from the mean of its states.
 *
 * Planted: bouts lie sorted by length and each thread gets one half of the list, so the first waits at the barrier.
 * Truth: time that the first thread waits at the barrier behind the listening, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BOUTS = 28, BANDS = 12, CELLS = 72, SPECIES = 9, LONGEST = 270, SHORTEST = 90 };

struct bout {
	int frames, species;
	float spectrum[LONGEST][BANDS];
	float summary[CELLS];
};

static struct bout bouts[BOUTS];
static float inner[CELLS][CELLS], outer[CELLS][BANDS], readout[SPECIES][CELLS];
static pthread_barrier_t starting, heard;
static int closing;

static float uniform(unsigned *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (float)(*seed >> 8) / 8388608.0f - 1.0f;
}

static int by_length(const void *a, const void *b)
{
	return ((const struct bout *)a)->frames - ((const struct bout *)b)->frames;
}

static void record_bouts(unsigned *seed)
{
	for (int b = 0; b < BOUTS; b++) {
		bouts[b].species = b % SPECIES;
		bouts[b].frames = SHORTEST + (int)((uniform(seed) + 1) * 0.5f * (LONGEST - SHORTEST - 1));
		for (int t = 0; t < bouts[b].frames; t++)
			for (int k = 0; k < BANDS; k++)
				bouts[b].spectrum[t][k] = sinf(0.02f * (float)(t * (k + 1 + bouts[b].species))) + 0.2f * uniform(seed);
	}
	/* The archive lists the shortest first. */
	qsort(bouts, BOUTS, sizeof bouts[0], by_length);
}

static void listen_to(struct bout *bout)
{
	float state[CELLS] = { 0 }, next[CELLS];

	memset(bout->summary, 0, sizeof bout->summary);
	for (int t = 0; t < bout->frames; t++) {
		for (int c = 0; c < CELLS; c++) {
			float sum = 0;

			for (int k = 0; k < CELLS; k++)
				sum += inner[c][k] * state[k];
			for (int k = 0; k < BANDS; k++)
				sum += outer[c][k] * bout->spectrum[t][k];
			next[c] = tanhf(sum);
		}
		memcpy(state, next, sizeof state);
		for (int c = 0; c < CELLS; c++)
			bout->summary[c] += state[c] / (float)bout->frames;
	}
}

static void *second_listener(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&starting);
		if (closing)
			return unused;
		for (int b = BOUTS / 2; b < BOUTS; b++)
			listen_to(&bouts[b]);
		pthread_barrier_wait(&heard);
	}
}

static double learn(void)
{
	double loss = 0;

	DWELL_ZONE("readout");
	for (int b = 0; b < BOUTS; b++)
		for (int s = 0; s < SPECIES; s++) {
			float said = 0;

			for (int c = 0; c < CELLS; c++)
				said += readout[s][c] * bouts[b].summary[c];
			const float wrong = said - (s == bouts[b].species ? 1.0f : 0.0f);

			loss += (double)(wrong * wrong);
			for (int c = 0; c < CELLS; c++)
				readout[s][c] -= 0.05f * wrong * bouts[b].summary[c];
		}
	return loss / BOUTS;
}

int main(void)
{
	struct watch watch;
	pthread_t second;
	unsigned seed = 31;
	double loss = 0;

	for (int c = 0; c < CELLS; c++) {
		for (int k = 0; k < CELLS; k++)
			inner[c][k] = 0.18f * uniform(&seed);
		for (int k = 0; k < BANDS; k++)
			outer[c][k] = 0.4f * uniform(&seed);
	}
	record_bouts(&seed);
	pthread_barrier_init(&starting, NULL, 2);
	pthread_barrier_init(&heard, NULL, 2);
	if (pthread_create(&second, NULL, second_listener, NULL))
		return 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		pthread_barrier_wait(&starting);
		{
			DWELL_ZONE("listen");
			for (int b = 0; b < BOUTS / 2; b++)
				listen_to(&bouts[b]);
		}
		planted_begin(&watch);
		pthread_barrier_wait(&heard);
		planted_end(&watch);
		loss = learn();
	}
	watch_tell(&watch);
	closing = 1;
	pthread_barrier_wait(&starting);
	pthread_join(second, NULL);
	printf("loss %.5f\n", loss);
	return 0;
}
