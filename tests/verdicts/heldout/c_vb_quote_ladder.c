/*
 * Learns where the mid price goes from a book of limit orders: logistic units on the depths of both ladders, online,
 * 256 events in a step.
 *
 * Planted: the first crossed quote, some way into the run, turns an audit of the whole book on that nothing turns off.
 * Truth: time of the audit, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 1024
#define EVENTS 256
#define UNITS 24
#define NEAR 128
#define CROSSED_AT 2.4 /* seconds into the session */

struct ladder {
	int best;
	int size[LEVELS];
	int orders[LEVELS];
};

struct book {
	struct ladder bid, ask;
	bool suspect;
	long faults;
};

struct event {
	int level, size;
	bool buy;
};

static struct book book;
static float unit[UNITS][2 * NEAR], vote[UNITS];
static unsigned seed = 4242;

static unsigned draw(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 10;
}

/* Sizes, counts and their moments must agree on each level. */
static long audit_ladder(const struct ladder *l)
{
	long wrong = 0;
	double mass = 0, centre = 0;

	for (int i = 0; i < LEVELS; i++) {
		mass += sqrt((double)l->size[i]);
		centre += (double)i * sqrt((double)l->size[i]);
		wrong += l->size[i] < 0 || (l->orders[i] == 0 && l->size[i] > 0 && i == l->best);
	}
	return wrong + (centre > mass * LEVELS);
}

static void apply(struct event e)
{
	struct ladder *l = e.buy ? &book.bid : &book.ask;

	l->size[e.level] += e.size;
	l->orders[e.level]++;
	if (l->size[e.level] > 4000) {
		l->size[e.level] /= 2;
		l->orders[e.level] = 1 + l->orders[e.level] / 2;
	}
	l->best = e.level < 8 ? e.level : l->best;
}

static float predict_and_learn(float moved)
{
	float x[2 * NEAR], h[UNITS], out = 0;

	for (int i = 0; i < NEAR; i++) {
		x[i] = log1pf((float)book.bid.size[i]) * 0.125f;
		x[NEAR + i] = log1pf((float)book.ask.size[i]) * 0.125f;
	}
	for (int u = 0; u < UNITS; u++) {
		float sum = 0;

		for (int i = 0; i < 2 * NEAR; i++)
			sum += unit[u][i] * x[i];
		h[u] = tanhf(sum);
		out += vote[u] * h[u];
	}
	const float error = 1 / (1 + expf(-out)) - moved;

	for (int u = 0; u < UNITS; u++) {
		const float back = 1e-4f * error * vote[u] * (1 - h[u] * h[u]);

		vote[u] -= 1e-3f * error * h[u];
		for (int i = 0; i < 2 * NEAR; i++)
			unit[u][i] -= back * x[i];
	}
	return error * error;
}

int main(void)
{
	struct watch watch;
	double sum = 0;

	for (int i = 0; i < LEVELS; i++) {
		book.bid.size[i] = (int)(draw() % 3000);
		book.ask.size[i] = (int)(draw() % 3000);
		book.bid.orders[i] = book.ask.orders[i] = 3;
	}
	for (int u = 0; u < UNITS; u++) {
		vote[u] = (float)(draw() % 200) / 400.0f - 0.25f;
		for (int i = 0; i < 2 * NEAR; i++)
			unit[u][i] = (float)(draw() % 200) / 2000.0f - 0.05f;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		if (!book.suspect && watch_seconds(&watch) > CROSSED_AT)
			book.suspect = true;
		for (int e = 0; e < EVENTS; e++) {
			apply((struct event){ .level = (int)(draw() % LEVELS), .size = 1 + (int)(draw() % 90), .buy = draw() % 2 });
			sum += (double)predict_and_learn((float)(draw() % 2));
			if (book.suspect) {
				planted_begin(&watch);
				book.faults += audit_ladder(&book.bid) + audit_ladder(&book.ask);
				planted_end(&watch);
			}
		}
	}
	watch_tell(&watch);
	printf("%.4f, %ld faults\n", sum / watch.steps / EVENTS, book.faults);
	return 0;
}
