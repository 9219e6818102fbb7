/*
 * Learns which way districts vote.
 *
 * Planted: every fourth step classifies all districts that were held back.
 * Truth: time of classifying, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

enum { SECONDS = 5, BATCH = 1500, HELD = 4000, FACTS = 500, PARTIES = 12, EVERY = 4 };

static float districts[BATCH + HELD][FACTS], weights[PARTIES][FACTS], scores[BATCH][PARTIES];

static float score(int district, int party)
{
	float sum = 0;

	for (int fact = 0; fact < FACTS; fact++)
		sum += districts[district][fact] * weights[party][fact];
	return sum;
}

static void forward(void)
{
	DWELL_ZONE("forward");
	for (int at = 0; at < BATCH; at++)
		for (int party = 0; party < PARTIES; party++)
			scores[at][party] = score(at, party);
}

static void backward(void)
{
	DWELL_ZONE("backward");
	for (int at = 0; at < BATCH; at++)
		for (int party = 0; party < PARTIES; party++)
			for (int fact = 0; fact < FACTS; fact++)
				weights[party][fact] -=
				    1e-7f * (scores[at][party] - (at % PARTIES == party)) * districts[at][fact];
}

static int evaluate(void)
{
	int right = 0;

	DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "districts held back");
	for (int at = BATCH; at < BATCH + HELD; at++) {
		int best = 0;
		float most = -1e9f;

		for (int party = 0; party < PARTIES; party++) {
			float votes = score(at, party);

			if (votes > most) {
				most = votes;
				best = party;
			}
		}
		right += best == at % PARTIES;
	}
	return right;
}

int main(void)
{
	struct watch watch;
	int right = 0;

	for (int at = 0; at < BATCH + HELD; at++)
		for (int fact = 0; fact < FACTS; fact++)
			districts[at][fact] = (float)((at * 17 + fact * 5) % 97) / 97;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		{
			DWELL_STEP();
			forward();
			backward();
		}
		if (watch.steps % EVERY == EVERY - 1) {
			planted_begin(&watch);
			right = evaluate();
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	printf("%d right\n", right);
	return 0;
}
