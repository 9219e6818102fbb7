/*
 * A tagger of words: attention over whole sentences, one sentence a step.
 *
 * Planted: one sentence in ten has four times as many words as the others.
 * Truth: time of long sentences beyond that of as many short ones, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>

enum { SECONDS = 5, MOST = 320, WIDTH = 64 };

static float words[MOST][WIDTH], scores[MOST][MOST], mixed[MOST][WIDTH];

static void attention(int count)
{
	int64_t sizes[2] = { count, WIDTH };
	struct dwell_tensor shape = { sizes, 2, DWELL_FLOAT32 };

	DWELL_OP_SHAPES("attention", &shape, 1);
	for (int one = 0; one < count; one++) {
		float sum = 0;

		for (int other = 0; other < count; other++) {
			scores[one][other] = 0;
			for (int at = 0; at < WIDTH; at++)
				scores[one][other] += words[one][at] * words[other][at];
			scores[one][other] = expf(scores[one][other] / 8);
			sum += scores[one][other];
		}
		for (int at = 0; at < WIDTH; at++)
			mixed[one][at] = 0;
		for (int other = 0; other < count; other++)
			for (int at = 0; at < WIDTH; at++)
				mixed[one][at] += scores[one][other] / sum * words[other][at];
	}
}

static void learn(int count)
{
	int64_t sizes[2] = { count, WIDTH };
	struct dwell_tensor shape = { sizes, 2, DWELL_FLOAT32 };

	DWELL_OP_SHAPES("learn", &shape, 1);
	for (int round = 0; round < 120; round++)
		for (int one = 0; one < count; one++)
			for (int at = 0; at < WIDTH; at++)
				words[one][at] -= 1e-6f * (mixed[one][at] - 0.3f);
}

int main(void)
{
	double long_s = 0, short_s = 0;
	struct watch watch;
	int longs = 0;

	for (int word = 0; word < MOST; word++)
		for (int at = 0; at < WIDTH; at++)
			words[word][at] = (float)((word * 7 + at * 3) % 31) / 31;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		int is_long = watch.steps % 10 == 5, count = is_long ? MOST : MOST / 4 - watch.steps % 3;
		double before;

		DWELL_STEP();
		before = now_s();
		attention(count);
		learn(count);
		*(is_long ? &long_s : &short_s) += now_s() - before;
		longs += is_long;
	}
	long_s -= short_s / (watch.steps - longs) * longs;
	watch_tell_share(&watch, long_s / watch_seconds(&watch));
	return 0;
}
