/*
 * A perceptron in C that skips documents which it has seen.
 *
 * Planted: the numbers of all documents seen are in a list that is searched from its start, so
 * steps become longer.
 * Truth: time of the search, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>

enum { SECONDS = 7, DOCUMENTS = 40, WORDS = 6000, PASSES = 4, MOST = 200000 };

static float weights[WORDS], counts[DOCUMENTS][WORDS];
static unsigned seen[MOST];
static int seen_count;

static int is_new(unsigned document)
{
	for (int at = 0; at < seen_count; at++)
		if (seen[at] == document)
			return 0;
	if (seen_count < MOST)
		seen[seen_count++] = document;
	return 1;
}

static void learn(int document)
{
	float sum = 0;

	for (int word = 0; word < WORDS; word++)
		sum += weights[word] * counts[document][word];
	for (int word = 0; word < WORDS; word++)
		weights[word] += 1e-6f * (1 - sum) * counts[document][word];
}

int main(void)
{
	struct watch watch;
	unsigned next = 1;

	for (int document = 0; document < DOCUMENTS; document++)
		for (int word = 0; word < WORDS; word++)
			counts[document][word] = (float)((document * 5 + word * 3) % 13);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		int new_ones = 0;

		DWELL_STEP();
		planted_begin(&watch);
		{
			DWELL_ZONE("skip known");
			for (int document = 0; document < DOCUMENTS; document++) {
				new_ones += is_new(next);
				next += 2;
			}
		}
		planted_end(&watch);
		DWELL_ZONE("learn");
		for (int pass = 0; pass < PASSES; pass++)
			for (int document = 0; document < new_ones; document++)
				learn(document);
	}
	watch_tell(&watch);
	return 0;
}
