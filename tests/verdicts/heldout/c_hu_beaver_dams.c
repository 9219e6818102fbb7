/*
 * Tunes a gauge of beaver dams: an inner model of eight ponds runs forward in time and its parameters follow the error, while a
 * helper's thread makes the rain of the next season on request.
 *
 * Planted: the loop asks for the rain and then sleeps in naps of 2.5 ms until it is there, which takes the helper a moment.
 * Truth: time from the moment when the rain was ready until the loop goes on, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { PONDS = 8, HOURS = 2400 };

struct season {
	float rain[HOURS];
	unsigned seed;
	atomic_int ready;
	double ready_s;
};

static struct season season;
static sem_t request;
static atomic_int over;

static void *rain_maker(void *unused)
{
	(void)unused;
	for (;;) {
		while (sem_wait(&request))
			;
		if (atomic_load(&over))
			return NULL;
		unsigned state = season.seed * 2654435761u + 1;
		float wet = 0.1f;
		for (int h = 0; h < HOURS; h++) {
			state = state * 1664525u + 1013904223u;
			const float chance = (float)(state >> 8) / 16777216.0f;
			wet = 0.97f * wet + (chance > 0.9f ? 0.3f * chance : 0.0f);
			season.rain[h] = wet * (1.2f + sinf((float)h * 0.26f));
		}
		season.ready_s = now_s();
		atomic_store(&season.ready, 1);
	}
}

static void wait_for_rain(struct watch *watch, float *rain)
{
	atomic_store(&season.ready, 0);
	season.seed = (unsigned)watch->steps;
	sem_post(&request);
	do
		usleep(2500);
	while (!atomic_load(&season.ready));
	watch->planted_s += now_s() - season.ready_s;
	memcpy(rain, season.rain, sizeof season.rain);
}

/* Levels of all ponds over the season; one flows into the next over its dam. */
static float run_ponds(const float *rain, const float *dam, const float *gauge, float *level_out)
{
	float level[PONDS], wrong = 0;

	for (int p = 0; p < PONDS; p++)
		level[p] = 0.5f;
	for (int h = 0; h < HOURS; h++) {
		float inflow = rain[h];
		for (int p = 0; p < PONDS; p++) {
			const float over_dam = level[p] / (1.0f + expf(4.0f * (dam[p] - level[p])));
			level[p] += 0.1f * (inflow - over_dam);
			inflow = over_dam;
		}
		const float d = level[PONDS - 1] - gauge[h];
		wrong += d * d;
		level_out[h] = level[PONDS - 1];
	}
	return wrong / HOURS;
}

int main(void)
{
	static float rain[HOURS], gauge[HOURS], level[HOURS];
	struct watch watch;
	pthread_t helper;
	float dam[PONDS], truth[PONDS], wrong = 0;

	for (int p = 0; p < PONDS; p++) {
		dam[p] = 1.0f;
		truth[p] = 0.6f + 0.1f * (float)p;
	}
	sem_init(&request, 0, 0);
	pthread_create(&helper, NULL, rain_maker, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("rain");
			wait_for_rain(&watch, rain);
		}
		{
			DWELL_ZONE("observe");
			memset(gauge, 0, sizeof gauge);
			run_ponds(rain, truth, gauge, level);
			memcpy(gauge, level, sizeof gauge);
		}
		float slope[PONDS];
		{
			DWELL_ZONE("sensitivity");
			for (int repeat = 0; repeat < 6; repeat++)
				for (int p = 0; p < PONDS; p++) {
					float moved[PONDS];
					const float width = 0.004f * (float)(repeat + 1);
					memcpy(moved, dam, sizeof moved);
					moved[p] += width;
					const float above = run_ponds(rain, moved, gauge, level);
					moved[p] -= 2 * width;
					slope[p] = (repeat ? slope[p] : 0) + (above - run_ponds(rain, moved, gauge, level)) / (2 * width) / 6;
				}
		}
		DWELL_ZONE("adjust");
		for (int p = 0; p < PONDS; p++)
			dam[p] -= 0.002f * slope[p];
		wrong = run_ponds(rain, dam, gauge, level);
	}
	watch_tell(&watch);
	atomic_store(&over, 1);
	sem_post(&request);
	pthread_join(helper, NULL);
	printf("mean square %.5f\n", (double)wrong);
	return 0;
}
