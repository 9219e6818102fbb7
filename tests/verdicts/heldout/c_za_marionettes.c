/*
 * Learns how much each string of a marionette matters: a pupil's gesture is aligned with the master's by dynamic time
 * warping, and the weights of the strings follow the strings that differ along the path. A gesture is a step.
 *
 * Planted: each alignment asks for a table of all moments by all moments and fills it with a huge number, though only a band is used.
 * Truth: time of getting, filling and giving back the table, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENTS = 3000, STRINGS = 9, BAND = 900 };

struct gesture { float pull[MOMENTS][STRINGS]; };

static struct gesture master, pupil;
static float weights[STRINGS];

static void perform(struct gesture *gesture, float late, unsigned seed)
{
	for (int t = 0; t < MOMENTS; t++)
		for (int s = 0; s < STRINGS; s++) {
			const float at = (float)t + late * (float)(t % 128) / 128.0f;

			seed = seed * 1664525u + 1013904223u;
			gesture->pull[t][s] = (float)((int)(at * (float)(s + 3)) % 97) / 97.0f + (float)(seed >> 24) / 2560.0f;
		}
}

static float unlike(int t, int u)
{
	float sum = 0;

	for (int s = 0; s < STRINGS; s++) {
		const float by = master.pull[t][s] - pupil.pull[u][s];

		sum += weights[s] * by * by;
	}
	return sqrtf(sum);
}

static float *new_table(void)
{
	float *table = malloc(sizeof *table * MOMENTS * MOMENTS);

	return memset(table, 0x7f, sizeof *table * MOMENTS * MOMENTS); /* 3.4e38 in each place */
}

static void fill_band(float *table)
{
	DWELL_ZONE("align");
	table[0] = unlike(0, 0);
	for (int t = 1; t < MOMENTS; t++) {
		float *row = table + (size_t)t * MOMENTS;
		const float *before = row - MOMENTS;
		const int from = t > BAND ? t - BAND : 1, to = t + BAND < MOMENTS ? t + BAND : MOMENTS - 1;

		for (int u = from; u <= to; u++) {
			float least = before[u] < before[u - 1] ? before[u] : before[u - 1];

			least = row[u - 1] < least ? row[u - 1] : least;
			row[u] = least + unlike(t, u);
		}
	}
}

static void learn(const float *table)
{
	float blame[STRINGS] = { 0 }, sum = 0;

	DWELL_ZONE("learn");
	for (int t = MOMENTS - 1, u = MOMENTS - 1; t > 0 && u > 0;) {
		const float *at = table + (size_t)t * MOMENTS + u;

		for (int s = 0; s < STRINGS; s++)
			blame[s] += fabsf(master.pull[t][s] - pupil.pull[u][s]);
		if (at[-MOMENTS - 1] <= at[-1] && at[-MOMENTS - 1] <= at[-MOMENTS])
			t--, u--;
		else if (at[-MOMENTS] < at[-1])
			t--;
		else
			u--;
	}
	for (int s = 0; s < STRINGS; s++)
		sum += blame[s];
	for (int s = 0; s < STRINGS; s++)
		weights[s] = 0.99f * weights[s] + 0.01f * blame[s] / sum;
}

int main(void)
{
	static struct watch watch;
	float total = 0;

	for (int s = 0; s < STRINGS; s++)
		weights[s] = 1.0f / STRINGS;
	perform(&master, 0, 3);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		perform(&pupil, 6, (unsigned)watch.steps + 11);
		planted_begin(&watch);
		float *table = new_table();
		planted_end(&watch);

		fill_band(table);
		learn(table);
		total += table[(size_t)MOMENTS * MOMENTS - 1];
		planted_begin(&watch);
		free(table);
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("distance %.3f, first string %.4f\n", (double)(total / (float)watch.steps), (double)weights[0]);
	return 0;
}
