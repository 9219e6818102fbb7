/*
 * Learns when trams are late; it saves and evaluates often, but little.
 *
 * Decoy: every 60th step saves the few weights, and every 20th evaluates a few trams that were held
 * back.
 * Truth: time of both, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

enum { SECONDS = 5, TRAMS = 2400, HELD = 200, FACTS = 520 };

static float trams[TRAMS + HELD][FACTS], weights[FACTS];

static float guess(int tram)
{
	float sum = 0;

	for (int fact = 0; fact < FACTS; fact++)
		sum += trams[tram][fact] * weights[fact];
	return sum;
}

static void learn(void)
{
	DWELL_OP("lateness, gradient");
	for (int tram = 0; tram < TRAMS; tram++) {
		float error = guess(tram) - (float)(tram % 6);

		for (int fact = 0; fact < FACTS; fact++)
			weights[fact] -= 1e-7f * error * trams[tram][fact];
	}
}

static void save(void)
{
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
	FILE *file = fopen("weights.bin", "w");

	fwrite(weights, sizeof(weights), 1, file);
	fclose(file);
}

static float evaluate(void)
{
	float loss = 0;

	DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "held back");
	for (int tram = TRAMS; tram < TRAMS + HELD; tram++)
		loss += (guess(tram) - (float)(tram % 6)) * (guess(tram) - (float)(tram % 6));
	return loss;
}

int main(void)
{
	struct watch watch;
	float loss = 0;

	for (int at = 0; at < (TRAMS + HELD) * FACTS; at++)
		trams[at / FACTS][at % FACTS] = (float)(at % 107) / 107;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		learn();
		planted_begin(&watch);
		if (watch.steps % 60 == 59)
			save();
		if (watch.steps % 20 == 19)
			loss += evaluate();
		planted_end(&watch);
	}
	printf("loss %g\n", (double)loss);
	watch_tell(&watch);
	return 0;
}
