/*
 * Writes tokens with a cache of keys; rarely used keys are thrown out now and then.
 *
 * Planted: each twentieth token sorts all keys by their use and moves the cache together.
 * Truth: time of that, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 5, KEYS = 24000, WIDTH = 48, EACH = 20, HEADS = 2 };

static float keys[KEYS][WIDTH], moved[KEYS][WIDTH], query[WIDTH], use[KEYS];
static int order[KEYS];

static int by_use(const void *a, const void *b)
{
	float x = use[*(const int *)a], y = use[*(const int *)b];

	return (x < y) - (x > y);
}

static void compact(int token)
{
	DWELL_ZONE("compact");
	for (int key = 0; key < KEYS; key++) {
		order[key] = key;
		use[key] += (float)((key * 7919 + token * 104729) % 10007) * 1e-4f;
	}
	qsort(order, KEYS, sizeof(order[0]), by_use);
	for (int key = 0; key < KEYS; key++)
		memcpy(moved[key], keys[order[key]], sizeof(moved[key]));
	memcpy(keys, moved, sizeof(keys));
	qsort(order, KEYS, sizeof(order[0]), by_use);
	for (int key = 0; key < KEYS; key++)
		for (int at = 0; at < WIDTH; at++)
			keys[key][at] = keys[key][at] * 0.999f + 1e-3f * sinf((float)(at + order[key] % 5));
}

static void decode(void)
{
	DWELL_ZONE("decode");
	for (int head = 0; head < HEADS; head++) {
		float all = 0;

		for (int key = 0; key < KEYS; key++) {
			float sum = 0;

			for (int at = 0; at < WIDTH; at++)
				sum += keys[key][at] * query[at];
			use[key] = 0.9f * use[key] + sum;
			all += sum;
		}
		query[head] = tanhf(all * 1e-5f);
	}
}

int main(void)
{
	struct watch watch;

	for (int key = 0; key < KEYS; key++)
		for (int at = 0; at < WIDTH; at++)
			keys[key][at] = (float)((key * 3 + at) % 17) / 17;
	for (int at = 0; at < WIDTH; at++)
		query[at] = 0.1f;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		decode();
		if (watch.steps % EACH == EACH - 1) {
			planted_begin(&watch);
			compact(watch.steps);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	return 0;
}
