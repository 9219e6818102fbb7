/*
 * Estimates water levels in a net of canals: messages along its edges, a readout that learns, two threads.
 *
 * Planted: each thread gets half of the reaches by number, but reaches are numbered by how many others they meet, so
 * the second thread has most of the edges, and the first waits for it at a barrier after each round.
 * Truth: time that the thread of the steps waits at barriers, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { REACHES = 8000, FEATURES = 24, ROUNDS = 3, MOST = 60 };

struct net {
	int begin[REACHES + 1], to[REACHES * MOST];
	float level[ROUNDS + 1][REACHES][FEATURES];
	float mix[ROUNDS][FEATURES][FEATURES], gate[ROUNDS][FEATURES];
	float readout[FEATURES], gauge[REACHES];
};

static struct net net;
static pthread_barrier_t together;
static volatile bool over;
static uint64_t team;

static float small(int n) { return sinf((float)n * 12.9898f) * 0.5f; }

/* Culverts count as canals; the ones inland meet many. */
static int meets(int reach) { return 2 + 56 * reach / REACHES; }

static void build(void)
{
	int edges = 0;

	for (int r = 0; r < REACHES; r++) {
		net.begin[r] = edges;
		for (int e = 0; e < meets(r); e++)
			net.to[edges++] = (r * 31 + e * e * 97 + 7) % REACHES;
		net.gauge[r] = small(r * 3);
		for (int f = 0; f < FEATURES; f++)
			net.level[0][r][f] = small(r * FEATURES + f);
	}
	net.begin[REACHES] = edges;
	for (int n = 0; n < ROUNDS; n++)
		for (int f = 0; f < FEATURES; f++) {
			net.gate[n][f] = small(5 * (n * FEATURES + f) + 1);
			for (int k = 0; k < FEATURES; k++)
				net.mix[n][f][k] = 0.5f * small((n * FEATURES + f) * FEATURES + k);
		}
}

static void messages(int round, int first, int last)
{
	for (int r = first; r < last; r++) {
		const float *mine = net.level[round][r];
		float sum[FEATURES] = { 0 };

		for (int e = net.begin[r]; e < net.begin[r + 1]; e++) {
			const float *other = net.level[round][net.to[e]];
			float flow = 0;

			for (int f = 0; f < FEATURES; f++)
				flow += net.gate[round][f] * (mine[f] - other[f]);
			flow = 1 / (1 + expf(-flow));
			for (int f = 0; f < FEATURES; f++)
				sum[f] += flow * other[f];
		}
		for (int f = 0; f < FEATURES; f++) {
			float a = mine[f];

			for (int k = 0; k < FEATURES; k++)
				a += net.mix[round][f][k] * sum[k];
			net.level[round + 1][r][f] = a / (1 + fabsf(a));
		}
	}
}

static void *second_half(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&together);
		if (over)
			return unused;
		for (int round = 0; round < ROUNDS; round++) {
			{
				DWELL_WORKER(team);
				messages(round, REACHES / 2, REACHES);
			}
			pthread_barrier_wait(&together);
		}
	}
}

static float learn(float rate)
{
	float slope[FEATURES] = { 0 }, loss = 0;

	for (int r = 0; r < REACHES; r++) {
		float miss = -net.gauge[r];

		for (int f = 0; f < FEATURES; f++)
			miss += net.readout[f] * net.level[ROUNDS][r][f];
		for (int f = 0; f < FEATURES; f++)
			slope[f] += miss * net.level[ROUNDS][r][f];
		loss += miss * miss;
	}
	for (int f = 0; f < FEATURES; f++)
		net.readout[f] -= rate * slope[f] / REACHES;
	return loss / REACHES;
}

int main(void)
{
	struct watch watch;
	pthread_t helper;
	float loss = 0;

	build();
	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&helper, NULL, second_half, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		/* New measurements at the gauges. */
		for (int r = 0; r < REACHES; r++)
			net.level[0][r][0] = small(r + watch.steps);
		{
			DWELL_ZONE("rounds");
			team = DWELL_TEAM();
			pthread_barrier_wait(&together);
			for (int round = 0; round < ROUNDS; round++) {
				messages(round, 0, REACHES / 2);
				planted_begin(&watch);
				pthread_barrier_wait(&together);
				planted_end(&watch);
			}
		}
		DWELL_ZONE("readout");
		loss = learn(0.05f);
	}
	watch_tell(&watch);
	over = true;
	pthread_barrier_wait(&together);
	pthread_join(helper, NULL);
	fprintf(stderr, "loss %g\n", (double)loss);
	return 0;
}
