/*
 * Forecasts the temperature in an orchard hour by hour, for an alarm against frost: an Elman network, by hand,
 * unrolled over a day for 32 stations at once.
 *
 * Planted: the limit of the alarm is the 98th percentile of all errors since the start; each step copies the whole
 * list, which only grows, and sorts it with qsort().
 * Truth: time of copying and sorting, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATIONS = 32, HOURS = 24, SENSORS = 6, UNITS = 56, DAYS = 40 };

struct cell { float in[UNITS][SENSORS], again[UNITS][UNITS], out[UNITS]; };

struct errors { float *all, *ordered; size_t count, space; };

static struct cell cell, slope, moved;
static float weather[DAYS][HOURS + 1][STATIONS][SENSORS];
static float state[HOURS + 1][STATIONS][UNITS], error[HOURS][STATIONS];

static float noise(void) { return (float)rand() / (float)RAND_MAX - 0.5f; }

static void make_weather(void)
{
	for (int d = 0; d < DAYS; d++)
		for (int h = 0; h <= HOURS; h++)
			for (int s = 0; s < STATIONS; s++)
				for (int k = 0; k < SENSORS; k++)
					weather[d][h][s][k] = sinf((float)(h + 3 * k + s) / 4 + (float)d) * 0.6f + 0.3f * noise();
}

static void unroll(const int day)
{
	DWELL_ZONE("unroll");
	for (int h = 0; h < HOURS; h++)
		for (int s = 0; s < STATIONS; s++) {
			float guess = 0;

			for (int u = 0; u < UNITS; u++) {
				float a = 0;

				for (int k = 0; k < SENSORS; k++)
					a += cell.in[u][k] * weather[day][h][s][k];
				for (int v = 0; v < UNITS; v++)
					a += cell.again[u][v] * state[h][s][v];
				state[h + 1][s][u] = tanhf(a);
				guess += cell.out[u] * state[h + 1][s][u];
			}
			error[h][s] = guess - weather[day][h + 1][s][0];
		}
}

static void back_in_time(const int day)
{
	DWELL_ZONE("back in time");
	memset(&slope, 0, sizeof slope);
	for (int s = 0; s < STATIONS; s++) {
		float later[UNITS] = { 0 };

		for (int h = HOURS - 1; h >= 0; h--) {
			float here[UNITS], before[UNITS] = { 0 };

			for (int u = 0; u < UNITS; u++) {
				float y = state[h + 1][s][u];

				slope.out[u] += error[h][s] * y;
				here[u] = (later[u] + error[h][s] * cell.out[u]) * (1 - y * y);
			}
			for (int u = 0; u < UNITS; u++) {
				for (int k = 0; k < SENSORS; k++)
					slope.in[u][k] += here[u] * weather[day][h][s][k];
				for (int v = 0; v < UNITS; v++) {
					slope.again[u][v] += here[u] * state[h][s][v];
					before[v] += here[u] * cell.again[u][v];
				}
			}
			memcpy(later, before, sizeof later);
		}
	}
}

static void descend(void)
{
	DWELL_ZONE("descend");
	float *w = &cell.in[0][0], *g = &slope.in[0][0], *m = &moved.in[0][0];

	for (size_t i = 0; i < sizeof cell / sizeof *w; i++)
		w[i] -= m[i] = 0.9f * m[i] + 2e-5f * g[i];
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Above it an error is unusual. */
static float alarm_limit(struct errors *list)
{
	for (int h = 0; h < HOURS; h += 12)
		for (int s = 0; s < STATIONS; s++) {
			if (list->count == list->space) {
				list->space = list->space ? 2 * list->space : 1024;
				list->all = realloc(list->all, list->space * sizeof(float));
				list->ordered = realloc(list->ordered, list->space * sizeof(float));
			}
			list->all[list->count++] = fabsf(error[h][s]);
		}
	memcpy(list->ordered, list->all, list->count * sizeof(float));
	qsort(list->ordered, list->count, sizeof(float), by_size);
	return list->ordered[list->count * 98 / 100];
}

int main(void)
{
	struct errors list = { 0 };
	struct watch watch;
	float limit = 0;
	long alarms = 0;

	make_weather();
	for (size_t i = 0; i < sizeof cell / sizeof(float); i++)
		(&cell.in[0][0])[i] = 0.25f * noise();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		const int day = watch.steps % DAYS;

		DWELL_STEP();
		unroll(day);
		back_in_time(day);
		descend();
		planted_begin(&watch);
		limit = alarm_limit(&list);
		planted_end(&watch);
		for (int s = 0; s < STATIONS; s++)
			alarms += fabsf(error[HOURS - 1][s]) > limit;
	}
	watch_tell(&watch);
	fprintf(stderr, "%ld alarms, limit %g\n", alarms, (double)limit);
	return 0;
}
