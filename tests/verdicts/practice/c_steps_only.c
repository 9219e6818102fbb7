/*
 * Clusters of sounds by k-means; the author marked the steps and named nothing.
 *
 * Planted: nothing. All of the step is distances.
 * Truth: time of moving the centres, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 5, SOUNDS = 6000, CENTRES = 48, WIDTH = 24 };

static float sounds[SOUNDS][WIDTH], centres[CENTRES][WIDTH], sums[CENTRES][WIDTH];
static int counts[CENTRES], nearest[SOUNDS];

static void assign(void)
{
	for (int sound = 0; sound < SOUNDS; sound++) {
		float best = 1e30f;

		for (int centre = 0; centre < CENTRES; centre++) {
			float sum = 0;

			for (int at = 0; at < WIDTH; at++) {
				float off = sounds[sound][at] - centres[centre][at];

				sum += off * off;
			}
			if (sum < best) {
				best = sum;
				nearest[sound] = centre;
			}
		}
	}
}

static void move(void)
{
	memset(sums, 0, sizeof(sums));
	memset(counts, 0, sizeof(counts));
	for (int sound = 0; sound < SOUNDS; sound++) {
		counts[nearest[sound]]++;
		for (int at = 0; at < WIDTH; at++)
			sums[nearest[sound]][at] += sounds[sound][at];
	}
	for (int centre = 0; centre < CENTRES; centre++)
		for (int at = 0; at < WIDTH; at++)
			if (counts[centre])
				centres[centre][at] = sums[centre][at] / (float)counts[centre];
}

int main(void)
{
	struct watch watch;

	srand(21);
	for (int at = 0; at < SOUNDS * WIDTH; at++)
		((float *)sounds)[at] = (float)(rand() % 1000) / 1000;
	memcpy(centres, sounds, sizeof(centres));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		assign();
		planted_begin(&watch);
		move();
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
