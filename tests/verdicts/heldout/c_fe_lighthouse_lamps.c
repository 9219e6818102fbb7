/*
 * Learns from the profile of a beam how dirty the lens of a lighthouse is. A second thread, the turner, turns and dims each
 * batch of profiles as the lamp would, and tells the trainer by a flag that it is ready.
 *
 * Planted: the trainer looks at the flag, and sleeps three milliseconds when it is not up yet; the turner needs less than one.
 * Truth: time from the request of a batch until the trainer goes on, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ANGLES 180
#define UNITS 128
#define BATCH 40
#define PROFILES 400

struct lens {
	float see[UNITS][ANGLES];
	float bias[UNITS];
	float judge[UNITS];
	float offset;
};

static float profiles[PROFILES][ANGLES], dirt[PROFILES];

/* What the two threads share. */
static struct {
	sem_t asked;
	atomic_bool ready;
	atomic_bool closing;
	int first;
	float beams[BATCH][ANGLES];
	float dirt[BATCH];
} bench;

static void *turner(void *unused)
{
	unsigned seed = 77;

	(void)unused;
	for (;;) {
		sem_wait(&bench.asked);
		if (atomic_load(&bench.closing))
			return NULL;
		DWELL_ZONE("turn");
		for (int n = 0; n < BATCH; n++) {
			const int which = (bench.first + n) % PROFILES, shift = rand_r(&seed) % 12;
			const float dim = 0.8f + 0.2f * (float)rand_r(&seed) / (float)RAND_MAX;

			for (int a = 0; a < ANGLES; a++)
				bench.beams[n][a] = (dim + 0.02f * cosf((float)(a * shift)) * sinf((float)a)) * profiles[which][(a + shift) % ANGLES];
			bench.dirt[n] = dirt[which];
		}
		atomic_store(&bench.ready, true);
	}
}

static void next_batch(int step)
{
	const struct timespec nap = {0, 3000000};

	DWELL_ZONE("next_batch");
	bench.first = step * BATCH % PROFILES;
	atomic_store(&bench.ready, false);
	sem_post(&bench.asked);
	while (!atomic_load(&bench.ready))
		nanosleep(&nap, NULL);
}

static float learn(struct lens *lens, struct lens *slope)
{
	float loss = 0;

	memset(slope, 0, sizeof *slope);
	for (int n = 0; n < BATCH; n++) {
		const float *beam = bench.beams[n];
		float unit[UNITS], guess = lens->offset;

		for (int u = 0; u < UNITS; u++) {
			float sum = lens->bias[u];
			for (int a = 0; a < ANGLES; a++)
				sum += lens->see[u][a] * beam[a];
			unit[u] = tanhf(sum);
			guess += lens->judge[u] * unit[u];
		}
		const float error = guess - bench.dirt[n];
		loss += error * error / BATCH;
		slope->offset += error / BATCH;
		for (int u = 0; u < UNITS; u++) {
			const float back = error / BATCH * lens->judge[u] * (1 - unit[u] * unit[u]);

			slope->judge[u] += error / BATCH * unit[u];
			slope->bias[u] += back;
			for (int a = 0; a < ANGLES; a++)
				slope->see[u][a] += back * beam[a];
		}
	}
	return loss;
}

static void descend(struct lens *lens, const struct lens *slope)
{
	float *to = &lens->see[0][0];
	const float *by = &slope->see[0][0];

	DWELL_ZONE("descend");
	for (size_t i = 0; i < sizeof *lens / sizeof *to; i++)
		to[i] -= 0.01f * by[i];
}

int main(void)
{
	static struct lens lens, slope;
	struct watch watch;
	pthread_t thread;
	float loss = 0;

	srand(4);
	for (int p = 0; p < PROFILES; p++) {
		dirt[p] = (float)rand() / (float)RAND_MAX;
		for (int a = 0; a < ANGLES; a++)
			profiles[p][a] = expf(-(float)((a - 90) * (a - 90)) / (40 + 900 * dirt[p])) + 0.1f * (float)rand() / (float)RAND_MAX;
	}
	for (size_t i = 0; i < sizeof lens / sizeof(float); i++)
		(&lens.see[0][0])[i] = 0.1f * ((float)rand() / (float)RAND_MAX - 0.5f);
	sem_init(&bench.asked, 0, 0);
	pthread_create(&thread, NULL, turner, NULL);

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		planted_begin(&watch);
		next_batch(watch.steps);
		planted_end(&watch);
		{
			DWELL_ZONE("learn");
			for (int again = 0; again < 8; again++)
				loss = learn(&lens, &slope);
		}
		descend(&lens, &slope);
		watch.steps++;
	}
	watch_tell(&watch);
	atomic_store(&bench.closing, true);
	sem_post(&bench.asked);
	pthread_join(thread, NULL);
	printf("loss %.5f\n", (double)loss);
	return 0;
}
