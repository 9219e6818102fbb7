/*
 * Scores the reviews of a canteen: words become rows of a table, a pooled network tells how content the guest was.
 *
 * Planted: the stemmer is a child process behind a socketpair, and it is asked for one word at a time.
 * Truth: time in writing to the child and in waiting for its answers, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 8192
#define DIM 96
#define WIDE 160
#define REVIEWS 24
#define WORDS 10

static float table[ROWS][DIM], dense[WIDE][DIM], mix[WIDE][WIDE], last[WIDE];
static const char *const menu[] = {"soups", "tasted", "burning", "fries", "salted", "waiting", "queues", "lovely", "cakes",
                                   "warmed", "served", "smiling", "cold", "plates", "crumbs", "peas", "boiled", "rushed"};

/* The child: strips usual endings until its parent closes the socket. */
static void stem_words(int socket)
{
	char word[32];
	ssize_t n;

	while ((n = read(socket, word, sizeof word - 1)) > 0) {
		word[n] = 0;
		for (char *c = word; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		static const char *const endings[] = {"ing", "ed", "es", "s", "ly"};
		for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
			size_t all = strlen(word), end = strlen(endings[e]);
			if (all > end + 2 && !strcmp(word + all - end, endings[e])) {
				word[all - end] = 0;
				break;
			}
		}
		if (write(socket, word, strlen(word)) < 0)
			break;
	}
	_exit(0);
}

static uint32_t hash(const char *word, ssize_t n)
{
	uint32_t h = 2166136261u;

	for (ssize_t i = 0; i < n; i++)
		h = (h ^ (uint32_t)word[i]) * 16777619u;
	return h % ROWS;
}

static uint32_t row_of(int stemmer, const char *word)
{
	char stem[32];
	ssize_t n;

	if (write(stemmer, word, strlen(word)) < 0 || (n = read(stemmer, stem, sizeof stem)) <= 0)
		exit(1);
	return hash(stem, n);
}

static float score(const uint32_t *rows)
{
	float pooled[DIM] = {0}, a[WIDE], b[WIDE], sum = 0;

	for (int w = 0; w < WORDS; w++)
		for (int d = 0; d < DIM; d++)
			pooled[d] += table[rows[w]][d] / WORDS;
	for (int o = 0; o < WIDE; o++) {
		float s = 0;
		for (int d = 0; d < DIM; d++)
			s += dense[o][d] * pooled[d];
		a[o] = s > 0 ? s : 0;
	}
	for (int layer = 0; layer < 12; layer++) {
		for (int o = 0; o < WIDE; o++) {
			float s = 0;
			for (int d = 0; d < WIDE; d++)
				s += mix[o][d] * a[d];
			b[o] = tanhf(s) + a[o];
		}
		memcpy(a, b, sizeof a);
	}
	for (int o = 0; o < WIDE; o++)
		sum += last[o] * a[o];
	return 1 / (1 + expf(-sum));
}

static void fill(float *numbers, size_t count, float scale)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] = scale * (float)(rand() % 200 - 100) / 100;
}

int main(void)
{
	struct watch watch;
	int pair[2];
	float content = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return 1;
	pid_t child = fork();
	if (!child) {
		close(pair[0]);
		stem_words(pair[1]);
	}
	close(pair[1]);
	fill(&table[0][0], ROWS * DIM, 1);
	fill(&mix[0][0], WIDE * WIDE, 0.11f);
	fill(&dense[0][0], WIDE * DIM, 0.33f);
	fill(last, WIDE, 0.1f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		uint32_t rows[REVIEWS][WORDS];

		planted_begin(&watch);
		for (int r = 0; r < REVIEWS; r++)
			for (int w = 0; w < WORDS; w++)
				rows[r][w] = row_of(pair[0], menu[(r * 5 + w * 3 + watch.steps) % 18]);
		planted_end(&watch);
		DWELL_ZONE("score");
		for (int r = 0; r < REVIEWS; r++)
			content += score(rows[r]);
	}
	watch_tell(&watch);
	close(pair[0]);
	waitpid(child, NULL, 0);
	fprintf(stderr, "content %g\n", (double)content / watch.steps / REVIEWS);
	return 0;
}
