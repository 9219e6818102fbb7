/*
 * A network of gated cells that learns how wind turns.
 *
 * Planted: nothing. Operators take all of a step.
 * Truth: time of the update, the smallest of the operators, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <string.h>

enum { SECONDS = 5, HOURS = 12, UNITS = 160, PLACES = 12 };

static float states[HOURS + 1][PLACES][UNITS];
static float gates[HOURS][PLACES][UNITS], news[HOURS][PLACES][UNITS];
static float gate_weights[UNITS][UNITS], new_weights[UNITS][UNITS];
static float gate_slopes[UNITS][UNITS], new_slopes[UNITS][UNITS];

static float inner(const float *left, const float *right)
{
	float sum = 0;

	for (int at = 0; at < UNITS; at++)
		sum += left[at] * right[at];
	return sum;
}

static void cell(int hour)
{
	DWELL_OP("cell");
	for (int place = 0; place < PLACES; place++)
		for (int unit = 0; unit < UNITS; unit++) {
			float wind = sinf((float)(hour * 3 + place + unit));
			float gate = 1 / (1 + expf(-inner(states[hour][place], gate_weights[unit]) - wind));
			float new = tanhf(inner(states[hour][place], new_weights[unit]) + wind);

			gates[hour][place][unit] = gate;
			news[hour][place][unit] = new;
			states[hour + 1][place][unit] = gate * states[hour][place][unit] + (1 - gate) * new;
		}
}

static void cell_backward(int hour)
{
	DWELL_OP("cell, backward");
	for (int place = 0; place < PLACES; place++)
		for (int unit = 0; unit < UNITS; unit++) {
			float error = states[hour + 1][place][unit] - 0.2f;
			float gate = error * gates[hour][place][unit], new = error * news[hour][place][unit];

			for (int at = 0; at < UNITS; at++)
				gate_slopes[unit][at] += gate * states[hour][place][at];
			for (int at = 0; at < UNITS; at++)
				new_slopes[unit][at] += new * states[hour][place][at];
		}
}

static void update(void)
{
	DWELL_OP("sgd");
	for (int unit = 0; unit < UNITS; unit++)
		for (int at = 0; at < UNITS; at++) {
			gate_weights[unit][at] -= 1e-6f * gate_slopes[unit][at];
			new_weights[unit][at] -= 1e-6f * new_slopes[unit][at];
		}
	memset(gate_slopes, 0, sizeof(gate_slopes));
	memset(new_slopes, 0, sizeof(new_slopes));
}

int main(void)
{
	struct watch watch;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			for (int hour = 0; hour < HOURS; hour++)
				cell(hour);
		}
		{
			DWELL_ZONE("backward");
			for (int hour = HOURS - 1; hour >= 0; hour--)
				cell_backward(hour);
		}
		DWELL_ZONE("optimizer");
		planted_begin(&watch);
		update();
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
