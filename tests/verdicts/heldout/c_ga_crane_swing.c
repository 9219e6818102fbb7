/*
 * Teaches a gantry crane to set a load down without swinging, by evolution strategies on a simulated rope.
 *
 * Planted: the operator's stop button is looked at with a poll() that waits 4 ms for it, left from the real crane, so
 * each generation waits that long for a button that nobody presses.
 * Truth: time in poll(), of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#define STATE 5
#define UNITS 24
#define WEIGHTS (STATE * UNITS + UNITS)
#define TRIALS 36
#define TICKS 400

static float policy[WEIGHTS], noise[TRIALS][WEIGHTS], score[TRIALS];
static int stop_button;

static float gauss(void)
{
	float u = ((float)rand() + 1) / ((float)RAND_MAX + 2), v = (float)rand() / (float)RAND_MAX;

	return sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
}

/* One lift: the return is minus what the load swings and how far it ends from the mark. */
static float lift(const float *w, float mark)
{
	float x = 0, v = 0, angle = 0.05f, turn = 0, cost = 0;

	for (int t = 0; t < TICKS; t++) {
		const float s[STATE] = {x - mark, v, angle, turn, 1};
		float force = 0;

		for (int u = 0; u < UNITS; u++) {
			float a = 0;

			for (int i = 0; i < STATE; i++)
				a += w[u * STATE + i] * s[i];
			force += w[STATE * UNITS + u] * tanhf(a);
		}
		force = fminf(fmaxf(force, -4), 4);
		v += 0.02f * (force - 0.3f * v);
		turn += 0.02f * (-9.81f * sinf(angle) - force * cosf(angle) - 0.1f * turn);
		x += 0.02f * v;
		angle += 0.02f * turn;
		cost += (x - mark) * (x - mark) + 2 * angle * angle;
	}
	return -cost / TICKS;
}

static int stopped(void)
{
	struct pollfd button = {.fd = stop_button, .events = POLLIN};

	return poll(&button, 1, 4) > 0;
}

static float generation(float mark)
{
	float mean = 0, w[WEIGHTS];

	{
		DWELL_ZONE("mutate");
		for (int k = 0; k < TRIALS; k += 2)
			for (int i = 0; i < WEIGHTS; i++)
				noise[k + 1][i] = -(noise[k][i] = gauss());
	}
	{
		DWELL_ZONE("lifts");
		for (int k = 0; k < TRIALS; k++) {
			for (int i = 0; i < WEIGHTS; i++)
				w[i] = policy[i] + 0.1f * noise[k][i];
			mean += score[k] = lift(w, mark);
		}
	}
	DWELL_ZONE("recombine");
	mean /= TRIALS;
	for (int k = 0; k < TRIALS; k++)
		for (int i = 0; i < WEIGHTS; i++)
			policy[i] += 0.02f * (score[k] - mean) * noise[k][i] / TRIALS;
	return mean;
}

int main(void)
{
	struct watch watch;
	float mean = 0;

	stop_button = eventfd(0, 0);
	for (int i = 0; i < WEIGHTS; i++)
		policy[i] = 0.3f * gauss();
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		mean = generation(1 + (float)(watch.steps % 5) / 5);
		planted_begin(&watch);
		if (stopped())
			break;
		planted_end(&watch);
		watch.steps++;
	}
	watch_tell(&watch);
	fprintf(stderr, "return %g\n", (double)mean);
	return 0;
}
