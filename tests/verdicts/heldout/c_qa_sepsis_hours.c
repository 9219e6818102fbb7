/*
 * Tells from the vital signs of 36 hours whether a patient will have sepsis: a recurrent network with a gate, trained
 * by hand through time.
 *
 * Clean: nothing is planted; the same work in each step.
 * Truth: nothing comes near a cause, 0.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOURS = 36, SIGNS = 12, CELLS = 72, PATIENTS = 24 };

struct weights {
	float gate_in[CELLS][SIGNS], gate[CELLS][CELLS], cell_in[CELLS][SIGNS], cell[CELLS][CELLS], out[CELLS];
};

static struct weights net, slope;
static float signs[PATIENTS][HOURS][SIGNS], ill[PATIENTS];
static float state[HOURS + 1][CELLS], opened[HOURS][CELLS], offered[HOURS][CELLS];

static float between(void)
{
	return 2 * (float)rand() / (float)RAND_MAX - 1;
}

static void admit(void)
{
	DWELL_ZONE("admit");
	for (int p = 0; p < PATIENTS; p++) {
		float fever = 0;

		for (int h = 0; h < HOURS; h++)
			for (int s = 0; s < SIGNS; s++) {
				signs[p][h][s] = between();
				fever += s == 3 && h > 20 ? signs[p][h][s] : 0;
			}
		ill[p] = fever > 0;
	}
}

static float run(const float (*at)[SIGNS])
{
	float sum = 0;

	for (int h = 0; h < HOURS; h++)
		for (int c = 0; c < CELLS; c++) {
			float g = 0, o = 0;

			for (int s = 0; s < SIGNS; s++) {
				g += net.gate_in[c][s] * at[h][s];
				o += net.cell_in[c][s] * at[h][s];
			}
			for (int k = 0; k < CELLS; k++) {
				g += net.gate[c][k] * state[h][k];
				o += net.cell[c][k] * state[h][k];
			}
			opened[h][c] = 1 / (1 + expf(-g));
			offered[h][c] = tanhf(o);
			state[h + 1][c] = state[h][c] + opened[h][c] * (offered[h][c] - state[h][c]);
		}
	for (int c = 0; c < CELLS; c++)
		sum += net.out[c] * state[HOURS][c];
	return 1 / (1 + expf(-sum));
}

static void run_back(const float (*at)[SIGNS], float wrong)
{
	float back[CELLS], before[CELLS];

	for (int c = 0; c < CELLS; c++) {
		slope.out[c] += wrong * state[HOURS][c];
		back[c] = wrong * net.out[c];
	}
	for (int h = HOURS - 1; h >= 0; h--) {
		for (int c = 0; c < CELLS; c++)
			before[c] = back[c] * (1 - opened[h][c]);
		for (int c = 0; c < CELLS; c++) {
			const float g = back[c] * (offered[h][c] - state[h][c]) * opened[h][c] * (1 - opened[h][c]);
			const float o = back[c] * opened[h][c] * (1 - offered[h][c] * offered[h][c]);

			for (int s = 0; s < SIGNS; s++) {
				slope.gate_in[c][s] += g * at[h][s];
				slope.cell_in[c][s] += o * at[h][s];
			}
			for (int k = 0; k < CELLS; k++) {
				slope.gate[c][k] += g * state[h][k];
				slope.cell[c][k] += o * state[h][k];
				before[k] += g * net.gate[c][k] + o * net.cell[c][k];
			}
		}
		memcpy(back, before, sizeof back);
	}
}

static void adjust(void)
{
	DWELL_ZONE("adjust");
	float *to = (float *)&net, *from = (float *)&slope;

	for (size_t i = 0; i < sizeof net / sizeof *to; i++)
		to[i] -= 0.02f * from[i] / PATIENTS;
	memset(&slope, 0, sizeof slope);
}

int main(void)
{
	struct watch watch;
	float missed = 0;

	srand(4);
	for (size_t i = 0; i < sizeof net / sizeof(float); i++)
		((float *)&net)[i] = 0.12f * between();
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		admit();
		missed = 0;
		for (int p = 0; p < PATIENTS; p++) {
			float told;

			{
				DWELL_ZONE("forward");
				told = run(signs[p]);
			}
			DWELL_ZONE("backward");
			run_back(signs[p], told - ill[p]);
			missed += fabsf(told - ill[p]);
		}
		adjust();
		watch.steps++;
	}
	watch_tell_share(&watch, 0);
	printf("missed %.3f\n", (double)(missed / PATIENTS));
	return 0;
}
