/*
 * Defects of roof tiles: random features of small grey pictures, a softmax over nine kinds, momentum.
 *
 * Planted: after every fifth update the early stopping asks for the loss of the whole set of 480 tiles that were kept back.
 * Truth: time of these rounds, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 12, PIXELS = SIDE * SIDE, RANDOM = 320, KINDS = 9, BATCH = 128, KEPT = 480, TRAIN = 4096, PATIENCE_EVERY = 5 };

struct tiles {
	int count;
	unsigned char *pixels, *kinds;
};

struct stopper {
	double best;
	int since;
};

static float project[RANDOM][PIXELS], shift[RANDOM], weights[KINDS][RANDOM], pace[KINDS][RANDOM], gradient[KINDS][RANDOM];

static struct tiles bake(int count)
{
	struct tiles t = { count, malloc((size_t)count * PIXELS), malloc((size_t)count) };

	for (int i = 0; i < count; i++) {
		t.kinds[i] = (unsigned char)(rand() % KINDS);
		for (int p = 0; p < PIXELS; p++)
			t.pixels[i * PIXELS + p] = (unsigned char)((rand() % 180) + (p / SIDE == t.kinds[i] ? 75 : 0));
	}
	return t;
}

static float look(const struct tiles *t, int i, float *features, float *chances)
{
	float pixels[PIXELS], sum = 0, most = -1e9f;

	for (int p = 0; p < PIXELS; p++)
		pixels[p] = (float)t->pixels[i * PIXELS + p] / 255 - 0.4f;
	for (int r = 0; r < RANDOM; r++) {
		float dot = shift[r];

		for (int p = 0; p < PIXELS; p++)
			dot += project[r][p] * pixels[p];
		features[r] = cosf(dot) * 0.08f;
	}
	for (int k = 0; k < KINDS; k++) {
		chances[k] = 0;
		for (int r = 0; r < RANDOM; r++)
			chances[k] += weights[k][r] * features[r];
		most = chances[k] > most ? chances[k] : most;
	}
	for (int k = 0; k < KINDS; k++)
		sum += chances[k] = expf(chances[k] - most);
	for (int k = 0; k < KINDS; k++)
		chances[k] /= sum;
	return -logf(chances[t->kinds[i]] + 1e-9f);
}

static int should_stop(struct stopper *stopper, const struct tiles *kept)
{
	DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "kept tiles");
	float features[RANDOM], chances[KINDS];
	double loss = 0;

	for (int i = 0; i < kept->count; i++)
		loss += (double)look(kept, i, features, chances);
	loss /= kept->count;
	stopper->since = loss < stopper->best ? 0 : stopper->since + 1;
	if (loss < stopper->best)
		stopper->best = loss;
	return stopper->since > 100000;
}

static void learn(const struct tiles *t, int first)
{
	float features[RANDOM], chances[KINDS];
	DWELL_PHASE("learn");

	memset(gradient, 0, sizeof gradient);
	for (int n = 0; n < BATCH; n++) {
		const int i = (first + n) % t->count;

		look(t, i, features, chances);
		chances[t->kinds[i]] -= 1;
		for (int k = 0; k < KINDS; k++)
			for (int r = 0; r < RANDOM; r++)
				gradient[k][r] += chances[k] * features[r];
	}
	for (int k = 0; k < KINDS; k++)
		for (int r = 0; r < RANDOM; r++) {
			pace[k][r] = 0.9f * pace[k][r] + gradient[k][r] / BATCH;
			weights[k][r] -= 0.3f * pace[k][r];
		}
}

int main(void)
{
	struct watch watch;
	struct stopper stopper = { 1e9, 0 };
	const struct tiles train = bake(TRAIN), kept = bake(KEPT);
	int enough = 0;

	for (int r = 0; r < RANDOM; r++) {
		shift[r] = (float)(rand() % 6283) / 1000;
		for (int p = 0; p < PIXELS; p++)
			project[r][p] = (float)(rand() % 2001) / 2000 - 0.5f;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6 && !enough; watch.steps++) {
		DWELL_STEP();
		learn(&train, (int)(watch.steps * BATCH % TRAIN));
		if (watch.steps % PATIENCE_EVERY == PATIENCE_EVERY - 1) {
			planted_begin(&watch);
			enough = should_stop(&stopper, &kept);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	printf("best %.4f\n", stopper.best);
	return 0;
}
