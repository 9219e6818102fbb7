/*
 * Word vectors from a crawl. Documents whose shingles were seen before are left out.
 *
 * Planted: the table of shingles has 4096 chains for ever, so the search for one takes longer with each step.
 * Truth: time of the search, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { Chains = 4096, Shingles = 850, Vocabulary = 8000, Dim = 100, Pairs = 4500, Negatives = 4 };

struct shingle {
	uint64_t hash;
	struct shingle *next;
};

static struct shingle *chains[Chains];
static float in[Vocabulary][Dim], out[Vocabulary][Dim];
static uint64_t random_state = 88172645463325252ull;

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static bool seen(uint64_t hash)
{
	struct shingle **chain = &chains[hash % Chains], *at;

	for (at = *chain; at; at = at->next)
		if (at->hash == hash)
			return true;
	at = malloc(sizeof(*at));
	if (!at)
		abort();
	*at = (struct shingle){ hash, *chain };
	*chain = at;
	return false;
}

static int fresh_shingles(void)
{
	DWELL_ZONE("deduplicate");
	int fresh = 0;

	for (int i = 0; i < Shingles; i++)
		fresh += !seen(draw());
	return fresh;
}

static void pair(float *word, float *context, float label)
{
	float sum = 0, step;

	for (int i = 0; i < Dim; i++)
		sum += word[i] * context[i];
	step = 0.025f * (label - (sum > 0.5f ? 1 : sum < -0.5f ? 0 : sum + 0.5f));
	for (int i = 0; i < Dim; i++) {
		float before = word[i];

		word[i] += step * context[i];
		context[i] += step * before;
	}
}

static void skip_grams(void)
{
	DWELL_ZONE("skip-grams");
	for (int p = 0; p < Pairs; p++) {
		float *word = in[draw() % Vocabulary];

		pair(word, out[draw() % Vocabulary], 1);
		for (int n = 0; n < Negatives; n++)
			pair(word, out[draw() % Vocabulary], 0);
	}
}

int main(void)
{
	struct watch watch;
	long fresh = 0;

	for (int w = 0; w < Vocabulary; w++)
		for (int i = 0; i < Dim; i++)
			in[w][i] = (float)(draw() % 1000) / 1e4f - 0.05f;
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		planted_begin(&watch);
		fresh += fresh_shingles();
		planted_end(&watch);
		skip_grams();
		watch.steps++;
	}
	watch_tell(&watch);
	printf("%ld fresh shingles\n", fresh);
	return 0;
}
