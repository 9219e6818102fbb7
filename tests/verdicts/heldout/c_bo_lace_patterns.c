/*
 * Orders samples of lace on a map, so that neighbours look alike: Kohonen's self-organising map, 20 by 20 places.
 * A chronicle of the map is kept for a film, packed by gzip.
 *
 * Planted: after each step the places of every fifth row go as text into a pipe, and gzip at its other end is slower than the map.
 * Truth: time that printing into the pipe takes, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>

#define SIDE 20
#define PLACES (SIDE * SIDE)
#define THREADS_OF_LACE 48
#define SAMPLES 1024

struct map {
	float place[PLACES][THREADS_OF_LACE];
	float near[SIDE * 2];
};

static struct map map;
static float samples[8][SAMPLES][THREADS_OF_LACE];

static int best_place(const float *sample)
{
	float least = INFINITY;
	int best = 0;

	for (int p = 0; p < PLACES; p++) {
		float part[4] = {0};

		for (int i = 0; i < THREADS_OF_LACE; i += 4)
			for (int k = 0; k < 4; k++) {
				const float d = sample[i + k] - map.place[p][i + k];

				part[k] += d * d;
			}
		const float all = part[0] + part[1] + part[2] + part[3];

		if (all < least) {
			least = all;
			best = p;
		}
	}
	return best;
}

static void pull(int best, const float *sample)
{
	for (int p = 0; p < PLACES; p++) {
		const int rows = abs(p / SIDE - best / SIDE), columns = abs(p % SIDE - best % SIDE);
		const float rate = map.near[rows + columns];

		for (int i = 0; i < THREADS_OF_LACE; i++)
			map.place[p][i] += rate * (sample[i] - map.place[p][i]);
	}
}

static void chronicle(FILE *film, long step)
{
	fprintf(film, "step %ld\n", step);
	for (int p = 0; p < PLACES; p++) {
		if (p / SIDE % 5)
			continue;
		fprintf(film, "%d %d", p / SIDE, p % SIDE);
		for (int i = 0; i < THREADS_OF_LACE; i++)
			fprintf(film, " %.6f", (double)map.place[p][i]);
		fputc('\n', film);
	}
	fflush(film);
}

int main(void)
{
	static struct watch watch;
	FILE *film;

	signal(SIGPIPE, SIG_IGN);
	srand(77);
	for (int b = 0; b < 8; b++)
		for (int s = 0; s < SAMPLES; s++)
			for (int i = 0; i < THREADS_OF_LACE; i++)
				samples[b][s][i] = (float)(i * (s % 9 + 1) % 8 < 4) + 0.5f * (float)rand() / (float)RAND_MAX;
	for (int p = 0; p < PLACES; p++)
		for (int i = 0; i < THREADS_OF_LACE; i++)
			map.place[p][i] = 0.5f + (float)rand() / (float)RAND_MAX;
	for (int d = 0; d < SIDE * 2; d++)
		map.near[d] = 0.0005f + 0.01f * expf(-0.1f * (float)(d * d));
	film = popen("gzip -6 > /dev/null", "w");
	if (!film)
		return 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int s = 0; s < SAMPLES; s++) {
			const float *sample = samples[watch.steps % 8][s];
			int best;

			{
				DWELL_ZONE("best place");
				best = best_place(sample);
			}
			DWELL_ZONE("pull");
			pull(best, sample);
		}
		planted_begin(&watch);
		chronicle(film, watch.steps);
		planted_end(&watch);
	}
	watch_tell(&watch);
	pclose(film);
	printf("first place %.4f\n", (double)map.place[0][0]);
	return 0;
}
