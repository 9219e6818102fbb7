/*
 * Fits brightness of stars in C; between the steps it sorts them for the next one.
 *
 * Planted: after each step the stars are sorted again by their error, outside of the step.
 * Truth: time of sorting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdio.h>
#include <stdlib.h>

enum { SECONDS = 3, STARS = 30000, BANDS = 96 };

struct star {
	float bands[BANDS];
};

static struct star stars[STARS];
static float weights[BANDS], slopes[BANDS];
static struct {
	float error;
	int star;
} order[STARS];

static int by_error(const void *one, const void *other)
{
	float difference = *(const float *)one - *(const float *)other;

	return difference < 0 ? -1 : difference > 0;
}

static void forward(void)
{
	DWELL_OP("brightness");
	for (int at = 0; at < STARS; at++) {
		const float *bands = stars[order[at].star].bands;
		float sum = 0;

		for (int band = 0; band < BANDS; band++)
			sum += bands[band] * weights[band];
		order[at].error = sum - (float)(order[at].star * 7919 % 1000) / 1000;
	}
}

static void backward(void)
{
	DWELL_OP("brightness, backward");
	for (int band = 0; band < BANDS; band++)
		slopes[band] = 0;
	for (int at = 0; at < STARS; at++)
		for (int band = 0; band < BANDS; band++)
			slopes[band] += order[at].error * stars[order[at].star].bands[band];
	for (int band = 0; band < BANDS; band++)
		weights[band] -= 1e-7f * slopes[band];
}

int main(void)
{
	double began, loop_s, sorting_s = 0;
	int steps = 0;

	for (int at = 0; at < STARS; at++) {
		order[at].star = at;
		for (int band = 0; band < BANDS; band++)
			stars[at].bands[band] = (float)(at * 31 % 101 + band) / 400;
	}
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;

		{
			DWELL_STEP();
			forward();
			backward();
		}
		before = now_s();
		qsort(order, STARS, sizeof(order[0]), by_error);
		sorting_s += now_s() - before;
	}
	loop_s = now_s() - began;
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
	       sorting_s / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
