/*
 * Predicts the depth of snow at stakes on a slope: a small network with one hidden layer and groups of places as a further input.
 *
 * Planted: each fourteenth step forms the groups of all places anew, ten rounds of means, though the places do not move.
 * Truth: time of forming groups in the loop, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 6000, WHERE = 8, GROUPS = 20, IN = 40, HIDDEN = 160, BATCH = 48, ROUNDS = 10 };

struct slope {
	float place[PLACES][WHERE];
	float centre[GROUPS][WHERE];
	int group[PLACES];
};

struct net {
	float in[HIDDEN][IN + GROUPS], out[HIDDEN];
	float in_change[HIDDEN][IN + GROUPS], out_change[HIDDEN];
};

static struct slope slope;
static struct net net;
static float weather[PLACES][IN], depth[PLACES];

static void form_groups(struct slope *slope)
{
	for (int g = 0; g < GROUPS; g++)
		memcpy(slope->centre[g], slope->place[g * (PLACES / GROUPS)], sizeof(slope->centre[g]));
	for (int round = 0; round < ROUNDS; round++) {
		float sum[GROUPS][WHERE] = {{0}};
		int count[GROUPS] = {0};

		for (int p = 0; p < PLACES; p++) {
			float least = 1e30f;
			for (int g = 0; g < GROUPS; g++) {
				float far = 0;
				for (int i = 0; i < WHERE; i++) {
					const float d = slope->place[p][i] - slope->centre[g][i];
					far += d * d;
				}
				if (far < least) {
					least = far;
					slope->group[p] = g;
				}
			}
			count[slope->group[p]]++;
			for (int i = 0; i < WHERE; i++)
				sum[slope->group[p]][i] += slope->place[p][i];
		}
		for (int g = 0; g < GROUPS; g++)
			for (int i = 0; i < WHERE && count[g]; i++)
				slope->centre[g][i] = sum[g][i] / (float)count[g];
	}
}

static float pass(int p)
{
	float x[IN + GROUPS] = {0}, h[HIDDEN], y = 0;

	memcpy(x, weather[p], sizeof(weather[p]));
	x[IN + slope.group[p]] = 1;
	for (int k = 0; k < HIDDEN; k++) {
		float sum = 0;
		for (int i = 0; i < IN + GROUPS; i++)
			sum += net.in[k][i] * x[i];
		h[k] = tanhf(sum);
		y += net.out[k] * h[k];
	}
	const float wrong = y - depth[p];
	for (int k = 0; k < HIDDEN; k++) {
		const float back = wrong * net.out[k] * (1 - h[k] * h[k]);
		net.out_change[k] += wrong * h[k];
		for (int i = 0; i < IN + GROUPS; i++)
			net.in_change[k][i] += back * x[i];
	}
	return wrong * wrong;
}

static void change(float rate)
{
	float *w = &net.in[0][0], *c = &net.in_change[0][0];

	for (int i = 0; i < HIDDEN * (IN + GROUPS); i++) {
		w[i] -= rate * c[i];
		c[i] = 0;
	}
	for (int k = 0; k < HIDDEN; k++) {
		net.out[k] -= rate * net.out_change[k];
		net.out_change[k] = 0;
	}
}

int main(void)
{
	struct watch watch;
	float loss = 0;

	for (int p = 0; p < PLACES; p++) {
		for (int i = 0; i < WHERE; i++)
			slope.place[p][i] = sinf((float)(p * (i + 2)) * 0.37f);
		for (int i = 0; i < IN; i++)
			weather[p][i] = cosf((float)(p * 3 + i * 17));
		depth[p] = 1 + 0.5f * slope.place[p][0] + 0.2f * weather[p][3];
	}
	for (int i = 0; i < HIDDEN * (IN + GROUPS); i++)
		(&net.in[0][0])[i] = 0.1f * sinf((float)i * 1.3f);
	for (int k = 0; k < HIDDEN; k++)
		net.out[k] = 0.05f * cosf((float)k);
	form_groups(&slope);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		if (watch.steps % 14 == 13) {
			DWELL_ZONE("groups");
			planted_begin(&watch);
			form_groups(&slope);
			planted_end(&watch);
		}
		{
			DWELL_ZONE("forward and backward");
			loss = 0;
			for (int b = 0; b < BATCH; b++)
				loss += pass((int)((watch.steps * BATCH + b) * 7 % PLACES));
		}
		DWELL_ZONE("change");
		change(2e-4f);
	}
	watch_tell(&watch);
	printf("loss %.4f\n", (double)loss / BATCH);
	return 0;
}
