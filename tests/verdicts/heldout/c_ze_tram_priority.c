/*
 * Learns when trams should wait for late passengers: Q-learning with a small network and a replay memory by priority.
 *
 * Planted: each 60th step sorts the whole memory by priority with qsort(), to draw by rank.
 * Truth: time of the sorting, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNS = 24, UNITS = 64, ACTIONS = 4, MEMORY = 40000, BATCH = 48, RANKED_EACH = 60 };

struct moment {
	float before[SIGNS], after[SIGNS], reward, priority;
	int action;
};

static struct moment memory[MEMORY];
static int ranks[MEMORY], filled, place;
static float into[SIGNS][UNITS], out[ACTIONS][UNITS], late_into[SIGNS][UNITS], late_out[ACTIONS][UNITS];
static unsigned state = 12345;

static float uniform(void)
{
	state = state * 1664525u + 1013904223u;
	return (float)(state >> 8) / 16777216.0f;
}

static void hidden(const float *signs, float weights[SIGNS][UNITS], float *units)
{
	memset(units, 0, sizeof(float) * UNITS);
	for (int i = 0; i < SIGNS; i++)
		for (int u = 0; u < UNITS; u++)
			units[u] += signs[i] * weights[i][u];
	for (int u = 0; u < UNITS; u++)
		units[u] = units[u] > 0 ? units[u] : 0;
}

static int best_of(const float *units, float weights[ACTIONS][UNITS], float *value)
{
	int best = 0;

	for (int a = 0; a < ACTIONS; a++) {
		float sum = 0;

		for (int u = 0; u < UNITS; u++)
			sum += weights[a][u] * units[u];
		if (a == 0 || sum > *value) {
			*value = sum;
			best = a;
		}
	}
	return best;
}

static float ride(float *signs, int action)
{
	float reward = 0;

	for (int i = 0; i < SIGNS; i++) {
		signs[i] = 0.9f * signs[i] + 0.2f * (uniform() - 0.5f) + (i % ACTIONS == action ? 0.05f : -0.01f);
		reward -= fabsf(signs[i]) / SIGNS;
	}
	return reward;
}

static int by_priority(const void *one, const void *two)
{
	float a = memory[*(const int *)one].priority, b = memory[*(const int *)two].priority;

	return a < b ? 1 : a > b ? -1 : 0;
}

static void rank_memory(struct watch *watch)
{
	planted_begin(watch);
	for (int i = 0; i < filled; i++)
		ranks[i] = i;
	qsort(ranks, (size_t)filled, sizeof ranks[0], by_priority);
	planted_end(watch);
}

static void remember(const float *before, const float *after, int action, float reward)
{
	struct moment *moment = &memory[place];

	memcpy(moment->before, before, sizeof moment->before);
	memcpy(moment->after, after, sizeof moment->after);
	moment->action = action;
	moment->reward = reward;
	moment->priority = 10 + uniform();
	if (filled < MEMORY) {
		ranks[filled] = place;
		filled++;
	}
	place = (place + 1) % MEMORY;
}

static void learn(struct moment *moment)
{
	float units[UNITS], later[UNITS], future, said = 0, error;

	hidden(moment->after, late_into, later);
	best_of(later, late_out, &future);
	hidden(moment->before, into, units);
	for (int u = 0; u < UNITS; u++)
		said += out[moment->action][u] * units[u];
	error = said - moment->reward - 0.95f * future;
	moment->priority = fabsf(error) + 0.01f;
	error = fminf(1, fmaxf(-1, error)) * 0.002f;
	for (int u = 0; u < UNITS; u++) {
		float slope = units[u] > 0 ? error * out[moment->action][u] : 0;

		out[moment->action][u] -= error * units[u];
		later[u] = slope;
	}
	for (int i = 0; i < SIGNS; i++)
		for (int u = 0; u < UNITS; u++)
			into[i][u] -= later[u] * moment->before[i];
}

int main(void)
{
	struct watch watch;
	float trams[8][SIGNS] = { { 0 } }, before[SIGNS], units[UNITS], value;
	double reward_sum = 0;

	for (int i = 0; i < SIGNS * UNITS; i++)
		(&into[0][0])[i] = (uniform() - 0.5f) * 0.4f;
	for (int i = 0; i < ACTIONS * UNITS; i++)
		(&out[0][0])[i] = (uniform() - 0.5f) * 0.2f;
	for (int i = 0; i < MEMORY; i++) {
		float *tram = trams[i % 8];

		memcpy(before, tram, sizeof before);
		int action = (int)(uniform() * ACTIONS);
		float reward = ride(tram, action);
		remember(before, tram, action, reward);
	}

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("drive");
			for (int t = 0; t < 8; t++) {
				memcpy(before, trams[t], sizeof before);
				hidden(before, into, units);
				int action = best_of(units, out, &value);
				if (uniform() < 0.1f)
					action = (int)(uniform() * ACTIONS);
				float reward = ride(trams[t], action);
				reward_sum += reward;
				remember(before, trams[t], action, reward);
			}
		}
		if (watch.steps % RANKED_EACH == 0)
			rank_memory(&watch);
		{
			DWELL_ZONE("learn");
			for (int b = 0; b < BATCH * 2; b++) {
				float near_top = uniform() * uniform();

				learn(&memory[ranks[(int)(near_top * (float)(filled - 1))]]);
			}
		}
		if (watch.steps % 100 == 0) {
			memcpy(late_into, into, sizeof into);
			memcpy(late_out, out, sizeof out);
		}
	}
	watch_tell(&watch);
	printf("mean reward %.4f\n", reward_sum / watch.steps / 8);
	return 0;
}
