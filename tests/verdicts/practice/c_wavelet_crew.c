/*
 * Cleans old recordings: a bank of wavelets splits the sound, and a gain for each band and moment is learnt.
 *
 * Planted: nothing. The loop and a helper have half of the bands each and meet at a barrier twice in each step.
 * Truth: time of the sum of both halves, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define BANDS 24
#define TAPS 64
#define SOUND 3000

static float noisy[SOUND + TAPS], clean[SOUND + TAPS], wavelet[BANDS][TAPS], gain[BANDS][TAPS];
static float split[BANDS][SOUND], half_error[2][SOUND];
static pthread_barrier_t begin, end;
static atomic_int ended;

static void analyse_band(int band)
{
	for (int s = 0; s < SOUND; s++) {
		float sum = 0;

		for (int t = 0; t < TAPS; t++)
			sum += wavelet[band][t] * noisy[s + t];
		split[band][s] = sum;
	}
}

static void learn_band(int band, float *error)
{
	for (int s = 0; s < SOUND; s++) {
		float *g = &gain[band][s % TAPS], rest = *g * split[band][s] - clean[s] / BANDS;

		*g -= 1e-4f * rest * split[band][s];
		error[s] += rest * rest;
		for (int t = 0; t < TAPS; t++)
			wavelet[band][t] -= 1e-8f * rest * noisy[s + t];
	}
}

static void do_half(int half)
{
	for (int s = 0; s < SOUND; s++)
		half_error[half][s] = 0;
	for (int band = half; band < BANDS; band += 2) {
		{
			DWELL_ZONE("analyse band");
			analyse_band(band);
		}
		DWELL_ZONE("learn band");
		learn_band(band, half_error[half]);
	}
}

static void *help(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		if (atomic_load(&ended))
			return unused;
		do_half(1);
		pthread_barrier_wait(&end);
	}
}

int main(void)
{
	struct watch watch;
	pthread_t helper;
	float loudest = 0;

	for (int s = 0; s < SOUND + TAPS; s++) {
		clean[s] = sinf((float)s * 0.07f);
		noisy[s] = clean[s] + (float)(rand() % 100 - 50) / 200;
	}
	for (int b = 0; b < BANDS; b++)
		for (int t = 0; t < TAPS; t++)
			wavelet[b][t] = cosf((float)(t * (b + 1)) * 0.1f) * expf(-(float)(t * t) / 900) / 16;
	pthread_barrier_init(&begin, NULL, 2);
	pthread_barrier_init(&end, NULL, 2);
	pthread_create(&helper, NULL, help, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		pthread_barrier_wait(&begin);
		do_half(0);
		pthread_barrier_wait(&end);
		planted_begin(&watch);
		for (int s = 0; s < SOUND; s++)
			loudest = fmaxf(loudest, half_error[0][s] + half_error[1][s]);
		planted_end(&watch);
	}
	watch_tell(&watch);
	atomic_store(&ended, 1);
	pthread_barrier_wait(&begin);
	pthread_join(helper, NULL);
	return loudest < 0;
}
