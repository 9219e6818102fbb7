/*
 * Tells vowels apart by their formants: linear prediction of frames, then a network of radial functions, in a loop
 * that has a microphone thread, a journal, a shared table behind a mutex and snapshots.
 *
 * Decoy: the microphone's thread sleeps all the time and the loop never waits for it; journal, lock, snapshot and a
 * buffer of the heap look costly and take a moment each.
 * Truth: time of the journal, the lock, the snapshot and the buffer, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAME 320
#define ORDER 14
#define FRAMES 192
#define CENTRES 160
#define VOWELS 10
#define RING 64

static float ring[RING][FRAME];
static atomic_uint heard;
static atomic_bool quit;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static float table[CENTRES][ORDER], weight[VOWELS][CENTRES];

static void *microphone(void *unused)
{
	const struct timespec buffer = { .tv_nsec = 50 * 1000000 };

	while (!atomic_load(&quit)) {
		float *frame = ring[atomic_load(&heard) % RING];

		for (int i = 0; i < FRAME; i++)
			frame[i] += 0.001f * (float)(i % 7 - 3);
		atomic_fetch_add(&heard, 1);
		nanosleep(&buffer, NULL);
	}
	return unused;
}

static void predict(const float *frame, float *coefficients)
{
	double r[ORDER + 1], a[ORDER + 1] = { 1 }, error;

	for (int lag = 0; lag <= ORDER; lag++) {
		r[lag] = lag ? 0 : 1e-3;
		for (int i = lag; i < FRAME; i++)
			r[lag] += (double)frame[i] * (double)frame[i - lag];
	}
	error = r[0];
	for (int m = 1; m <= ORDER; m++) {
		double sum = r[m], before[ORDER + 1];

		for (int i = 1; i < m; i++)
			sum += a[i] * r[m - i];
		const double k = -sum / error;

		memcpy(before, a, sizeof before);
		for (int i = 1; i < m; i++)
			a[i] = before[i] + k * before[m - i];
		a[m] = k;
		error *= 1 - k * k;
	}
	for (int i = 0; i < ORDER; i++)
		coefficients[i] = (float)a[i + 1];
}

static float classify(const float *c, int vowel)
{
	float near[CENTRES], said[VOWELS], sum = 0;

	for (int n = 0; n < CENTRES; n++) {
		float d = 0;

		for (int i = 0; i < ORDER; i++)
			d += (c[i] - table[n][i]) * (c[i] - table[n][i]);
		near[n] = 1 / (1 + d);
	}
	for (int v = 0; v < VOWELS; v++) {
		float s = 0;

		for (int n = 0; n < CENTRES; n++)
			s += weight[v][n] * near[n];
		sum += said[v] = expf(s);
	}
	for (int v = 0; v < VOWELS; v++) {
		const float e = said[v] / sum - (v == vowel);

		for (int n = 0; n < CENTRES; n++)
			weight[v][n] -= 1e-3f * e * near[n];
	}
	return -logf(said[vowel] / sum);
}

int main(void)
{
	struct watch watch;
	pthread_t listening;
	FILE *journal = fopen("vowels.log", "w");
	unsigned seed = 3;
	float loss = 0;

	if (!journal)
		return 1;
	for (int f = 0; f < RING; f++)
		for (int i = 0; i < FRAME; i++) {
			seed = seed * 1664525u + 1013904223u;
			ring[f][i] = sinf(0.03f * (float)(i * (1 + f % VOWELS))) + (float)(seed >> 8) / 33554432.0f;
		}
	for (int n = 0; n < CENTRES; n++)
		for (int i = 0; i < ORDER; i++) {
			seed = seed * 1664525u + 1013904223u;
			table[n][i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
		}
	if (pthread_create(&listening, NULL, microphone, NULL))
		return 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		static float formants[FRAMES][ORDER];
		const unsigned last = atomic_load(&heard);

		{
			DWELL_ZONE("linear prediction");
			for (int f = 0; f < FRAMES; f++)
				predict(ring[(last + (unsigned)f) % RING], formants[f]);
		}
		{
			DWELL_ZONE("radial functions");
			loss = 0;
			for (int f = 0; f < FRAMES; f++)
				loss += classify(formants[f], (int)((last + (unsigned)f) % RING) % VOWELS) / FRAMES;
		}
		planted_begin(&watch);
		char *line = malloc(4096);

		if (line) {
			DWELL_ZONE("journal");
			const int n = snprintf(line, 4096, "%d %g %u\n", watch.steps, (double)loss, last);

			fwrite(line, 1, (size_t)n, journal);
			fflush(journal);
			free(line);
		}
		pthread_mutex_lock(&table_lock);
		table[watch.steps % CENTRES][0] *= 0.999f;
		pthread_mutex_unlock(&table_lock);
		if (watch.steps % 200 == 199) {
			DWELL_ZONE("snapshot");
			FILE *file = fopen("vowels.state", "wb");

			if (file) {
				fwrite(weight, sizeof weight, 1, file);
				fclose(file);
			}
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	atomic_store(&quit, true);
	pthread_join(listening, NULL);
	fclose(journal);
	printf("loss %.4f\n", (double)loss);
	return 0;
}
