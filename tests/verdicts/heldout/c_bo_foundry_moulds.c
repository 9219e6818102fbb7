/*
 * Foretells the shrinkage of castings from scans of their moulds: a factorisation machine, learned by stochastic gradients.
 * A thread at the scanner interpolates the scans of the next castings whenever it is asked.
 *
 * Planted: the trainer asks for scans only when it needs them, and looks every 2 ms whether they are there, which they are much sooner.
 * Truth: time between the request and the look that finds the scans, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CASTINGS 3000
#define CELLS 128
#define FACTORS 32
#define KNOWN 40

struct scans {
	float cell[CASTINGS][CELLS];
	float shrinkage[CASTINGS];
};

static struct scans belt;
static atomic_long asked, delivered;

static void interpolate(struct scans *to, long lot)
{
	static float mould[KNOWN][CELLS];

	for (int m = 0; m < KNOWN; m++)
		for (int i = 0; i < CELLS; i++)
			mould[m][i] = 0.002f * (float)((m - KNOWN / 2) * (i % 16)) + 0.05f * (float)((m * 31 + i * 17) % 23 - 11);
	for (int c = 0; c < CASTINGS; c++) {
		const float *scan = mould[(lot * 7 + c) % KNOWN];

		memcpy(to->cell[c], scan, sizeof to->cell[c]);
		to->shrinkage[c] = 0.3f * scan[3] + scan[5] * scan[77];
	}
}

static void *at_the_scanner(void *unused)
{
	long served = 0;

	(void)unused;
	for (;;) {
		const long wanted = atomic_load(&asked);

		if (wanted < 0)
			return NULL;
		if (wanted == served) {
			usleep(200);
			continue;
		}
		interpolate(&belt, wanted);
		served = wanted;
		atomic_store(&delivered, served);
	}
}

static const struct scans *next_scans(long lot, struct watch *watch)
{
	DWELL_ZONE("scans");

	planted_begin(watch);
	atomic_store(&asked, lot);
	while (atomic_load(&delivered) != lot)
		usleep(2000);
	planted_end(watch);
	return &belt;
}

static float bias, linear[CELLS], factor[CELLS][FACTORS];
static float sums[CASTINGS][FACTORS], wrong[CASTINGS];

static void predict(const struct scans *scans)
{
	DWELL_ZONE("predict");
	for (int c = 0; c < CASTINGS; c++) {
		float squares[FACTORS] = {0}, guess = bias;

		for (int f = 0; f < FACTORS; f++)
			sums[c][f] = 0;
		for (int i = 0; i < CELLS; i++) {
			const float x = scans->cell[c][i];

			guess += linear[i] * x;
			for (int f = 0; f < FACTORS; f++) {
				const float part = factor[i][f] * x;

				sums[c][f] += part;
				squares[f] += part * part;
			}
		}
		for (int f = 0; f < FACTORS; f++)
			guess += 0.5f * (sums[c][f] * sums[c][f] - squares[f]);
		wrong[c] = fmaxf(-1, fminf(1, guess - scans->shrinkage[c]));
	}
}

static void learn(const struct scans *scans, float rate)
{
	DWELL_ZONE("learn");
	for (int c = 0; c < CASTINGS; c++) {
		const float step = rate * wrong[c];

		bias -= step;
		for (int i = 0; i < CELLS; i++) {
			const float x = scans->cell[c][i];

			linear[i] -= step * x;
			for (int f = 0; f < FACTORS; f++)
				factor[i][f] -= step * x * (sums[c][f] - factor[i][f] * x);
		}
	}
}

int main(void)
{
	static struct watch watch;
	pthread_t scanner;
	float loss = 0;

	for (int i = 0; i < CELLS; i++)
		for (int f = 0; f < FACTORS; f++)
			factor[i][f] = 0.01f * (float)((i * 13 + f * 29) % 19 - 9);
	if (pthread_create(&scanner, NULL, at_the_scanner, NULL))
		return 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const struct scans *scans = next_scans(watch.steps + 1, &watch);

		predict(scans);
		learn(scans, 1e-6f);
		loss = 0;
		for (int c = 0; c < CASTINGS; c++)
			loss += fabsf(wrong[c]);
	}
	watch_tell(&watch);
	atomic_store(&asked, -1);
	pthread_join(scanner, NULL);
	printf("loss %.4f\n", (double)loss / CASTINGS);
	return 0;
}
