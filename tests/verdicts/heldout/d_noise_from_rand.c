/*
 * Evolution strategies for a controller of two poles; OpenMP shares the population out.
 *
 * Planted: all threads draw their noise with random(), whose state the C library guards with a lock.
 * Truth: time of drawing noise less that of doing it with a generator of each thread's own, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 6, POPULATION = 32, INPUTS = 6, UNITS = 48, WEIGHTS = UNITS * INPUTS + UNITS, TICKS = 120 };

static float mean[WEIGHTS], noise[POPULATION][WEIGHTS], fitness[POPULATION];

static void perturb(void)
{
#pragma omp parallel for schedule(static)
	for (int member = 0; member < POPULATION; member++)
		for (int at = 0; at < WEIGHTS; at++) {
			float sum = 0;

			for (int draw = 0; draw < 4; draw++) /* nearly normal */
				sum += (float)random() / (float)RAND_MAX - 0.5f;
			noise[member][at] = sum;
		}
}

static void perturb_alone(void)
{
#pragma omp parallel for schedule(static)
	for (int member = 0; member < POPULATION; member++) {
		unsigned seed = (unsigned)member;

		for (int at = 0; at < WEIGHTS; at++) {
			float sum = 0;

			for (int draw = 0; draw < 4; draw++)
				sum += (float)rand_r(&seed) / (float)RAND_MAX - 0.5f;
			noise[member][at] = sum;
		}
	}
}

static float balance(const float *delta)
{
	float state[INPUTS] = { 0.1f, 0, 0.05f, 0, 0.02f, 1 }, reward = 0;

	for (int tick = 0; tick < TICKS; tick++) {
		float push = 0;

		for (int unit = 0; unit < UNITS; unit++) {
			float sum = 0;

			for (int at = 0; at < INPUTS; at++)
				sum += (mean[unit * INPUTS + at] + 0.1f * delta[unit * INPUTS + at]) * state[at];
			push += (mean[UNITS * INPUTS + unit] + 0.1f * delta[UNITS * INPUTS + unit]) * tanhf(sum);
		}
		push = fminf(fmaxf(push, -1), 1);
		state[0] += 0.02f * state[1];
		state[1] += 0.02f * push;
		for (int pole = 2; pole < 5; pole += 2) {
			state[pole] = fminf(fmaxf(state[pole] + 0.02f * (state[3] + sinf(state[pole])), -1.5f), 1.5f);
			state[3] = 0.99f * state[3] + 0.02f * (9 * sinf(state[pole]) - push * cosf(state[pole]));
		}
		reward += cosf(state[2]) + cosf(state[4]) - 0.1f * fabsf(state[0]);
	}
	return reward / TICKS;
}

int main(void)
{
	struct watch watch;
	double usual;

	perturb_alone();
	usual = now_s();
	for (int turn = 0; turn < 50; turn++)
		perturb_alone();
	usual = (now_s() - usual) / 50;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		float average = 0;

		planted_begin(&watch);
		{
			DWELL_PHASE("perturb");
			perturb();
		}
		planted_end(&watch);
		watch.planted_s -= usual;
		{
			DWELL_PHASE("rollouts");
#pragma omp parallel for schedule(static)
			for (int member = 0; member < POPULATION; member++)
				fitness[member] = balance(noise[member]);
		}
		DWELL_PHASE("update");
		for (int member = 0; member < POPULATION; member++)
			average += fitness[member] / POPULATION;
		for (int at = 0; at < WEIGHTS; at++) {
			float slope = 0;

			for (int member = 0; member < POPULATION; member++)
				slope += (fitness[member] - average) * noise[member][at];
			mean[at] += 0.05f * slope / POPULATION;
		}
	}
	watch_tell(&watch);
	return 0;
}
