/*
 * Finds planets in light curves with a two-layer network in C.
 *
 * Planted: nothing. The data are in memory, all of the step is products of matrices.
 * Truth: time of making the batch, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 5, CURVES = 600, BATCH = 64, POINTS = 384, UNITS = 192 };

static float curves[CURVES][POINTS], batch[BATCH][POINTS], units[BATCH][UNITS],
    unit_slopes[BATCH][UNITS];
static float first[UNITS][POINTS], first_slopes[UNITS][POINTS], second[UNITS], second_slopes[UNITS],
    errors[BATCH];

static void forward(void)
{
	DWELL_ZONE("forward");
	for (int item = 0; item < BATCH; item++) {
		errors[item] = -(float)(item % 2);
		for (int unit = 0; unit < UNITS; unit++) {
			float sum = 0;

			for (int point = 0; point < POINTS; point++)
				sum += first[unit][point] * batch[item][point];
			units[item][unit] = sum > 0 ? sum : 0;
			errors[item] += units[item][unit] * second[unit];
		}
	}
}

static void backward(void)
{
	DWELL_ZONE("backward");
	memset(first_slopes, 0, sizeof(first_slopes));
	memset(second_slopes, 0, sizeof(second_slopes));
	for (int item = 0; item < BATCH; item++)
		for (int unit = 0; unit < UNITS; unit++) {
			second_slopes[unit] += errors[item] * units[item][unit];
			unit_slopes[item][unit] = errors[item] * second[unit];
			for (int point = 0; point < POINTS; point++)
				first_slopes[unit][point] += unit_slopes[item][unit] * batch[item][point];
		}
}

static void update(void)
{
	DWELL_ZONE("optimizer");
	for (int unit = 0; unit < UNITS; unit++) {
		second[unit] -= 1e-5f * second_slopes[unit];
		for (int point = 0; point < POINTS; point++)
			first[unit][point] -= 1e-5f * first_slopes[unit][point];
	}
}

int main(void)
{
	struct watch watch;

	for (int curve = 0; curve < CURVES; curve++)
		for (int point = 0; point < POINTS; point++)
			curves[curve][point] = (float)((curve * 3 + point * 7) % 47) / 470;
	for (int unit = 0; unit < UNITS; unit++)
		second[unit] = first[unit][unit] = 0.1f;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "batch");
			for (int item = 0; item < BATCH; item++)
				memcpy(batch[item], curves[(item * 31 + watch.steps) % CURVES],
				       sizeof(batch[item]));
		}
		planted_end(&watch);
		forward();
		backward();
		update();
	}
	watch_tell(&watch);
	return 0;
}
