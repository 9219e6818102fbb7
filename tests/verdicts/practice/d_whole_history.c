/*
 * Forecasts the consumption of a town's districts with a recurrent network, which learns from the last days as they come.
 *
 * Planted: mean and spread, by which the values are scaled, are computed anew from the whole history in each step.
 * Truth: time of that, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 6, DISTRICTS = 24, QUARTERS = 96, UNITS = 32, DAYS = 20000 };

static float *history; /* DAYS x QUARTERS x DISTRICTS */
static int days;
static struct {
	double mean, spread;
} scale[DISTRICTS];
static float in[UNITS], recurrent[UNITS][UNITS], out[UNITS], in_slope[UNITS], recurrent_slope[UNITS][UNITS], out_slope[UNITS];

static void new_day(void)
{
	static unsigned seed = 3;
	float *day = history + (size_t)days++ * QUARTERS * DISTRICTS;

	for (int quarter = 0; quarter < QUARTERS; quarter++)
		for (int district = 0; district < DISTRICTS; district++) {
			seed = seed * 1664525u + 1013904223u;
			day[quarter * DISTRICTS + district] = 40 + (float)district + 9 * sinf((float)(quarter + 3 * district) * 0.0654f) +
			                                      (float)(seed >> 8) / (1 << 22);
		}
}

static void fit_scale(void)
{
	size_t count = (size_t)days * QUARTERS;

	memset(scale, 0, sizeof(scale));
	for (size_t at = 0; at < count; at++)
		for (int district = 0; district < DISTRICTS; district++)
			scale[district].mean += history[at * DISTRICTS + (size_t)district];
	for (int district = 0; district < DISTRICTS; district++)
		scale[district].mean /= (double)count;
	for (size_t at = 0; at < count; at++)
		for (int district = 0; district < DISTRICTS; district++) {
			double away = history[at * DISTRICTS + (size_t)district] - scale[district].mean;

			scale[district].spread += away * away;
		}
	for (int district = 0; district < DISTRICTS; district++)
		scale[district].spread = sqrt(scale[district].spread / (double)count) + 1e-6;
}

/* Forward through the day and back again; the squared error of the forecasts. */
static float learn(int district)
{
	static float state[QUARTERS + 1][UNITS], error[QUARTERS];
	float value[QUARTERS], loss = 0, slope[UNITS] = { 0 };

	for (int quarter = 0; quarter < QUARTERS; quarter++) {
		float raw = history[((size_t)(days - 1) * QUARTERS + (size_t)quarter) * DISTRICTS + (size_t)district];

		value[quarter] = (raw - (float)scale[district].mean) / (float)scale[district].spread;
	}
	for (int quarter = 0; quarter + 1 < QUARTERS; quarter++) {
		float forecast = 0;

		for (int unit = 0; unit < UNITS; unit++) {
			float sum = in[unit] * value[quarter];

			for (int at = 0; at < UNITS; at++)
				sum += recurrent[unit][at] * state[quarter][at];
			state[quarter + 1][unit] = tanhf(sum);
			forecast += out[unit] * state[quarter + 1][unit];
		}
		error[quarter] = forecast - value[quarter + 1];
		loss += error[quarter] * error[quarter] / QUARTERS;
	}
	for (int quarter = QUARTERS - 2; quarter >= 0; quarter--) {
		float before[UNITS] = { 0 };

		for (int unit = 0; unit < UNITS; unit++) {
			float now = state[quarter + 1][unit], back = (slope[unit] + error[quarter] * out[unit]) * (1 - now * now);

			out_slope[unit] += error[quarter] * now;
			in_slope[unit] += back * value[quarter];
			for (int at = 0; at < UNITS; at++) {
				recurrent_slope[unit][at] += back * state[quarter][at];
				before[at] += back * recurrent[unit][at];
			}
		}
		memcpy(slope, before, sizeof(slope));
	}
	return loss;
}

static void descend(float *weights, float *slopes, int count)
{
	for (int at = 0; at < count; at++) {
		weights[at] -= 1e-3f * fmaxf(-1, fminf(1, slopes[at] / (DISTRICTS * QUARTERS)));
		slopes[at] = 0;
	}
}

int main(void)
{
	float loss = 0;
	struct watch watch;

	history = malloc(sizeof(float) * DAYS * QUARTERS * DISTRICTS);
	for (int unit = 0; unit < UNITS; unit++) {
		in[unit] = (float)(unit % 5 - 2) / 5;
		out[unit] = (float)(unit % 7 - 3) / 20;
		for (int at = 0; at < UNITS; at++)
			recurrent[unit][at] = (float)((unit * 7 + at * 3) % 13 - 6) / 40;
	}
	for (int day = 0; day < 14; day++)
		new_day();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS && days < DAYS; watch.steps++) {
		DWELL_STEP();
		new_day();
		planted_begin(&watch);
		fit_scale();
		planted_end(&watch);
		loss = 0;
		for (int district = 0; district < DISTRICTS; district++)
			loss += learn(district);
		descend(in, in_slope, UNITS);
		descend(&recurrent[0][0], &recurrent_slope[0][0], UNITS * UNITS);
		descend(out, out_slope, UNITS);
	}
	printf("the error is %f after %d days\n", (double)loss / DISTRICTS, days);
	watch_tell(&watch);
	return 0;
}
