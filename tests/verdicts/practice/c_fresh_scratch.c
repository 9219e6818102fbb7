/*
 * Learns a filter for old gramophone records, with a spectrum for each window of sound.
 *
 * Planted: each step asks for 36 MB of zeroed scratch memory, touches it all, and returns it.
 * Truth: time of asking, touching and returning, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 6, WINDOW = 512, BANDS = 64, WINDOWS = 800, SCRATCH = 9 << 20 };

static float sound[WINDOW * WINDOWS], waves[BANDS][WINDOW], filter[BANDS];

static float *fresh(void)
{
	float *scratch = calloc(SCRATCH, sizeof(float));

	for (size_t at = 0; at < SCRATCH; at += 1024)
		scratch[at] = 1;
	return scratch;
}

static void spectra(float *scratch)
{
	DWELL_OP("spectra");
	for (int window = 0; window < WINDOWS; window++)
		for (int band = 0; band < BANDS; band++) {
			float sum = 0;

			for (int at = 0; at < WINDOW; at++)
				sum += sound[window * WINDOW + at] * waves[band][at];
			scratch[window * BANDS + band] = sum;
		}
}

static void learn(const float *scratch)
{
	DWELL_OP("learn filter");
	for (int window = 0; window < WINDOWS; window++, scratch += BANDS)
		for (int band = 0; band < BANDS; band++)
			filter[band] -= 1e-7f * (filter[band] * scratch[band] - 1) * scratch[band];
}

int main(void)
{
	struct watch watch;

	for (int at = 0; at < WINDOW * WINDOWS; at++)
		sound[at] = sinf((float)(at % 4001) * 0.07f);
	for (int band = 0; band < BANDS; band++)
		for (int at = 0; at < WINDOW; at++)
			waves[band][at] = cosf((float)(at * (band + 1)) * 0.006f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		float *scratch;

		DWELL_STEP();
		planted_begin(&watch);
		scratch = fresh();
		planted_end(&watch);
		spectra(scratch);
		learn(scratch);
		planted_begin(&watch);
		free(scratch);
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
