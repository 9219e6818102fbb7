/*
 * Follows the pitch of a singer from frames of 24 bands: a recurrent layer, trained through the whole phrase, thirty-two phrases a step.
 * A meter beside it shows how loud the last phrase was.
 *
 * Decoy: a thread with a condition, scratch memory made and freed for each step, a sort, a short nap and a file with the weights, all small.
 * Truth: time of the lock, the memory, the sort, the nap and the file, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BANDS 24
#define STATE 96
#define FRAMES 40
#define PHRASES 32

static struct weights {
	float in[BANDS][STATE], over[STATE][STATE], out[STATE];
} weights, slopes;

static struct meter {
	pthread_mutex_t lock;
	pthread_cond_t heard;
	float loud;
	int waiting, over;
} meter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};

static float songs[64][FRAMES][BANDS], pitch[64][FRAMES];

static void *show(void *unused)
{
	float peak = 0;

	pthread_mutex_lock(&meter.lock);
	while (!meter.over) {
		if (!meter.waiting)
			pthread_cond_wait(&meter.heard, &meter.lock);
		meter.waiting = 0;
		peak = fmaxf(peak, meter.loud);
	}
	pthread_mutex_unlock(&meter.lock);
	(void)unused;
	return NULL;
}

static int louder(const void *one, const void *other)
{
	return (*(const float *)one > *(const float *)other) - (*(const float *)one < *(const float *)other);
}

static void sing(float (*states)[STATE], const float (*song)[BANDS], float *guess)
{
	DWELL_ZONE("sing");
	for (int s = 0; s < STATE; s++)
		states[0][s] = 0.05f;
	for (int f = 0; f < FRAMES; f++) {
		float sum[STATE] = {0};

		for (int b = 0; b < BANDS; b++)
			for (int s = 0; s < STATE; s++)
				sum[s] += song[f][b] * weights.in[b][s];
		for (int p = 0; p < STATE; p++)
			for (int s = 0; s < STATE; s++)
				sum[s] += states[f][p] * weights.over[p][s];
		guess[f] = 0;
		for (int s = 0; s < STATE; s++) {
			states[f + 1][s] = sum[s] / (1 + fabsf(sum[s]));
			guess[f] += states[f + 1][s] * weights.out[s];
		}
	}
}

static void listen_back(float (*states)[STATE], const float (*song)[BANDS], const float *guess, const float *truth)
{
	DWELL_ZONE("listen back");
	float blame[STATE] = {0};

	for (int f = FRAMES - 1; f >= 0; f--) {
		const float wrong = guess[f] - truth[f];
		float before[STATE];

		for (int s = 0; s < STATE; s++) {
			const float slope = 1 - fabsf(states[f + 1][s]);

			slopes.out[s] += wrong * states[f + 1][s];
			blame[s] = (blame[s] + wrong * weights.out[s]) * slope * slope;
		}
		for (int b = 0; b < BANDS; b++)
			for (int s = 0; s < STATE; s++)
				slopes.in[b][s] += song[f][b] * blame[s];
		for (int p = 0; p < STATE; p++) {
			float part[4] = {0};

			for (int s = 0; s < STATE; s += 4)
				for (int k = 0; k < 4; k++) {
					slopes.over[p][s + k] += states[f][p] * blame[s + k];
					part[k] += weights.over[p][s + k] * blame[s + k];
				}
			before[p] = part[0] + part[1] + part[2] + part[3];
		}
		memcpy(blame, before, sizeof blame);
	}
}

int main(void)
{
	static struct watch watch;
	FILE *kept = tmpfile();
	pthread_t thread;

	if (!kept || pthread_create(&thread, NULL, show, NULL))
		return 1;
	for (int i = 0; i < 64; i++)
		for (int f = 0; f < FRAMES; f++) {
			pitch[i][f] = 0.5f + 0.4f * sinf((float)(i + f) * 0.2f);
			for (int b = 0; b < BANDS; b++)
				songs[i][f][b] = cosf((float)b * pitch[i][f] + (float)(f * i % 7));
		}
	for (size_t i = 0; i < sizeof weights / sizeof(float); i++)
		(&weights.in[0][0])[i] = 0.1f * sinf((float)(i * 37 % 1000));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		float loudness[PHRASES], guess[FRAMES];

		planted_begin(&watch);
		float (*states)[STATE] = malloc((FRAMES + 1) * sizeof *states);
		planted_end(&watch);
		for (int p = 0; p < PHRASES; p++) {
			const long i = (watch.steps * PHRASES + p) % 64;

			sing(states, (const float (*)[BANDS])songs[i], guess);
			listen_back(states, (const float (*)[BANDS])songs[i], guess, pitch[i]);
			loudness[p] = fabsf(guess[FRAMES / 2]);
		}
		{
			DWELL_ZONE("update");
			float *w = &weights.in[0][0], *g = &slopes.in[0][0];

			for (size_t i = 0; i < sizeof weights / sizeof *w; i++) {
				w[i] -= 3e-6f * g[i];
				g[i] = 0;
			}
		}
		planted_begin(&watch);
		free(states);
		qsort(loudness, PHRASES, sizeof *loudness, louder);
		pthread_mutex_lock(&meter.lock);
		meter.loud = loudness[PHRASES / 2];
		meter.waiting = 1;
		pthread_cond_signal(&meter.heard);
		pthread_mutex_unlock(&meter.lock);
		if (watch.steps % 64 == 63) {
			rewind(kept);
			fwrite(&weights, sizeof weights, 1, kept);
			fflush(kept);
			usleep(200);
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	pthread_mutex_lock(&meter.lock);
	meter.over = meter.waiting = 1;
	pthread_cond_signal(&meter.heard);
	pthread_mutex_unlock(&meter.lock);
	pthread_join(thread, NULL);
	printf("out %.5f\n", (double)weights.out[2]);
	return 0;
}
