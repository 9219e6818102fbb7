/*
 * Deep hedging: a small network decides, day by day, how much of a share to hold against an option that was sold; random paths, gradients
 * by hand. A desk's limit is kept by scaling what the network wants.
 *
 * Planted: in every sixteenth step the limit is found anew, from all 24000 historical paths, by walking the network over each of them.
 * Truth: time of finding the limit, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DAYS = 20, UNITS = 24, PATHS = 1600, HISTORY = 24000, EVERY = 16 };

struct network {
	float day[UNITS], price[UNITS], shift[UNITS], out[UNITS];
};

static struct network network, slope;
static float path[PATHS][DAYS + 1];
static int8_t history[HISTORY][DAYS];
static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static float bell(void)
{
	float sum = 0;

	for (int i = 0; i < 4; i++)
		sum += (float)(draw() >> 40) / 16777216.0f;
	return (sum - 2.0f) * 1.732f;
}

static float squash(float x)
{
	return x / (1.0f + fabsf(x));
}

static float wanted(float day, float price, float *units)
{
	float sum = 0.5f;

	for (int u = 0; u < UNITS; u++) {
		units[u] = squash(network.day[u] * day + network.price[u] * price + network.shift[u]);
		sum += network.out[u] * units[u];
	}
	return sum;
}

static void draw_paths(void)
{
	DWELL_ZONE("paths");
	for (int p = 0; p < PATHS; p++) {
		path[p][0] = 1;
		for (int d = 0; d < DAYS; d++)
			path[p][d + 1] = path[p][d] * (1.0f + 0.012f * bell());
	}
}

/* The loss that one path of a thousand exceeds, were the network's holdings not scaled. */
static float find_limit(void)
{
	static float losses[HISTORY];
	float units[UNITS], worst[32] = {0};

	for (int h = 0; h < HISTORY; h++) {
		float price = 1, loss = 0;

		for (int d = 0; d < DAYS; d++) {
			const float move = (float)history[h][d] * 2e-4f * price;

			loss -= wanted((float)d / DAYS, price - 1, units) * move;
			price += move;
		}
		losses[h] = loss + fmaxf(price - 1, 0);
	}
	for (int h = 0; h < HISTORY; h++) {
		int at = 31;

		if (losses[h] <= worst[at])
			continue;
		for (; at > 0 && worst[at - 1] < losses[h]; at--)
			worst[at] = worst[at - 1];
		worst[at] = losses[h];
	}
	return worst[HISTORY / 1000];
}

static float hedge(float scale)
{
	DWELL_ZONE("hedge");
	float square = 0;

	memset(&slope, 0, sizeof slope);
	for (int p = 0; p < PATHS; p++) {
		float units[DAYS][UNITS], result = 0.02f;

		for (int d = 0; d < DAYS; d++)
			result += scale * wanted((float)d / DAYS, path[p][d] - 1, units[d]) * (path[p][d + 1] - path[p][d]);
		result -= fmaxf(path[p][DAYS] - 1, 0);
		square += result * result;
		for (int d = 0; d < DAYS; d++) {
			const float back = 2 * result * scale * (path[p][d + 1] - path[p][d]);

			for (int u = 0; u < UNITS; u++) {
				const float left = 1 - fabsf(units[d][u]), inner = back * network.out[u] * left * left;

				slope.out[u] += back * units[d][u];
				slope.day[u] += inner * (float)d / DAYS;
				slope.price[u] += inner * (path[p][d] - 1);
				slope.shift[u] += inner;
			}
		}
	}
	return square / PATHS;
}

static void descend(void)
{
	DWELL_ZONE("descend");
	float *weight = (float *)&network;
	const float *by = (const float *)&slope;

	for (size_t i = 0; i < sizeof network / sizeof *weight; i++)
		weight[i] -= 0.02f * by[i] / PATHS;
}

int main(void)
{
	struct watch watch;
	float scale = 1, error = 0;

	for (size_t i = 0; i < sizeof network / sizeof(float); i++)
		((float *)&network)[i] = 0.3f * bell();
	for (int h = 0; h < HISTORY; h++)
		for (int d = 0; d < DAYS; d++)
			history[h][d] = (int8_t)(60 * bell() / 2);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		if (watch.steps % EVERY == EVERY - 1) {
			planted_begin(&watch);
			DWELL_ZONE("limit");
			const float limit = find_limit();
			scale = limit > 0.2f ? 0.2f / limit : 1;
			planted_end(&watch);
		}
		draw_paths();
		error = hedge(scale);
		descend();
	}
	watch_tell(&watch);
	printf("error %.6f, scale %.3f\n", (double)error, (double)scale);
	return 0;
}
