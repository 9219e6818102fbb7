/*
 * Inference of a graph network (GraphSAGE) for a co-authorship graph; two threads take chunks of nodes as they come.
 *
 * Planted: nothing; the threads wait for each other only at the end of a layer.
 * Truth: time that the first thread waits there, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define NODES  24000
#define DEGREE 10
#define WIDTH  32
#define CHUNK  48
#define LAYERS 2

static uint32_t neighbours[NODES][DEGREE];
static float states[LAYERS + 1][NODES][WIDTH];
static float self_w[LAYERS][WIDTH][WIDTH], near_w[LAYERS][WIDTH][WIDTH];
static pthread_barrier_t start, finish;
static atomic_int next_node;
static int current;
static bool ended;
static struct watch watch;

static void node(int layer, int n)
{
	float mean[WIDTH] = { 0 };
	const float *own = states[layer][n];

	for (int d = 0; d < DEGREE; d++) {
		const float *other = states[layer][neighbours[n][d]];

		for (int i = 0; i < WIDTH; i++)
			mean[i] += other[i];
	}
	for (int o = 0; o < WIDTH; o++) {
		float sum = 0;

		for (int i = 0; i < WIDTH; i++)
			sum += self_w[layer][o][i] * own[i] + near_w[layer][o][i] * mean[i];
		states[layer + 1][n][o] = sum > 0 ? sum : 0;
	}
}

static void chunks(void)
{
	int first;

	while ((first = atomic_fetch_add(&next_node, CHUNK)) < NODES)
		for (int n = first; n < first + CHUNK && n < NODES; n++)
			node(current, n);
}

static void *helper(void *unused)
{
	dwell_thread_name("helper");
	for (;;) {
		pthread_barrier_wait(&start);
		if (ended)
			return unused;
		chunks();
		pthread_barrier_wait(&finish);
	}
}

static void layer(int number)
{
	atomic_store(&next_node, 0);
	current = number;
	pthread_barrier_wait(&start);
	chunks();
	planted_begin(&watch);
	pthread_barrier_wait(&finish);
	planted_end(&watch);
}

static void new_features(void)
{
	DWELL_OP("features");
	for (int n = 0; n < NODES; n++)
		for (int i = 0; i < WIDTH; i++)
			states[0][n][i] = (float)((n * 3 + i * 7 + watch.steps) & 63) / 64;
}

int main(void)
{
	pthread_t thread;
	float score = 0;

	srand(3);
	for (int n = 0; n < NODES; n++)
		for (int d = 0; d < DEGREE; d++)
			neighbours[n][d] = (uint32_t)rand() % NODES;
	for (int l = 0; l < LAYERS; l++)
		for (int o = 0; o < WIDTH; o++)
			for (int i = 0; i < WIDTH; i++) {
				self_w[l][o][i] = (float)(rand() % 100 - 50) / 200;
				near_w[l][o][i] = (float)(rand() % 100 - 50) / 2000;
			}
	pthread_barrier_init(&start, NULL, 2);
	pthread_barrier_init(&finish, NULL, 2);
	pthread_create(&thread, NULL, helper, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		new_features();
		{
			DWELL_OP("sage.0");
			layer(0);
		}
		{
			DWELL_OP("sage.1");
			layer(1);
		}
		score += states[LAYERS][watch.steps % NODES][0];
	}
	watch_tell(&watch);
	ended = true;
	pthread_barrier_wait(&start);
	pthread_join(thread, NULL);
	return score < 0;
}
