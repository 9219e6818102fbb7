/*
 * Imputes incomes of a survey with a network over the members of each household, by two threads.
 *
 * Planted: households are sorted by size and each thread gets as many of them, so the first has long finished when the other has.
 * Truth: time that the first thread waits for the other, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HOUSEHOLDS 3000
#define LARGEST 14
#define TRAITS 24
#define UNITS 40
#define THREADS 2

struct household { int members; float trait[LARGEST][TRAITS], income; };
struct half { int first, last; float gradient[UNITS][TRAITS], top[UNITS]; double loss; };

static struct household survey[HOUSEHOLDS];
static struct half halves[THREADS];
static float weights[UNITS][TRAITS], top[UNITS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static int round_wanted, round_done;
static bool over;

static void learn_half(struct half *half)
{
	DWELL_ZONE("households");
	memset(half->gradient, 0, sizeof half->gradient);
	memset(half->top, 0, sizeof half->top);
	half->loss = 0;
	for (int h = half->first; h < half->last; h++) {
		const struct household *house = &survey[h];
		float unit[LARGEST][UNITS], sum = 0, miss;

		for (int m = 0; m < house->members; m++)
			for (int u = 0; u < UNITS; u++) {
				float z = 0;

				for (int t = 0; t < TRAITS; t++)
					z += weights[u][t] * house->trait[m][t];
				unit[m][u] = z > 0 ? z : 0.1f * z;
				sum += top[u] * unit[m][u];
			}
		miss = sum / (float)house->members - house->income;
		half->loss += (double)(miss * miss);
		miss /= (float)house->members * HOUSEHOLDS;
		for (int m = 0; m < house->members; m++)
			for (int u = 0; u < UNITS; u++) {
				const float back = miss * top[u] * (unit[m][u] > 0 ? 1 : 0.1f);

				half->top[u] += miss * unit[m][u];
				for (int t = 0; t < TRAITS; t++)
					half->gradient[u][t] += back * house->trait[m][t];
			}
	}
}

static void *helper(void *unused)
{
	int seen = 0;

	for (;;) {
		pthread_mutex_lock(&mutex);
		while (round_wanted == seen && !over)
			pthread_cond_wait(&go, &mutex);
		seen = round_wanted;
		pthread_mutex_unlock(&mutex);
		if (over)
			return unused;
		learn_half(&halves[1]);
		pthread_mutex_lock(&mutex);
		round_done = seen;
		pthread_cond_signal(&finished);
		pthread_mutex_unlock(&mutex);
	}
}

static void learn_round(struct watch *watch)
{
	pthread_mutex_lock(&mutex);
	round_wanted++;
	pthread_cond_signal(&go);
	pthread_mutex_unlock(&mutex);
	learn_half(&halves[0]);
	DWELL_ZONE("meet");
	planted_begin(watch);
	pthread_mutex_lock(&mutex);
	while (round_done != round_wanted)
		pthread_cond_wait(&finished, &mutex);
	pthread_mutex_unlock(&mutex);
	planted_end(watch);
}

static void apply(void)
{
	DWELL_ZONE("apply");
	for (int u = 0; u < UNITS; u++) {
		top[u] -= 0.3f * (halves[0].top[u] + halves[1].top[u]);
		for (int t = 0; t < TRAITS; t++)
			weights[u][t] -= 0.3f * (halves[0].gradient[u][t] + halves[1].gradient[u][t]);
	}
}

int main(void)
{
	struct watch watch;
	pthread_t thread;

	for (int h = 0; h < HOUSEHOLDS; h++) {
		struct household *house = &survey[h];

		house->members = 4 + (LARGEST - 4) * h / (HOUSEHOLDS - 1);  /* as the strata of the survey come */
		for (int m = 0; m < house->members; m++)
			for (int t = 0; t < TRAITS; t++)
				house->trait[m][t] = (float)(rand() % 2000 - 1000) / 1000;
		house->income = house->trait[0][0] + 0.5f * house->trait[1][3];
	}
	for (int u = 0; u < UNITS; u++) {
		top[u] = u % 2 ? 0.1f : -0.1f;
		for (int t = 0; t < TRAITS; t++)
			weights[u][t] = sinf((float)(u * TRAITS + t)) / 5;
	}
	halves[0].last = halves[1].first = HOUSEHOLDS / 2;
	halves[1].last = HOUSEHOLDS;
	pthread_create(&thread, NULL, helper, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		learn_round(&watch);
		apply();
	}
	watch_tell(&watch);
	printf("loss %.4f\n", (halves[0].loss + halves[1].loss) / HOUSEHOLDS);
	pthread_mutex_lock(&mutex);
	over = true;
	pthread_cond_broadcast(&go);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	return 0;
}
