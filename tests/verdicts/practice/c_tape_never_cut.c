/*
 * A small automatic differentiation with a tape of nodes.
 *
 * Planted: the tape is never cut, so the backward of each step walks through the nodes of all earlier ones.
 * Truth: time of walking through old nodes, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 6, PER_STEP = 700, UNITS = 1100 };

struct node {
	struct node *before;
	float value, slope;
	int step;
};

static struct node *last;
static float weights[UNITS][UNITS], input[UNITS], output[UNITS];

static void forward(int step)
{
	DWELL_PHASE("forward");
	for (int unit = 0; unit < UNITS; unit++) {
		float sum = 0;

		for (int from = 0; from < UNITS; from++)
			sum += weights[unit][from] * input[from];
		output[unit] = sum;
	}
	for (int at = 0; at < PER_STEP; at++) {
		struct node *node = malloc(sizeof(*node));

		node->before = last;
		node->value = output[at % UNITS];
		node->slope = 0;
		node->step = step;
		last = node;
	}
}

static void backward(struct watch *watch)
{
	DWELL_PHASE("backward");
	struct node *node = last;
	float carry = 1;

	for (int at = 0; at < PER_STEP; at++, node = node->before)
		node->slope += carry * node->value;
	planted_begin(watch);
	for (; node; node = node->before)
		node->slope += carry * 0.5f;
	planted_end(watch);
	for (int unit = 0; unit < UNITS; unit++)
		for (int from = 0; from < UNITS; from++)
			weights[unit][from] -= 1e-7f * output[unit] * input[from];
}

int main(void)
{
	struct watch watch;

	for (int unit = 0; unit < UNITS; unit++) {
		input[unit] = (float)(unit % 31) / 31;
		for (int from = 0; from < UNITS; from++)
			weights[unit][from] = (float)((unit + from) % 13 - 6) / 1000;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		forward(watch.steps);
		backward(&watch);
	}
	watch_tell(&watch);
	return 0;
}
