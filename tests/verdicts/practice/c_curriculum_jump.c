/*
 * Attention over poems, with a curriculum: lines first, then whole stanzas.
 *
 * Planted: after 2.5 seconds the poems are twice as long, and each step takes longer from then on.
 * Truth: time of the later steps beyond the median of the earlier ones, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 6, WIDTH = 64, LONGEST = 192, MOST = 4000 };

static float words[LONGEST][WIDTH], scores[LONGEST][LONGEST], mixed[LONGEST][WIDTH];

static void attention(int length)
{
	DWELL_LAYER("attention");
	for (int to = 0; to < length; to++) {
		float all = 0;

		for (int from = 0; from < length; from++) {
			float sum = 0;

			for (int at = 0; at < WIDTH; at++)
				sum += words[to][at] * words[from][at];
			scores[to][from] = expf(sum * 0.1f);
			all += scores[to][from];
		}
		for (int at = 0; at < WIDTH; at++)
			mixed[to][at] = 0;
		for (int from = 0; from < length; from++)
			for (int at = 0; at < WIDTH; at++)
				mixed[to][at] += scores[to][from] / all * words[from][at];
	}
}

static void learn(int length)
{
	DWELL_LAYER("feed_forward");
	for (int to = 0; to < length; to++)
		for (int unit = 0; unit < WIDTH; unit++) {
			float sum = 0;

			for (int at = 0; at < WIDTH; at++)
				sum += mixed[to][at] * words[unit][at];
			words[to][unit] -= 1e-4f * sum;
		}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	struct watch watch;
	static double early[MOST];
	int count = 0;
	double late = 0, jumped = 2.5;
	int late_count = 0;

	for (int to = 0; to < LONGEST; to++)
		for (int at = 0; at < WIDTH; at++)
			words[to][at] = (float)((to * 5 + at * 3) % 29) / 29;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		double began = now_s();
		int is_late = watch_seconds(&watch) > jumped;
		{
			DWELL_STEP();
			for (int poem = 0; poem < 6; poem++) {
				attention(is_late ? 136 : 96);
				learn(is_late ? 136 : 96);
			}
		}
		if (!is_late && count < MOST)
			early[count++] = now_s() - began;
		if (is_late) {
			late += now_s() - began;
			late_count++;
		}
	}
	qsort(early, (size_t)count, sizeof(early[0]), by_size);
	watch_tell_share(&watch, (late - late_count * early[count / 2]) / watch_seconds(&watch));
	return 0;
}
