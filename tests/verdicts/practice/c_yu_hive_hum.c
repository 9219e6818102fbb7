/*
 * Tells from the hum of a bee hive whether it will swarm: two threads each handle half of a batch of spectra, and meet
 * before the weights change.
 *
 * Planted: the second thread also computes the spectra's windows for both halves, so the first, whose steps count, spins until it is there.
 * Truth: time that the first thread spins at the meeting, of its loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { BINS = 512, NOTES = 64, HALF = 24 };

static float hum[2][HALF][BINS], window[2][2][HALF][BINS], weights[NOTES][BINS], change[2][NOTES][BINS];
static atomic_int arrived, round_of, done;

/* The other set of windows is for the next round. */
static void windows(int set, int half)
{
	for (int b = 0; b < HALF; b++)
		for (int i = 0; i < BINS; i++)
			window[set][half][b][i] = hum[half][b][i] * (0.54f - 0.46f * cosf(6.2831853f * (float)i / BINS)) +
			                     0.01f * logf(1.5f + hum[half][b][i] * hum[half][b][i]);
}

static void learn(int set, int half)
{
	for (int n = 0; n < NOTES; n++)
		for (int i = 0; i < BINS; i++)
			change[half][n][i] = 0;
	for (int b = 0; b < HALF; b++)
		for (int n = 0; n < NOTES; n++) {
			float sum[4] = {0};
			for (int i = 0; i < BINS; i += 4)
				for (int k = 0; k < 4; k++)
					sum[k] += weights[n][i + k] * window[set][half][b][i + k];
			const float wrong = tanhf(sum[0] + sum[1] + sum[2] + sum[3]) - 0.1f * (float)(n % 7);
			for (int i = 0; i < BINS; i++)
				change[half][n][i] += wrong * window[set][half][b][i];
		}
}

/* Both threads are here: the last one opens the next round. */
static void meet(void)
{
	const int now = atomic_load(&round_of);

	if (atomic_fetch_add(&arrived, 1) == 1) {
		atomic_store(&arrived, 0);
		atomic_fetch_add(&round_of, 1);
		return;
	}
	while (atomic_load(&round_of) == now)
		for (volatile int pause = 0; pause < 30; pause++)
			;
}

static void *second(void *unused)
{
	(void)unused;
	for (;;) {
		meet();
		if (atomic_load(&done))
			return NULL;
		const int set = atomic_load(&round_of) / 2 % 2;
		windows(1 - set, 0);
		windows(1 - set, 1);
		learn(set, 1);
		meet();
	}
}

int main(void)
{
	struct watch watch;
	pthread_t thread;

	for (int h = 0; h < 2; h++)
		for (int b = 0; b < HALF; b++)
			for (int i = 0; i < BINS; i++)
				window[0][h][b][i] = window[1][h][b][i] = hum[h][b][i] = sinf((float)(i * (b + 3) + h));
	for (int n = 0; n < NOTES; n++)
		for (int i = 0; i < BINS; i++)
			weights[n][i] = 0.02f * cosf((float)(n * 31 + i));
	pthread_create(&thread, NULL, second, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("begin round");
			meet();
		}
		{
			DWELL_ZONE("learn");
			learn((int)(watch.steps % 2), 0);
		}
		{
			DWELL_ZONE("end round");
			planted_begin(&watch);
			meet();
			planted_end(&watch);
		}
		DWELL_ZONE("weights");
		for (int n = 0; n < NOTES; n++)
			for (int i = 0; i < BINS; i++)
				weights[n][i] -= 0.0001f * (change[0][n][i] + change[1][n][i]);
	}
	watch_tell(&watch);
	atomic_store(&done, 1);
	meet();
	pthread_join(thread, NULL);
	printf("weight %.4f\n", (double)weights[3][5]);
	return 0;
}
