/*
 * Two drones count kelp from above: a network scores patches of a strip of pictures and learns from the counts of divers.
 * The strip is shared between the caller and one helper, which meet at an atomic counter after the forward and the backward pass.
 *
 * Planted: the strip is cut by area and not by patches of water, so the helper has most of the patches and the caller spins until it is done.
 * Truth: time that the thread of the steps spins, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { PATCH = 192, HIDDEN = 96, PATCHES = 900, STRIPS = 6 };

struct half {
	float in_hidden[HIDDEN][PATCH], hidden_g[HIDDEN], error;
};

static float strip[STRIPS][PATCHES][PATCH], divers[STRIPS][PATCHES];
static float w1[HIDDEN][PATCH], w2[HIDDEN];
static struct half halves[2];
static atomic_int ordered, done;
static atomic_bool over;
static int current;

static float chance(void)
{
	return (float)(rand() & 0xffff) / 65536.0f - 0.5f;
}

static void score_range(struct half *half, int from, int to)
{
	for (int p = from; p < to; p++) {
		const float *in = strip[current][p];
		float hidden[HIDDEN], out = 0;

		for (int h = 0; h < HIDDEN; h++) {
			float sum = 0.01f;
			for (int i = 0; i < PATCH; i++)
				sum += w1[h][i] * in[i];
			hidden[h] = sum / (1 + fabsf(sum));
			out += w2[h] * hidden[h];
		}
		const float error = out - divers[current][p];

		half->error += error * error;
		for (int h = 0; h < HIDDEN; h++) {
			const float slope = error * w2[h] * (1 - fabsf(hidden[h])) * (1 - fabsf(hidden[h]));
			half->hidden_g[h] += error * hidden[h];
			for (int i = 0; i < PATCH; i++)
				half->in_hidden[h][i] += slope * in[i];
		}
	}
}

/* The land is at the begin of a strip: the first half of the area has fewer patches of water. */
static int middle(void)
{
	return PATCHES * 42 / 100;
}

static void *second_drone(void *unused)
{
	int served = 0;

	(void)unused;
	while (!atomic_load(&over)) {
		if (atomic_load_explicit(&ordered, memory_order_acquire) == served) {
#if defined(__x86_64__)
			__builtin_ia32_pause();
#endif
			continue;
		}
		DWELL_ZONE("patches");
		served++;
		score_range(&halves[1], middle(), PATCHES);
		atomic_store_explicit(&done, served, memory_order_release);
	}
	return NULL;
}

static void meet(struct watch *watch, int number)
{
	DWELL_ZONE("meet");
	planted_begin(watch);
	while (atomic_load_explicit(&done, memory_order_acquire) != number) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	}
	planted_end(watch);
}

static void learn(void)
{
	DWELL_ZONE("learn");
	for (int d = 0; d < 2; d++)
		for (int h = 0; h < HIDDEN; h++) {
			w2[h] -= 1e-6f * halves[d].hidden_g[h];
			halves[d].hidden_g[h] = 0;
			for (int i = 0; i < PATCH; i++) {
				w1[h][i] -= 1e-6f * halves[d].in_hidden[h][i];
				halves[d].in_hidden[h][i] = 0;
			}
		}
}

int main(void)
{
	struct watch watch;
	pthread_t helper;

	srand(5);
	for (int s = 0; s < STRIPS; s++)
		for (int p = 0; p < PATCHES; p++) {
			divers[s][p] = chance();
			for (int i = 0; i < PATCH; i++)
				strip[s][p][i] = chance();
		}
	for (int h = 0; h < HIDDEN; h++) {
		w2[h] = chance();
		for (int i = 0; i < PATCH; i++)
			w1[h][i] = 0.2f * chance();
	}
	pthread_create(&helper, NULL, second_drone, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		current = (int)(watch.steps % STRIPS);
		const int number = atomic_fetch_add_explicit(&ordered, 1, memory_order_release) + 1;
		{
			DWELL_ZONE("patches");
			score_range(&halves[0], 0, middle());
		}
		meet(&watch, number);
		learn();
	}
	watch_tell(&watch);
	atomic_store(&over, true);
	pthread_join(helper, NULL);
	printf("error %.4f\n", (double)(halves[0].error + halves[1].error));
	return 0;
}
