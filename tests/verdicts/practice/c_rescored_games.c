/*
 * Ratings of chess players, learned from games as they are played.
 *
 * Planted: each step goes again through all games so far, which become more and more.
 * Truth: time of the games before this step's, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>

enum { SECONDS = 6, PLAYERS = 5000, GAMES = 400000, NEW = 100, FIXED = 2400 };

static float ratings[PLAYERS];
static struct {
	int white, black;
	float result;
} games[GAMES];

static double replay(int from, int to)
{
	double loss = 0;

	for (int at = from; at < to; at++) {
		float gap = ratings[games[at].white] - ratings[games[at].black];
		float error = 1 / (1 + expf(-gap)) - games[at].result;

		ratings[games[at].white] -= 1e-4f * error;
		ratings[games[at].black] += 1e-4f * error;
		loss += error * error;
	}
	return loss;
}

int main(void)
{
	struct watch watch;
	double loss = 0;
	int played = 0;

	for (int at = 0; at < GAMES; at++) {
		games[at].white = (int)(at * 7919LL % PLAYERS);
		games[at].black = (int)(at * 104729LL % PLAYERS);
		games[at].result = (float)(at % 3) / 2;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS && played + NEW <= GAMES; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_OP("replay all");
			planted_begin(&watch);
			loss = replay(0, played);
			planted_end(&watch);
		}
		DWELL_OP("new games");
		for (int round = 0; round < FIXED; round++)
			loss += replay(played, played + NEW);
		played += NEW;
	}
	watch_tell(&watch);
	return loss < 0;
}
