/*
 * Embeds the entities of a knowledge graph with TransE and negative samples.
 *
 * Planted: each negative is drawn by its degree with a walk through the sums of the weights from the beginning.
 * Truth: time of drawing the batch's negatives, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <string.h>

enum { ENTITIES = 30000, RELATIONS = 40, DIM = 96, BATCH = 192, NEGATIVES = 4 };

static float entity[ENTITIES][DIM], relation[RELATIONS][DIM];
static float d_head[BATCH][DIM], d_tail[BATCH][DIM], d_other[BATCH][NEGATIVES][DIM];
static float distance[BATCH], far[BATCH][NEGATIVES];
static double up_to[ENTITIES];
static struct triple { int head, relation, tail; } batch[BATCH];
static int other[BATCH][NEGATIVES];
static unsigned long long state = 88172645463325252ull;

static double uniform(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(state >> 11) / 9007199254740992.0;
}

static int draw_entity(void)
{
	double wanted = uniform() * up_to[ENTITIES - 1];
	int at = 0;
	while (at < ENTITIES - 1 && up_to[at] < wanted)
		at++;
	return at;
}

static void next_triples(void)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "triples");
	for (int i = 0; i < BATCH; i++) {
		batch[i].head = (int)(uniform() * ENTITIES), batch[i].relation = (int)(uniform() * RELATIONS);
		batch[i].tail = (batch[i].head * 31 + batch[i].relation * 977) % ENTITIES;
	}
}

static void next_negatives(struct watch *watch)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "negatives");
	planted_begin(watch);
	for (int i = 0; i < BATCH; i++)
		for (int k = 0; k < NEGATIVES; k++)
			other[i][k] = draw_entity();
	planted_end(watch);
}

static float far_apart(const float *head, const float *by, const float *tail)
{
	float sum = 1e-6f;
	for (int d = 0; d < DIM; d++) {
		float gap = tanhf(head[d]) + by[d] - tanhf(tail[d]);
		sum += gap * gap;
	}
	return sqrtf(sum);
}

static double forward(void)
{
	DWELL_PHASE("forward");
	double loss = 0;
	for (int i = 0; i < BATCH; i++) {
		struct triple t = batch[i];
		distance[i] = far_apart(entity[t.head], relation[t.relation], entity[t.tail]);
		for (int k = 0; k < NEGATIVES; k++) {
			far[i][k] = far_apart(entity[t.head], relation[t.relation], entity[other[i][k]]);
			loss += fmax(0, 1 + (double)distance[i] - (double)far[i][k]);
		}
	}
	return loss / BATCH;
}

static void backward(void)
{
	DWELL_PHASE("backward");
	memset(d_head, 0, sizeof(d_head)), memset(d_tail, 0, sizeof(d_tail)), memset(d_other, 0, sizeof(d_other));
	for (int i = 0; i < BATCH; i++)
		for (int k = 0; k < NEGATIVES; k++)
			for (int d = 0; 1 + distance[i] > far[i][k] && d < DIM; d++) {
				float h = tanhf(entity[batch[i].head][d]), t = tanhf(entity[batch[i].tail][d]);
				float o = tanhf(entity[other[i][k]][d]), by = relation[batch[i].relation][d];
				float near_gap = (h + by - t) / distance[i], far_gap = (h + by - o) / far[i][k];
				d_head[i][d] += (near_gap - far_gap) * (1 - h * h);
				d_tail[i][d] -= near_gap * (1 - t * t);
				d_other[i][k][d] = far_gap * (1 - o * o);
			}
}

static void update(void)
{
	DWELL_PHASE("optimizer");
	for (int i = 0; i < BATCH; i++)
		for (int d = 0; d < DIM; d++) {
			entity[batch[i].head][d] -= 0.02f * d_head[i][d], entity[batch[i].tail][d] -= 0.02f * d_tail[i][d];
			for (int k = 0; k < NEGATIVES; k++)
				entity[other[i][k]][d] -= 0.02f * d_other[i][k][d];
		}
}

int main(void)
{
	struct watch watch;
	double loss = 0, sum = 0;
	for (int e = 0; e < ENTITIES; e++) {
		up_to[e] = sum += pow(1 + (double)((unsigned)e * 2654435761u % 400), 0.75);
		for (int d = 0; d < DIM; d++)
			entity[e][d] = (float)uniform() - 0.5f, relation[e % RELATIONS][d] = (float)uniform() - 0.5f;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		next_triples();
		next_negatives(&watch);
		loss = forward();
		backward();
		update();
	}
	watch_tell(&watch);
	fprintf(stderr, "loss %.3f\n", loss);
}
