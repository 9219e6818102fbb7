/*
 * A model of lyrics: a log-linear layer, and counts of trigrams that it falls back to, both learned as the songs come in.
 *
 * Planted: the table of counts has 65536 lists and never gets more of them, so each look-up walks further than the one before.
 * Truth: time in the table of counts, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define WORDS 3000
#define FACTORS 48
#define SONG 2200
#define LISTS 65536

struct trigram { uint64_t key; unsigned count; struct trigram *next; };

static struct trigram *lists[LISTS];
static float before[WORDS][FACTORS], after[WORDS][FACTORS];
static int song[SONG];
static unsigned chance = 9;

static int draw(int below)
{
	chance = chance * 1103515245u + 12345u;
	return (int)((chance >> 8) % (unsigned)below);
}

static struct trigram *find(int a, int b, int c)
{
	const uint64_t key = ((uint64_t)a * WORDS + (uint64_t)b) * WORDS + (uint64_t)c;
	struct trigram **list = &lists[(key * 0x9e3779b97f4a7c15u >> 40) % LISTS], *at;

	for (at = *list; at; at = at->next)
		if (at->key == key)
			return at;
	at = malloc(sizeof *at);
	if (!at)
		abort();
	at->key = key, at->count = 0, at->next = *list;
	return *list = at;
}

static void next_song(void)
{
	for (int i = 0; i < SONG; i++)  /* half of the words are common ones */
		song[i] = draw(2) ? draw(60) : draw(WORDS);
}

static void count_song(void)
{
	DWELL_OP("count_trigrams");
	for (int i = 2; i < SONG; i++)
		find(song[i - 2], song[i - 1], song[i])->count++;
}

static float learn_song(void)
{
	float loss = 0;

	DWELL_OP("log_linear");
	for (int i = 1; i < SONG; i++) {
		float *now = before[song[i - 1]];

		for (int k = 0; k < 24; k++) {
			float *then = after[k ? draw(WORDS) : song[i]], score = 0, rate;

			for (int f = 0; f < FACTORS; f++)
				score += now[f] * then[f];
			score = 1 / (1 + expf(-score));
			loss -= logf(k ? 1.0001f - score : score + 0.0001f);
			rate = 0.03f * ((float)(k == 0) - score);
			for (int f = 0; f < FACTORS; f++) {
				const float old = now[f];

				now[f] += rate * then[f];
				then[f] += rate * old;
			}
		}
	}
	return loss / SONG;
}

int main(void)
{
	struct watch watch;
	float loss = 0;

	for (int w = 0; w < WORDS; w++)
		for (int f = 0; f < FACTORS; f++) {
			before[w][f] = ((float)draw(1000) / 1000 - 0.5f) / 5;
			after[w][f] = ((float)draw(1000) / 1000 - 0.5f) / 5;
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		dwell_step();
		next_song();
		planted_begin(&watch);
		count_song();
		planted_end(&watch);
		loss = learn_song();
	}
	dwell_step_end();
	watch_tell(&watch);
	printf("loss %.3f\n", (double)loss);
	return 0;
}
