/*
 * Finds summers and winters in ice cores: the probabilities of a hidden Markov model are learned from the dust in each layer,
 * by the forward and the backward pass of Baum and Welch. Two threads share the cores, which are sorted by length.
 *
 * Planted: each thread has half of the cores, but the second half are the deep ones, so the first thread is done early and spins.
 * Truth: time that the first thread spins, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CORES = 256, SEASONS = 32, DUST = 16, DEEPEST = 256 };

struct core {
	int depth;
	unsigned char dust[DEEPEST];
};

struct counts {
	float moves[SEASONS][SEASONS], seen[SEASONS][DUST];
};

static struct core cores[CORES];
static struct counts counted[2];
static float move[SEASONS][SEASONS], see[SEASONS][DUST];
static atomic_long round_begun, round_done;

static void count_core(const struct core *core, struct counts *to, float (*ahead)[SEASONS])
{
	float behind[SEASONS], next[SEASONS];

	for (int t = 0; t < core->depth; t++) {
		float all = 0;

		if (t == 0) {
			for (int s = 0; s < SEASONS; s++)
				ahead[0][s] = see[s][core->dust[0]] / SEASONS;
		} else {
			memset(ahead[t], 0, sizeof ahead[t]);
			for (int from = 0; from < SEASONS; from++)
				for (int s = 0; s < SEASONS; s++)
					ahead[t][s] += ahead[t - 1][from] * move[from][s];
			for (int s = 0; s < SEASONS; s++)
				ahead[t][s] *= see[s][core->dust[t]];
		}
		for (int s = 0; s < SEASONS; s++)
			all += ahead[t][s];
		for (int s = 0; s < SEASONS; s++)
			ahead[t][s] /= all;
	}
	for (int s = 0; s < SEASONS; s++)
		behind[s] = 1;
	for (int t = core->depth - 1; t > 0; t--) {
		float all = 0;

		for (int s = 0; s < SEASONS; s++) {
			next[s] = behind[s] * see[s][core->dust[t]];
			to->seen[s][core->dust[t]] += ahead[t][s] * behind[s];
		}
		for (int from = 0; from < SEASONS; from++) {
			float sum = 0;

			for (int s = 0; s < SEASONS; s++) {
				const float both = move[from][s] * next[s];

				to->moves[from][s] += ahead[t - 1][from] * both;
				sum += both;
			}
			behind[from] = sum;
			all += sum;
		}
		for (int s = 0; s < SEASONS; s++)
			behind[s] *= SEASONS / all;
	}
}

static void count_half(int half)
{
	static float ahead[2][DEEPEST][SEASONS];

	memset(&counted[half], 0, sizeof counted[half]);
	for (int c = half * CORES / 2; c < (half + 1) * CORES / 2; c++)
		count_core(&cores[c], &counted[half], ahead[half]);
}

static inline void breathe(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void *second_thread(void *unused)
{
	long seen = 0;

	(void)unused;
	for (;;) {
		long begun;

		while ((begun = atomic_load(&round_begun)) == seen)
			breathe();
		if (begun < 0)
			return NULL;
		seen = begun;
		count_half(1);
		atomic_store(&round_done, seen);
	}
}

/* New probabilities, with a little of the old ones. */
static void estimate(void)
{
	DWELL_ZONE("estimate");
	for (int from = 0; from < SEASONS; from++) {
		float all = 0, dusty = 0;

		for (int s = 0; s < SEASONS; s++)
			all += counted[0].moves[from][s] + counted[1].moves[from][s] + 1;
		for (int s = 0; s < SEASONS; s++)
			move[from][s] = 0.9f * move[from][s] + 0.1f * (counted[0].moves[from][s] + counted[1].moves[from][s] + 1) / all;
		for (int d = 0; d < DUST; d++)
			dusty += counted[0].seen[from][d] + counted[1].seen[from][d] + 1;
		for (int d = 0; d < DUST; d++)
			see[from][d] = 0.9f * see[from][d] + 0.1f * (counted[0].seen[from][d] + counted[1].seen[from][d] + 1) / dusty;
	}
}

int main(void)
{
	static struct watch watch;
	pthread_t thread;

	srand(4);
	for (int c = 0; c < CORES; c++) {
		cores[c].depth = 100 + 110 * c * c / (CORES * CORES);
		for (int t = 0; t < cores[c].depth; t++)
			cores[c].dust[t] = (unsigned char)((t % 12 + rand() % 5) % DUST);
	}
	for (int s = 0; s < SEASONS; s++) {
		float all = 0;

		for (int to = 0; to < SEASONS; to++)
			all += move[s][to] = 1 + (float)rand() / (float)RAND_MAX;
		for (int to = 0; to < SEASONS; to++)
			move[s][to] /= all;
		for (int d = 0; d < DUST; d++)
			see[s][d] = (1 + 0.3f * (float)((s * 5 + d * 3) % 7 - 3)) / DUST;
	}
	if (pthread_create(&thread, NULL, second_thread, NULL))
		return 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const long round = watch.steps + 1;

		atomic_store(&round_begun, round);
		{
			DWELL_ZONE("count");
			count_half(0);
		}
		{
			DWELL_ZONE("gather");
			planted_begin(&watch);
			while (atomic_load(&round_done) != round)
				breathe();
			planted_end(&watch);
		}
		estimate();
	}
	watch_tell(&watch);
	atomic_store(&round_begun, -1);
	pthread_join(thread, NULL);
	printf("stays in the first season with %.4f\n", (double)move[0][0]);
	return 0;
}
