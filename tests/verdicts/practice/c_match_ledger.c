/*
 * Two hundred players of a card game learn from each other; who meets whom is decided by their ratings.
 *
 * Planted: for the ratings the file of all matches is read from its beginning in each round, and it grows.
 * Truth: time of reading the file, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLAYERS = 200, CARDS = 52, UNITS = 48, MATCHES = 24 };

static float policy[PLAYERS][UNITS][CARDS];
static double rating[PLAYERS];
static FILE *ledger;

/* Elo from the first match on. */
static void rate_players(void)
{
	char text[64];
	int one, two, won;

	for (int p = 0; p < PLAYERS; p++)
		rating[p] = 1500;
	fflush(ledger);
	rewind(ledger);
	while (fgets(text, sizeof text, ledger)) {
		double expected, gain;

		if (sscanf(text, "%d,%d,%d", &one, &two, &won) != 3)
			continue;
		expected = 1 / (1 + exp((rating[two] - rating[one]) / 174));
		gain = 16 * (won - expected);
		rating[one] += gain;
		rating[two] -= gain;
	}
	fseek(ledger, 0, SEEK_END);
}

static float play(int player, const float *hand, float reward)
{
	float value = 0;

	for (int u = 0; u < UNITS; u++) {
		float sum = 0, back;

		for (int c = 0; c < CARDS; c++)
			sum += policy[player][u][c] * hand[c];
		back = 1e-4f * (reward - sum);
		for (int c = 0; c < CARDS; c++)
			policy[player][u][c] += back * hand[c];
		value += sum;
	}
	return value;
}

static void play_round(int round)
{
	float hand[2][CARDS], value[2];

	for (int match = 0; match < MATCHES; match++) {
		int one = (round * 7 + match) % PLAYERS, two = (one + 1 + (rating[one] > 1500) * 3 + match) % PLAYERS;

		for (int deal = 0; deal < 36; deal++) {
			for (int c = 0; c < CARDS; c++) {
				hand[0][c] = (float)(rand() & 1);
				hand[1][c] = 1 - hand[0][c];
			}
			value[0] = play(one, hand[0], 1);
			value[1] = play(two, hand[1], -1);
		}
		fprintf(ledger, "%d,%d,%d\n", one, two, value[0] > value[1]);
	}
}

int main(void)
{
	char name[] = "matches-XXXXXX";
	struct watch watch;

	ledger = fdopen(mkstemp(name), "r+");
	unlink(name);
	for (int p = 0; p < PLAYERS; p++)
		for (int u = 0; u < UNITS; u++)
			for (int c = 0; c < CARDS; c++)
				policy[p][u][c] = (float)(rand() % 100 - 50) / 500;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		{
			DWELL_ZONE("rate players");
			rate_players();
		}
		planted_end(&watch);
		DWELL_ZONE("play round");
		play_round(watch.steps);
	}
	watch_tell(&watch);
	fclose(ledger);
	return 0;
}
