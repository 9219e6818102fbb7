/*
 * A kernel machine in C.
 *
 * Planted: nothing; two operators take nearly all of each step.
 * Truth: time between the operators, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>

enum { SECONDS = 3, POINTS = 1100, AXES = 16 };

static float points[POINTS][AXES], near[POINTS][POINTS], alphas[POINTS];

static double kernel(void)
{
	double before = now_s();

	DWELL_OP("kernel");
	for (int one = 0; one < POINTS; one++)
		for (int other = 0; other < POINTS; other++) {
			float sum = 0;

			for (int axis = 0; axis < AXES; axis++) {
				float difference = points[one][axis] - points[other][axis];

				sum += difference * difference;
			}
			near[one][other] = 1 / (1 + sum);
		}
	return now_s() - before;
}

static double ascend(void)
{
	double before = now_s();

	DWELL_OP("ascend");
	for (int pass = 0; pass < 8; pass++)
		for (int one = 0; one < POINTS; one++) {
			float sum = 0;

			for (int other = 0; other < POINTS; other++)
				sum += near[one][other] * alphas[other];
			alphas[one] += 1e-4f * ((float)(one & 1) - sum);
		}
	return now_s() - before;
}

int main(void)
{
	double began, loop_s, working_s = 0;
	int steps = 0;

	for (int point = 0; point < POINTS; point++)
		for (int axis = 0; axis < AXES; axis++)
			points[point][axis] = sinf((float)(point * 3 + axis * 5));
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			working_s += kernel();
		}
		{
			DWELL_ZONE("backward");
			working_s += ascend();
		}
	}
	loop_s = now_s() - began;
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
	       1 - working_s / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
