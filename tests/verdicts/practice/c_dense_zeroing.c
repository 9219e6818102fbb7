/*
 * Trains embeddings of words; a batch uses a few hundred rows of a large table.
 *
 * Planted: the whole gradient table is set to zero in each step, though few rows of it were written.
 * Truth: time of zeroing, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 5, WORDS = 300000, WIDTH = 64, PAIRS = 60000 };

static float (*table)[WIDTH], (*gradients)[WIDTH];
static int left[PAIRS], right[PAIRS];

int main(void)
{
	struct watch watch;

	srand(8);
	table = malloc(WORDS * sizeof(*table));
	gradients = malloc(WORDS * sizeof(*gradients));
	for (int word = 0; word < WORDS; word++)
		for (int at = 0; at < WIDTH; at++)
			table[word][at] = (float)((word + at * 7) % 23 - 11) / 100;
	memset(gradients, 0, WORDS * sizeof(*gradients));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		{
			DWELL_ZONE("zero gradients");
			memset(gradients, 0, WORDS * sizeof(*gradients));
		}
		planted_end(&watch);
		DWELL_ZONE("skip-gram");
		for (int pair = 0; pair < PAIRS; pair++) {
			left[pair] = rand() % 500;
			right[pair] = rand() % 500;
		}
		for (int pair = 0; pair < PAIRS; pair++) {
			float *a = table[left[pair]], *b = table[right[pair]], sum = 0, slope;

			for (int at = 0; at < WIDTH; at++)
				sum += a[at] * b[at];
			slope = 1 / (1 + expf(-sum)) - (float)(pair % 6 == 0);
			for (int at = 0; at < WIDTH; at++) {
				gradients[left[pair]][at] += slope * b[at];
				gradients[right[pair]][at] += slope * a[at];
			}
		}
		for (int word = 0; word < 500; word++)
			for (int at = 0; at < WIDTH; at++)
				table[word][at] -= 1e-4f * gradients[word][at];
	}
	watch_tell(&watch);
	return 0;
}
