/*
 * Gaps between trams: a factorisation machine with a deep part learns how full a tram will be from forty facts about it.
 *
 * Decoy: a clerk's thread that naps and takes a lock, a fresh block for each batch, a line flushed for each step, a small file now and then.
 * Truth: time that the loop spends on all of these, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FACTS = 40, RANK = 24, FLAT = FACTS * RANK, DEEP = 64, BATCH = 48 };

static float factor[FACTS][RANK], factor_slope[FACTS][RANK], deep[DEEP][FLAT], deep_slope[DEEP][FLAT], top[DEEP], top_slope[DEEP];
static pthread_mutex_t board = PTHREAD_MUTEX_INITIALIZER;
static float shown_loss;
static bool done;

/* Shows the loss on a board at the depot, many times a second. */
static void *clerk(void *unused)
{
	bool stop = false;

	while (!stop) {
		const struct timespec nap = {0, 4000000};

		nanosleep(&nap, NULL);
		pthread_mutex_lock(&board);
		stop = done;
		pthread_mutex_unlock(&board);
	}
	return unused;
}

static float noise(void)
{
	return (float)rand() / (float)RAND_MAX - 0.5f;
}

static void noises(float *value, int count, float size)
{
	for (int i = 0; i < count; i++)
		value[i] = size * noise();
}

static float learn(const float *fact, float full)
{
	float flat[FLAT], hidden[DEEP], back[FLAT] = {0}, sum[RANK] = {0}, pairs = 0, guess = 0, error;

	for (int f = 0; f < FACTS; f++)
		for (int r = 0; r < RANK; r++) {
			flat[f * RANK + r] = fact[f] * factor[f][r];
			sum[r] += flat[f * RANK + r];
		}
	for (int r = 0; r < RANK; r++)
		pairs += sum[r] * sum[r];
	for (int i = 0; i < FLAT; i++)
		pairs -= flat[i] * flat[i];
	for (int d = 0; d < DEEP; d++) {
		float all = 0;

		for (int i = 0; i < FLAT; i++)
			all += deep[d][i] * flat[i];
		hidden[d] = all / (1 + fabsf(all));
		guess += top[d] * hidden[d];
	}
	error = (guess + 0.5f * pairs - full) / BATCH;
	for (int d = 0; d < DEEP; d++) {
		float rest = 1 - fabsf(hidden[d]), slope = error * top[d] * rest * rest;

		top_slope[d] += error * hidden[d];
		for (int i = 0; i < FLAT; i++) {
			deep_slope[d][i] += slope * flat[i];
			back[i] += slope * deep[d][i];
		}
	}
	for (int f = 0; f < FACTS; f++)
		for (int r = 0; r < RANK; r++)
			factor_slope[f][r] += fact[f] * (back[f * RANK + r] + error * (sum[r] - flat[f * RANK + r]));
	return error * error * BATCH;
}

static void adjust(float *weight, float *slope, int count)
{
	for (int i = 0; i < count; i++) {
		weight[i] -= 0.03f * slope[i];
		slope[i] = 0;
	}
}

int main(void)
{
	static float day[64][BATCH][FACTS], full[64][BATCH];
	char path[64];
	FILE *diary;
	struct watch watch;
	pthread_t thread;
	float loss = 0;

	srand(31);
	noises((float *)day, 64 * BATCH * FACTS, 1);
	for (int d = 0; d < 64; d++)
		for (int n = 0; n < BATCH; n++)
			full[d][n] = day[d][n][3] * 2 + day[d][n][9] + noise();
	noises((float *)factor, FLAT, 0.3f);
	noises((float *)deep, DEEP * FLAT, 0.1f);
	noises(top, DEEP, 0.3f);
	snprintf(path, sizeof path, "headways-%d.log", (int)getpid());
	diary = fopen(path, "w+");
	if (!diary)
		return 1;
	pthread_create(&thread, NULL, clerk, NULL);
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		float (*facts)[FACTS];

		DWELL_STEP();
		planted_begin(&watch);
		facts = malloc(sizeof day[0]);
		memcpy(facts, day[watch.steps % 64], sizeof day[0]);
		planted_end(&watch);
		loss = 0;
		{
			DWELL_ZONE("learn");
			for (int n = 0; n < BATCH; n++)
				loss += learn(facts[n], full[watch.steps % 64][n]);
		}
		{
			DWELL_ZONE("adjust");
			adjust((float *)factor, (float *)factor_slope, FLAT);
			adjust((float *)deep, (float *)deep_slope, DEEP * FLAT);
			adjust(top, top_slope, DEEP);
		}
		planted_begin(&watch);
		free(facts);
		pthread_mutex_lock(&board);
		shown_loss = loss;
		pthread_mutex_unlock(&board);
		fprintf(diary, "%d %.5f\n", watch.steps, (double)loss);
		fflush(diary);
		if (watch.steps % 200 == 199) { /* the factors are small */
			DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "factors");
			fwrite(factor, sizeof factor, 1, diary);
			fflush(diary);
		}
		planted_end(&watch);
		watch.steps++;
	}
	watch_tell(&watch);
	pthread_mutex_lock(&board);
	done = true;
	pthread_mutex_unlock(&board);
	pthread_join(thread, NULL);
	fclose(diary);
	unlink(path);
	printf("loss %.4f\n", (double)shown_loss);
	return 0;
}
