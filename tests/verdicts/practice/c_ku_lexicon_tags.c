/*
 * Tags words of an old chronicle with an averaged perceptron, and counts for each word it meets how often it had which
 * tag.
 *
 * Planted: the counts are in a list that is searched from its head for each word, and it has a new word again and again.
 * Truth: time of these searches, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TAGS = 24, WORDS = 300, LETTERS = 14, TABLE = 1 << 14, FEATURES = 40, KNOWN = 1 << 17 };

struct entry {
	struct entry *next;
	char word[LETTERS];
	unsigned short count[TAGS];
};

static float weight[TABLE][TAGS], total[TABLE][TAGS];
static struct entry *head;
static unsigned spoken; /* different words that the chronicle has used */
static uint64_t dice = 88172645463325252ull;

static unsigned roll(unsigned below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (unsigned)(dice >> 33) % below;
}

static void spell(unsigned number, char *word)
{
	static const char *const part[] = { "al", "be", "cor", "den", "er", "fa", "gwin", "hal" };

	word[0] = 0;
	for (number = number * 2654435761u % 262144u; number && strlen(word) < LETTERS - 5; number /= 8)
		strcat(word, part[number % 8]);
}

static struct entry *remember(const char *word)
{
	struct entry *entry;

	for (entry = head; entry; entry = entry->next)
		if (strcmp(entry->word, word) == 0)
			return entry;
	entry = calloc(1, sizeof *entry);
	if (!entry)
		abort();
	strcpy(entry->word, word);
	entry->next = head;
	return head = entry;
}

static unsigned mix(unsigned a, unsigned b)
{
	return (a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 7;
}

static int predict(const unsigned *feature)
{
	float score[TAGS] = { 0 };
	int best = 0;

	for (int f = 0; f < FEATURES; f++)
		for (int t = 0; t < TAGS; t++)
			score[t] += weight[feature[f]][t];
	for (int t = 1; t < TAGS; t++)
		if (score[t] > score[best])
			best = t;
	return best;
}

int main(void)
{
	struct watch watch;
	long right = 0, seen = 0;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		static char page[WORDS][LETTERS];
		static int gold[WORDS], told[WORDS];
		static unsigned feature[WORDS][FEATURES];

		for (int w = 0; w < WORDS; w++) {
			const unsigned number = roll(30) == 0 && spoken < KNOWN ? spoken++ : roll(spoken + 1);

			spell(number, page[w]);
			gold[w] = (int)(mix(number, 5) % TAGS);
		}
		{
			DWELL_ZONE("features");
			for (int w = 0; w < WORDS; w++) {
				const size_t length = strlen(page[w]);
				unsigned hash = 17;

				for (int f = 0; f < FEATURES; f++) {
					const char *near = page[w + f % 3 < WORDS ? w + f % 3 : w];

					for (size_t k = 0; k < length; k++)
						hash = mix(hash + (unsigned)f, (unsigned)near[k]) + hash * 31;
					feature[w][f] = hash % TABLE;
				}
			}
		}
		{
			DWELL_ZONE("perceptron");
			for (int round = 0; round < 12; round++)
				for (int w = 0; w < WORDS; w++) {
					told[w] = predict(feature[w]);
					/* The margin's share goes to both tags, also of a right answer. */
					for (int f = 0; f < FEATURES; f++) {
						weight[feature[w][f]][gold[w]] += 0.01f;
						weight[feature[w][f]][told[w]] -= 0.01f;
						total[feature[w][f]][gold[w]] += weight[feature[w][f]][gold[w]];
					}
				}
		}
		for (int w = 0; w < WORDS; w++) {
			planted_begin(&watch);
			struct entry *entry = remember(page[w]);
			planted_end(&watch);

			entry->count[gold[w]]++;
			right += told[w] == gold[w];
			seen++;
		}
	}
	watch_tell(&watch);
	printf("right: %.3f, %u words\n", (double)right / (double)seen, spoken);
	return 0;
}
