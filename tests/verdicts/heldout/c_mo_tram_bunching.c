/*
 * A dispatcher of trams learns when to hold a tram at a stop, from a memory of what it has done (Q-learning with a
 * network of two layers, rank-based prioritized replay).
 *
 * Planted: in each 40th step the whole memory is ranked anew with qsort(), within the step.
 * Truth: time of ranking, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 48, HIDDEN = 96, HOLDS = 6, MEMORY = 260000, DRAW = 128, RANK_EVERY = 40 };

struct ride {
	float before[LINE], after[LINE], reward;
	int hold;
};

struct place {
	float surprise;
	int ride;
};

struct net {
	float in[HIDDEN][LINE], out[HOLDS][HIDDEN];
};

static struct ride *rides;
static struct place *ranked;
static float *surprise;
static struct net online, target;
static unsigned seed = 77;

static unsigned any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	return seed ^= seed << 5;
}

static float uniform(void)
{
	return (float)(any() & 0xffff) / 65536.0f;
}

static void drive(struct ride *ride)
{
	ride->hold = (int)(any() % HOLDS);
	for (int i = 0; i < LINE; i++) {
		ride->before[i] = uniform();
		ride->after[i] = 0.9f * ride->before[i] + 0.02f * (float)ride->hold;
	}
	ride->reward = -fabsf(ride->before[0] - ride->before[LINE / 2]) - 0.05f * (float)ride->hold;
}

static int by_surprise(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->surprise != right->surprise)
		return left->surprise < right->surprise ? 1 : -1;
	return left->ride - right->ride;
}

static void rank_memory(void)
{
	for (int i = 0; i < MEMORY; i++)
		ranked[i] = (struct place){ surprise[i], i };
	qsort(ranked, MEMORY, sizeof *ranked, by_surprise);
}

static void value(const struct net *net, const float *stops, float *hidden, float *holds)
{
	for (int h = 0; h < HIDDEN; h++) {
		float sum = 0;

		for (int i = 0; i < LINE; i++)
			sum += net->in[h][i] * stops[i];
		hidden[h] = sum > 0 ? sum : 0.01f * sum;
	}
	for (int k = 0; k < HOLDS; k++) {
		float sum = 0;

		for (int h = 0; h < HIDDEN; h++)
			sum += net->out[k][h] * hidden[h];
		holds[k] = sum;
	}
}

static float learn_from(int number)
{
	const struct ride *ride = &rides[number];
	float hidden[HIDDEN], then[HIDDEN], holds[HOLDS], later[HOLDS], best;

	value(&online, ride->before, hidden, holds);
	value(&target, ride->after, then, later);
	best = later[0];
	for (int k = 1; k < HOLDS; k++)
		best = later[k] > best ? later[k] : best;
	const float miss = holds[ride->hold] - (ride->reward + 0.9f * best);
	const float rate = 0.0005f * fmaxf(-1, fminf(1, miss));

	for (int h = 0; h < HIDDEN; h++) {
		const float back = rate * online.out[ride->hold][h] * (hidden[h] > 0 ? 1.0f : 0.01f);

		online.out[ride->hold][h] -= rate * hidden[h];
		for (int i = 0; i < LINE; i++)
			online.in[h][i] -= back * ride->before[i];
	}
	surprise[number] = fabsf(miss);
	return miss * miss;
}

int main(void)
{
	struct watch watch;
	float loss = 0;

	rides = calloc(MEMORY, sizeof *rides);
	ranked = calloc(MEMORY, sizeof *ranked);
	surprise = calloc(MEMORY, sizeof *surprise);
	for (int i = 0; i < MEMORY; i++) {
		drive(&rides[i]);
		surprise[i] = uniform();
	}
	for (int h = 0; h < HIDDEN; h++) {
		for (int i = 0; i < LINE; i++)
			online.in[h][i] = 0.3f * (uniform() - 0.5f);
		for (int k = 0; k < HOLDS; k++)
			online.out[k][h] = 0.3f * (uniform() - 0.5f);
	}
	target = online;
	rank_memory();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("drive");
			for (int n = 0; n < 16; n++) {
				const int at = (watch.steps * 16 + n) % MEMORY;

				drive(&rides[at]);
				surprise[at] = 1;
			}
		}
		if (watch.steps % RANK_EVERY == RANK_EVERY - 1) {
			DWELL_ZONE("replay memory");
			planted_begin(&watch);
			rank_memory();
			planted_end(&watch);
			target = online;
		}
		DWELL_ZONE("learn");
		loss = 0;
		for (int n = 0; n < DRAW; n++) {
			const float u = uniform();

			loss += learn_from(ranked[(int)(u * u * u * (MEMORY - 1))].ride);
		}
	}
	watch_tell(&watch);
	printf("loss %.4f\n", (double)loss / DRAW);
	return 0;
}
