/*
 * Milk of the next day for a herd: a network with one hidden layer over the last days of each cow, gradients by hand. A feeder thread
 * puts four batches at a time into a small ring, the learner takes them out.
 *
 * Planted: neither side tells the other; the feeder looks for room each 7 ms, and the learner naps 5 ms at a time until a batch is there.
 * Truth: time that the learner naps at the ring, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { SLOTS = 4, COWS = 128, DAYS = 30, FEEDS = 4, INPUT = DAYS * FEEDS, HIDDEN = 256 };

struct batch {
	float days[COWS][INPUT];
	float milk[COWS];
};

static struct {
	struct batch slot[SLOTS];
	atomic_int filled;
	atomic_bool closed;
} ring;

static float in[HIDDEN][INPUT], out[HIDDEN], slope_in[HIDDEN][INPUT], slope_out[HIDDEN];

static void nap(long ms)
{
	const struct timespec time = {0, ms * 1000000};

	nanosleep(&time, NULL);
}

static float noise(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (float)(*seed >> 8) / 8388608.0f - 1;
}

static void *feed(void *unused)
{
	uint32_t seed = 11;

	(void)unused;
	while (!atomic_load(&ring.closed)) {
		if (atomic_load(&ring.filled) > 0) {
			nap(7);
			continue;
		}
		for (int s = 0; s < SLOTS; s++) {
			struct batch *batch = &ring.slot[s];

			for (int c = 0; c < COWS; c++) {
				float sum = 0;

				for (int i = 0; i < INPUT; i++) {
					batch->days[c][i] = noise(&seed);
					sum += batch->days[c][i] * (float)(i % 7 - 3);
				}
				batch->milk[c] = sum * 0.03f;
			}
		}
		atomic_store(&ring.filled, SLOTS);
	}
	return NULL;
}

static const struct batch *ring_front(void)
{
	int filled;

	while ((filled = atomic_load(&ring.filled)) == 0)
		nap(5);
	return &ring.slot[SLOTS - filled];
}

static float learn(const struct batch *batch)
{
	float loss = 0;

	for (int c = 0; c < COWS; c++) {
		const float *day = batch->days[c];
		float unit[HIDDEN], milk = 0;

		for (int h = 0; h < HIDDEN; h++) {
			float sum = 0;

			for (int i = 0; i < INPUT; i++)
				sum += in[h][i] * day[i];
			unit[h] = tanhf(sum);
			milk += out[h] * unit[h];
		}
		const float error = milk - batch->milk[c];

		loss += error * error;
		for (int h = 0; h < HIDDEN; h++) {
			const float back = error * out[h] * (1 - unit[h] * unit[h]);

			slope_out[h] += error * unit[h];
			for (int i = 0; i < INPUT; i++)
				slope_in[h][i] += back * day[i];
		}
	}
	return loss / COWS;
}

static void update(float rate)
{
	for (int h = 0; h < HIDDEN; h++) {
		out[h] -= rate * slope_out[h];
		slope_out[h] = 0;
		for (int i = 0; i < INPUT; i++) {
			in[h][i] -= rate * slope_in[h][i];
			slope_in[h][i] = 0;
		}
	}
}

int main(void)
{
	struct watch watch;
	pthread_t feeder;
	uint32_t seed = 5;
	float loss = 0;

	for (int h = 0; h < HIDDEN; h++) {
		out[h] = 0.1f * noise(&seed);
		for (int i = 0; i < INPUT; i++)
			in[h][i] = 0.08f * noise(&seed);
	}
	pthread_create(&feeder, NULL, feed, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		const struct batch *batch = ring_front();
		planted_end(&watch);
		{
			DWELL_ZONE("learn");
			loss = learn(batch);
		}
		atomic_fetch_sub(&ring.filled, 1);
		DWELL_ZONE("update");
		update(0.01f / COWS);
	}
	watch_tell(&watch);
	atomic_store(&ring.closed, 1);
	pthread_join(feeder, NULL);
	printf("loss %.4f\n", (double)loss);
	return 0;
}
