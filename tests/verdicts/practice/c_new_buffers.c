/*
 * A recurrent layer in C that asks for its buffers anew in each step.
 *
 * Planted: 24 MB are allocated, used once and freed in each step; the system clears their pages
 * each time. Truth: time of the kernel for the thread, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { SECONDS = 3, TIMES = 3072, WIDTH = 1024 };

static float weights[WIDTH], state[WIDTH];

static double kernel_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec * 1e-6;
}

static void recur(float *activations)
{
	DWELL_OP("recur");
	for (int time = 0; time < TIMES; time++)
		for (int unit = 0; unit < WIDTH; unit++) {
			float next = state[unit] * weights[unit] + 0.1f;

			state[unit] = next > 1 ? 1 : next;
			activations[time * WIDTH + unit] = state[unit];
		}
}

static void recur_gradient(const float *activations, float *slopes)
{
	DWELL_OP("recur_gradient");
	for (int time = TIMES - 1; time >= 0; time--)
		for (int unit = 0; unit < WIDTH; unit++)
			slopes[time * WIDTH + unit] =
				activations[time * WIDTH + unit] *
				(time + 1 < TIMES ? slopes[(time + 1) * WIDTH + unit] : 1) * 0.5f;
}

static void descend(const float *slopes)
{
	DWELL_OP("sgd");
	for (int unit = 0; unit < WIDTH; unit++)
		weights[unit] -= 1e-5f * slopes[unit];
}

int main(void)
{
	double began, loop_s, kernel;
	int steps = 0;

	for (int unit = 0; unit < WIDTH; unit++)
		weights[unit] = 0.9f / (float)(unit % 7 + 1);
	began = now_s();
	kernel = kernel_s();
	for (; now_s() - began < SECONDS; steps++) {
		float *activations, *slopes;

		DWELL_STEP();
		activations = malloc(sizeof(float) * TIMES * WIDTH);
		slopes = malloc(sizeof(float) * TIMES * WIDTH);
		if (!activations || !slopes)
			return 1;
		{
			DWELL_ZONE("forward");
			recur(activations);
		}
		{
			DWELL_ZONE("backward");
			recur_gradient(activations, slopes);
		}
		{
			DWELL_ZONE("optimizer");
			descend(slopes);
		}
		free(activations);
		free(slopes);
	}
	loop_s = now_s() - began;
	kernel = kernel_s() - kernel;
	printf(
		"TRUTH {\"share\": %.4f, \"system_share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
		kernel / loop_s, kernel / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
