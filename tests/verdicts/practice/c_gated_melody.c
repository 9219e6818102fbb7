/*
 * A gated recurrent network in C that predicts melodies.
 *
 * Planted: nothing. Long recurrences are its work.
 * Truth: time of the update of the weights, which is the smallest named part, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 5, UNITS = 128, LENGTH = 48 };

static float gate[UNITS][UNITS], cell[UNITS][UNITS], gate_slopes[UNITS][UNITS],
    cell_slopes[UNITS][UNITS];
static float states[LENGTH + 1][UNITS], gates[LENGTH][UNITS], cells[LENGTH][UNITS];

static void forward(void)
{
	DWELL_ZONE("forward");
	for (int time = 0; time < LENGTH; time++) {
		DWELL_OP("gru_cell");
		for (int unit = 0; unit < UNITS; unit++) {
			float open = 0, value = (float)((time * 5 + unit) % 12) / 12;

			for (int from = 0; from < UNITS; from++) {
				open += gate[unit][from] * states[time][from];
				value += cell[unit][from] * states[time][from];
			}
			gates[time][unit] = 1 / (1 + expf(-open));
			cells[time][unit] = tanhf(value);
			states[time + 1][unit] = gates[time][unit] * states[time][unit] +
			                         (1 - gates[time][unit]) * cells[time][unit];
		}
	}
}

static void backward(void)
{
	DWELL_ZONE("backward");
	float slope[UNITS] = { 0 };

	for (int time = LENGTH - 1; time >= 0; time--) {
		DWELL_OP("gru_cell_backward");
		float before[UNITS] = { 0 };

		for (int unit = 0; unit < UNITS; unit++) {
			float all = slope[unit] + states[time + 1][unit] - 0.5f;
			float to_gate = all * (states[time][unit] - cells[time][unit]) * gates[time][unit] *
			                (1 - gates[time][unit]);
			float to_cell = all * (1 - gates[time][unit]) *
			                (1 - cells[time][unit] * cells[time][unit]);

			for (int from = 0; from < UNITS; from++) {
				gate_slopes[unit][from] += to_gate * states[time][from];
				cell_slopes[unit][from] += to_cell * states[time][from];
				before[from] += to_gate * gate[unit][from] + to_cell * cell[unit][from];
			}
			before[unit] += all * gates[time][unit];
		}
		for (int unit = 0; unit < UNITS; unit++)
			slope[unit] = before[unit];
	}
}

int main(void)
{
	struct watch watch;

	srand(3);
	for (int unit = 0; unit < UNITS; unit++)
		for (int from = 0; from < UNITS; from++) {
			gate[unit][from] = (float)(rand() % 200 - 100) / 2000;
			cell[unit][from] = (float)(rand() % 200 - 100) / 2000;
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		forward();
		backward();
		planted_begin(&watch);
		DWELL_ZONE("optimizer");
		for (int unit = 0; unit < UNITS; unit++)
			for (int from = 0; from < UNITS; from++) {
				gate[unit][from] -= 1e-4f * gate_slopes[unit][from];
				cell[unit][from] -= 1e-4f * cell_slopes[unit][from];
				gate_slopes[unit][from] = cell_slopes[unit][from] = 0;
			}
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
