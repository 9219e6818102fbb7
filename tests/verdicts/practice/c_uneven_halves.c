/*
 * Two threads share the rows of a triangular kernel matrix in C.
 *
 * Planted: each gets half of the rows, but the helper's rows are three times as long.
 * Truth: time that the loop's thread waits for the helper, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { SECONDS = 6, POINTS = 640, TRAITS = 32 };

static float points[POINTS][TRAITS], kernel[POINTS][POINTS], duals[POINTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, answered, ended;

static void rows(int from, int to)
{
	for (int row = from; row < to; row++)
		for (int column = 0; column <= row; column++) {
			float sum = 0;

			for (int trait = 0; trait < TRAITS; trait++)
				sum += (points[row][trait] - points[column][trait]) *
				       (points[row][trait] - points[column][trait]);
			kernel[row][column] = expf(-sum);
		}
}

static void *help(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!ended) {
		if (asked == answered) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		pthread_mutex_unlock(&lock);
		rows(POINTS / 2, POINTS);
		pthread_mutex_lock(&lock);
		answered = asked;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

static void ascend(void)
{
	DWELL_ZONE("dual ascent");
	for (int pass = 0; pass < 12; pass++)
		for (int row = 0; row < POINTS; row++) {
			float error = -1;

			for (int column = 0; column <= row; column++)
				error += kernel[row][column] * duals[column];
			duals[row] -= 1e-4f * error;
		}
}

int main(void)
{
	struct watch watch;
	pthread_t thread;

	for (int point = 0; point < POINTS; point++)
		for (int trait = 0; trait < TRAITS; trait++)
			points[point][trait] = (float)((point * 3 + trait * 7) % 31) / 31;
	pthread_create(&thread, NULL, help, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("kernel");
			pthread_mutex_lock(&lock);
			asked++;
			pthread_cond_broadcast(&changed);
			pthread_mutex_unlock(&lock);
			rows(0, POINTS / 2);
		}
		planted_begin(&watch);
		{
			DWELL_ZONE("wait for helper");
			pthread_mutex_lock(&lock);
			while (answered != asked)
				pthread_cond_wait(&changed, &lock);
			pthread_mutex_unlock(&lock);
		}
		planted_end(&watch);
		ascend();
	}
	watch_tell(&watch);
	pthread_mutex_lock(&lock);
	ended = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return 0;
}
