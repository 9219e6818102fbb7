/*
 * The policy of a robot's wrist, replayed offline on recorded joints: a recurrent network gives torques and learns
 * online from how far the wrist missed.
 *
 * Planted: the loop keeps the 100 Hz of the real arm, and sleeps until the next tick with clock_nanosleep().
 * Truth: time of this sleep, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOINTS = 28, STATE = 160, TORQUES = 7, SUBSTEPS = 24, TICK_NS = 10000000 };

static float enter[STATE][JOINTS], again[STATE][STATE], leave[TORQUES][STATE], state[STATE];

static void fill(float *weights, int count, float scale)
{
	for (int i = 0; i < count; i++)
		weights[i] = scale * ((float)(rand() % 2001) / 1000 - 1);
}

static void record(float *joints, int tick, int sub)
{
	for (int j = 0; j < JOINTS; j++)
		joints[j] = sinf(0.01f * (float)(tick * SUBSTEPS + sub) + (float)j);
}

static void advance(const float *joints)
{
	DWELL_ZONE("policy");
	float next[STATE];

	for (int s = 0; s < STATE; s++) {
		float sum = 0;

		for (int j = 0; j < JOINTS; j++)
			sum += enter[s][j] * joints[j];
		for (int k = 0; k < STATE; k++)
			sum += again[s][k] * state[k];
		next[s] = tanhf(sum);
	}
	memcpy(state, next, sizeof state);
}

static float correct(const float *joints)
{
	DWELL_ZONE("online update");
	float back[STATE] = { 0 }, missed = 0;

	for (int t = 0; t < TORQUES; t++) {
		float torque = 0;

		for (int s = 0; s < STATE; s++)
			torque += leave[t][s] * state[s];
		const float miss = torque - joints[t * 3];

		missed += miss * miss;
		for (int s = 0; s < STATE; s++) {
			back[s] += miss * leave[t][s];
			leave[t][s] -= 0.002f * miss * state[s];
		}
	}
	for (int s = 0; s < STATE; s++) {
		const float slope = 0.0005f * back[s] * (1 - state[s] * state[s]);

		for (int j = 0; j < JOINTS; j++)
			enter[s][j] -= slope * joints[j];
		for (int k = 0; k < STATE; k++)
			again[s][k] -= 0.1f * slope * state[k];
	}
	return missed;
}

static void keep_rate(struct timespec *tick)
{
	struct timespec now;

	tick->tv_nsec += TICK_NS;
	if (tick->tv_nsec >= 1000000000) {
		tick->tv_nsec -= 1000000000;
		tick->tv_sec++;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec > tick->tv_sec || (now.tv_sec == tick->tv_sec && now.tv_nsec > tick->tv_nsec))
		*tick = now; /* late: begin anew */
	else
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, tick, NULL);
}

int main(void)
{
	struct watch watch;
	struct timespec tick;
	float joints[JOINTS], missed = 0;

	fill(&enter[0][0], STATE * JOINTS, 0.2f);
	fill(&again[0][0], STATE * STATE, 0.08f);
	fill(&leave[0][0], TORQUES * STATE, 0.1f);
	clock_gettime(CLOCK_MONOTONIC, &tick);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int sub = 0; sub < SUBSTEPS * 8; sub++) {
			record(joints, watch.steps, sub);
			advance(joints);
			missed = 0.99f * missed + 0.01f * correct(joints);
		}
		planted_begin(&watch);
		keep_rate(&tick);
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("missed %.4f\n", (double)missed);
	return 0;
}
