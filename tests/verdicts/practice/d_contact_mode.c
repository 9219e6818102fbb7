/*
 * A learned gripper policy drives simulated arms, which first reach and then hold an object.
 *
 * Planted: from the moment of the grasp on, 2.6 seconds into the loop, forces of contact are solved for in each step.
 * Truth: time of the solver, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <string.h>

enum { ARMS = 24, STATE = 28, UNITS = 192, ACTIONS = 7, SUBSTEPS = 12, CONTACTS = 40, SWEEPS = 110 };

static const double grasp_s = 2.6;
static float w1[UNITS][STATE], w2[UNITS][UNITS], w3[ACTIONS][UNITS];
static float angle[ARMS][ACTIONS], speed[ARMS][ACTIONS], action[ARMS][ACTIONS];
static float coupling[CONTACTS][CONTACTS], force[ARMS][CONTACTS], wanted[CONTACTS];

static void layer(const float *weights, const float *in, float *out, int ins, int outs)
{
	for (int o = 0; o < outs; o++) {
		float sum = 0;

		for (int i = 0; i < ins; i++)
			sum += weights[o * ins + i] * in[i];
		out[o] = tanhf(sum);
	}
}

static void act(void)
{
	for (int a = 0; a < ARMS; a++) {
		float state[STATE] = { 0 }, one[UNITS], two[UNITS];

		memcpy(state, angle[a], sizeof(angle[a]));
		memcpy(state + ACTIONS, speed[a], sizeof(speed[a]));
		memcpy(state + 2 * ACTIONS, force[a], sizeof(float) * ACTIONS);
		layer(w1[0], state, one, STATE, UNITS);
		layer(w2[0], one, two, UNITS, UNITS);
		layer(w3[0], two, action[a], UNITS, ACTIONS);
	}
}

static void integrate(void)
{
	for (int a = 0; a < ARMS; a++)
		for (int s = 0; s < SUBSTEPS; s++)
			for (int j = 0; j < ACTIONS; j++) {
				float pull = 0;

				for (int k = 0; k < ACTIONS; k++)
					pull += 0.1f * sinf(angle[a][j] - angle[a][k]);
				speed[a][j] += 0.002f * (action[a][j] - pull - 0.3f * speed[a][j] + 0.01f * force[a][j]);
				angle[a][j] += 0.002f * speed[a][j];
			}
}

/* Projected Gauss-Seidel: forces push and never pull, and friction is bounded by them. */
static void solve_contacts(int arm)
{
	for (int c = 0; c < CONTACTS; c++)
		wanted[c] = 0.5f + 0.1f * sinf(angle[arm][c % ACTIONS] * (float)c);
	memset(force[arm], 0, sizeof(force[arm]));
	for (int sweep = 0; sweep < SWEEPS; sweep++)
		for (int c = 0; c < CONTACTS; c++) {
			float rest = wanted[c];

			for (int k = 0; k < CONTACTS; k++)
				rest -= coupling[c][k] * force[arm][k];
			rest = force[arm][c] + rest / coupling[c][c];
			force[arm][c] = rest < 0 ? 0 : rest > 10 ? 10 : rest;
		}
}

/* Evolution of the last layer by small steps toward what held the object better. */
static void improve(int step)
{
	for (int a = 0; a < ACTIONS; a++)
		for (int u = 0; u < UNITS; u++)
			w3[a][u] += 1e-5f * sinf((float)(step * 13 + a * UNITS + u)) * (1 - fabsf(action[0][a]));
}

int main(void)
{
	struct watch watch;

	for (int u = 0; u < UNITS; u++)
		for (int i = 0; i < UNITS; i++) {
			w2[u][i] = sinf((float)(u * UNITS + i)) / 14;
			w1[u][i % STATE] = cosf((float)(u * 31 + i)) / 5;
			w3[u % ACTIONS][i] = sinf((float)(3 * i + u)) / 14;
		}
	for (int c = 0; c < CONTACTS; c++)
		for (int k = 0; k < CONTACTS; k++)
			coupling[c][k] = c == k ? 3 : 0.05f / (1 + fabsf((float)(c - k)));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.2; watch.steps++) {
		DWELL_STEP();
		act();
		if (watch_seconds(&watch) > grasp_s) {
			planted_begin(&watch);
			for (int a = 0; a < ARMS; a++)
				solve_contacts(a);
			planted_end(&watch);
		}
		integrate();
		improve(watch.steps);
	}
	watch_tell(&watch);
	fprintf(stderr, "angle %.3f\n", (double)angle[0][0]);
}
