/*
 * Watches a slope for avalanches: filters over the height of new snow give each cell of the map a hazard, which is fitted
 * to the releases that the watchmen saw.
 *
 * Planted: the maps of each survey lie in blocks that are asked of the system, touched page by page and given back in each step.
 * Truth: time of asking for the blocks, touching them and giving them back, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 640
#define COLUMNS 1024
#define FILTERS 4
#define CELLS ((size_t)ROWS * COLUMNS)

struct survey {
	float *felt[FILTERS]; /* the answers of the filters */
	float *hazard, *blame;
};

static struct watch watch;
static float *snow[3], *released;
static float filter[FILTERS][5], bias[FILTERS], voice[FILTERS];

/* The pages are touched here, so that the filters below are not disturbed by the first use. */
static float *map_new(void)
{
	float *map = malloc(CELLS * sizeof *map);

	if (!map)
		abort();
	for (size_t i = 0; i < CELLS; i += 1024)
		map[i] = 0;
	return map;
}

static void survey_open(struct survey *survey)
{
	planted_begin(&watch);
	for (int f = 0; f < FILTERS; f++)
		survey->felt[f] = map_new();
	survey->hazard = map_new();
	survey->blame = map_new();
	planted_end(&watch);
}

static void survey_close(struct survey *survey)
{
	planted_begin(&watch);
	for (int f = 0; f < FILTERS; f++)
		free(survey->felt[f]);
	free(survey->hazard);
	free(survey->blame);
	planted_end(&watch);
}

static void feel(const float *height, const struct survey *survey)
{
	for (int f = 0; f < FILTERS; f++) {
		const float *w = filter[f], b = bias[f];
		float *restrict out = survey->felt[f];
		for (size_t i = 0; i < CELLS; i++)
			out[i] = 0;
		for (size_t y = 1; y < ROWS - 1; y++) {
			const float *at = height + y * COLUMNS, *above = at - COLUMNS, *below = at + COLUMNS;
			for (size_t x = 1; x < COLUMNS - 1; x++) {
				const float sum = b + w[0] * at[x] + w[1] * at[x - 1] + w[2] * at[x + 1] + w[3] * above[x] + w[4] * below[x];
				out[y * COLUMNS + x] = sum / (1 + fabsf(sum));
			}
		}
	}
}

static float judge(const struct survey *survey)
{
	float wrong = 0;

	for (size_t i = 0; i < CELLS; i++) {
		float sum = 0;
		for (int f = 0; f < FILTERS; f++)
			sum += voice[f] * survey->felt[f][i];
		survey->hazard[i] = sum;
		survey->blame[i] = sum - released[i];
		wrong += survey->blame[i] * survey->blame[i];
	}
	return wrong / (float)CELLS;
}

static void adapt(const float *height, const struct survey *survey)
{
	for (int f = 0; f < FILTERS; f++) {
		double for_voice = 0, for_filter = 0, for_bias = 0;
		for (size_t i = COLUMNS; i < CELLS - COLUMNS; i++) {
			const float felt = survey->felt[f][i], back = survey->blame[i] * voice[f] * (1 - fabsf(felt)) * (1 - fabsf(felt));
			for_voice += survey->blame[i] * felt;
			for_bias += back;
			for_filter += back * height[i];
		}
		voice[f] -= (float)(1e-2 * for_voice / CELLS);
		bias[f] -= (float)(1e-2 * for_bias / CELLS);
		filter[f][0] -= (float)(1e-2 * for_filter / CELLS);
	}
}

int main(void)
{
	float wrong = 0;

	for (int d = 0; d < 3; d++) {
		snow[d] = malloc(CELLS * sizeof(float));
		for (size_t i = 0; i < CELLS; i++)
			snow[d][i] = 0.6f + 0.4f * sinf((float)(i % COLUMNS) * 0.013f + (float)(i / COLUMNS) * 0.021f * (float)(d + 1));
	}
	released = malloc(CELLS * sizeof(float));
	for (size_t i = 0; i < CELLS; i++)
		released[i] = snow[1][i] > 0.85f ? 0.9f : 0.05f;
	for (int f = 0; f < FILTERS; f++) {
		voice[f] = 0.2f + 0.1f * (float)f;
		for (int k = 0; k < 5; k++)
			filter[f][k] = 0.3f * cosf((float)(7 * f + k));
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const float *height = snow[watch.steps % 3];
		struct survey survey;

		survey_open(&survey);
		{
			DWELL_ZONE("feel");
			feel(height, &survey);
		}
		{
			DWELL_ZONE("judge");
			wrong = judge(&survey);
		}
		{
			DWELL_ZONE("adapt");
			adapt(height, &survey);
		}
		survey_close(&survey);
	}
	watch_tell(&watch);
	printf("wrong by %.4f\n", (double)wrong);
	return 0;
}
