/*
 * How long a van needs for its route: stops attend to each other, and a sum over them foretells the hours. A team of two threads
 * shares the routes of a day.
 *
 * Planted: routes come sorted by their number of stops and are dealt in two blocks, so one thread is done long before the other.
 * Truth: time that the earlier thread rests until the other is done, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { ROUTES = 240, MOST = 52, FEWEST = 30, FEATURES = 12, KEYS = 24, TEAM = 2 };

struct route {
	int stops;
	float hours;
	float stop[MOST][FEATURES];
};

struct weights {
	float query[KEYS][FEATURES], key[KEYS][FEATURES], value[KEYS][FEATURES], out[KEYS];
};

static struct route routes[ROUTES];
static struct weights model, slope[TEAM];
static double done[TEAM];

static void project(float to[KEYS], float from[KEYS][FEATURES], const float *stop)
{
	for (int k = 0; k < KEYS; k++) {
		float sum = 0;

		for (int f = 0; f < FEATURES; f++)
			sum += from[k][f] * stop[f];
		to[k] = sum;
	}
}

/* Adds the slopes of one route; the attention's weights are taken as given in the backward pass. */
static float one_route(const struct route *route, struct weights *into)
{
	float query[MOST][KEYS], key[MOST][KEYS], value[MOST][KEYS], mixed[MOST][KEYS], said = 0;
	const int n = route->stops;

	for (int s = 0; s < n; s++) {
		project(query[s], model.query, route->stop[s]);
		project(key[s], model.key, route->stop[s]);
		project(value[s], model.value, route->stop[s]);
	}
	for (int s = 0; s < n; s++) {
		float weight[MOST], sum = 0;

		memset(mixed[s], 0, sizeof mixed[s]);
		for (int t = 0; t < n; t++) {
			float dot = 0;

			for (int k = 0; k < KEYS; k++)
				dot += query[s][k] * key[t][k];
			weight[t] = expf(0.2f * dot);
			sum += weight[t];
		}
		for (int t = 0; t < n; t++)
			for (int k = 0; k < KEYS; k++)
				mixed[s][k] += weight[t] / sum * value[t][k];
		for (int k = 0; k < KEYS; k++)
			said += model.out[k] * mixed[s][k] / (float)n;
	}
	const float wrong = said - route->hours;

	for (int s = 0; s < n; s++)
		for (int k = 0; k < KEYS; k++) {
			into->out[k] += wrong * mixed[s][k] / (float)n;
			for (int f = 0; f < FEATURES; f++)
				into->value[k][f] += wrong * model.out[k] * route->stop[s][f] / (float)n;
		}
	return wrong * wrong;
}

static float day(void)
{
	float loss = 0;

	memset(slope, 0, sizeof slope);
#pragma omp parallel num_threads(TEAM) reduction(+ : loss)
	{
		const int me = omp_get_thread_num();

#pragma omp for schedule(static) nowait
		for (int r = 0; r < ROUTES; r++)
			loss += one_route(&routes[r], &slope[me]);
		done[me] = now_s();
	}
	return loss / ROUTES;
}

static void update(void)
{
	float *to = (float *)&model;

	for (size_t i = 0; i < sizeof model / sizeof *to; i++)
		for (int t = 0; t < TEAM; t++)
			to[i] -= 2e-3f / ROUTES * ((const float *)&slope[t])[i];
}

int main(void)
{
	struct watch watch;
	float loss = 0;

	srand(19);
	for (size_t i = 0; i < sizeof model / sizeof(float); i++)
		((float *)&model)[i] = 0.3f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (int r = 0; r < ROUTES; r++) {
		routes[r].stops = FEWEST + r * (MOST - FEWEST) / ROUTES;
		routes[r].hours = 0.1f * (float)routes[r].stops;
		for (int s = 0; s < routes[r].stops; s++)
			for (int f = 0; f < FEATURES; f++)
				routes[r].stop[s][f] = (float)rand() / (float)RAND_MAX;
	}
	day();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("routes");
			loss = day();
		}
		watch.planted_s += fabs(done[0] - done[1]);
		{
			DWELL_ZONE("update");
			update();
		}
	}
	watch_tell(&watch);
	printf("loss %.4f\n", (double)loss);
	return 0;
}
