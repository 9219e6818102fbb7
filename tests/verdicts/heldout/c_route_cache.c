/*
 * Couriers of a city learn how long their ways take. A way is searched once and kept in a cache.
 *
 * Planted: once the cache is full, after about 2.5 seconds, each new way replaces the one unused for longest, which
 * is found by a walk over all entries.
 * Truth: time of these walks, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY 45000
#define BUCKETS 65536
#define PER_STEP 24
#define PLACES 4000
#define FEATURES 8

struct way {
	uint32_t from_to;
	int32_t next;
	uint64_t used;
	float features[FEATURES];
	float length;
	float minutes;
	uint32_t pad[2];
};

static struct way *ways;
static int32_t bucket[BUCKETS];
static int count;
static uint64_t tick;
static float place[PLACES][2], weight[64][FEATURES], head[64];

static unsigned hash(uint32_t key) { return (key * 2654435761u) >> 16; }

static void search_way(struct way *way)
{
	const float *from = place[way->from_to % PLACES], *to = place[way->from_to / PLACES];
	float x = from[0], y = from[1];

	for (int leg = 0; leg < 160; leg++) {
		float dx = to[0] - x, dy = to[1] - y, jam = 1 + 0.5f * sinf(9 * x) * cosf(7 * y);

		x += dx * 0.03f, y += dy * 0.03f;
		way->length += sqrtf(dx * dx + dy * dy) * 0.03f;
		way->features[leg % FEATURES] += jam;
	}
	way->minutes = way->length * 11 + way->features[3] * 0.02f;
}

static int take_slot(struct watch *watch)
{
	int oldest = 0;

	if (count < CAPACITY)
		return count++;
	planted_begin(watch);
	for (int i = 1; i < CAPACITY; i++)
		if (ways[i].used < ways[oldest].used)
			oldest = i;
	planted_end(watch);
	int32_t *link = &bucket[hash(ways[oldest].from_to)];
	while (*link != oldest)
		link = &ways[*link].next;
	*link = ways[oldest].next;
	return oldest;
}

static struct way *find_way(uint32_t from_to, struct watch *watch)
{
	int32_t *first = &bucket[hash(from_to)];

	for (int32_t i = *first; i >= 0; i = ways[i].next)
		if (ways[i].from_to == from_to) {
			ways[i].used = ++tick;
			return &ways[i];
		}
	int slot = take_slot(watch);
	struct way *way = &ways[slot];
	memset(way, 0, sizeof *way);
	way->from_to = from_to;
	way->used = ++tick;
	way->next = *first;
	*first = slot;
	search_way(way);
	return way;
}

static float learn(const struct way *way)
{
	float hidden[64], guess = 0, error;

	for (int h = 0; h < 64; h++) {
		float a = 0;
		for (int f = 0; f < FEATURES; f++)
			a += weight[h][f] * way->features[f] * 0.05f;
		hidden[h] = tanhf(a);
		guess += head[h] * hidden[h];
	}
	error = guess - way->minutes;
	for (int h = 0; h < 64; h++) {
		float back = 1e-3f * error * head[h] * (1 - hidden[h] * hidden[h]);
		for (int f = 0; f < FEATURES; f++)
			weight[h][f] -= back * way->features[f] * 0.05f;
		head[h] -= 1e-3f * error * hidden[h];
	}
	return error * error;
}

int main(void)
{
	struct way *orders[PER_STEP];
	struct watch watch;
	float loss = 0;

	ways = calloc(CAPACITY, sizeof *ways);
	memset(bucket, -1, sizeof bucket);
	for (int p = 0; p < PLACES; p++)
		place[p][0] = (float)(rand() % 1000) / 1000, place[p][1] = (float)(rand() % 1000) / 1000;
	for (int h = 0; h < 64; h++) {
		head[h] = (float)(rand() % 100 - 50) / 100;
		for (int f = 0; f < FEATURES; f++)
			weight[h][f] = (float)(rand() % 100 - 50) / 100;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("ways");
			for (int o = 0; o < PER_STEP; o++)
				orders[o] = find_way((uint32_t)rand() % (PLACES * PLACES), &watch);
		}
		DWELL_ZONE("learn");
		for (int epoch = 0; epoch < 50; epoch++)
			for (int o = 0; o < PER_STEP; o++)
				loss = 0.99f * loss + 0.01f * learn(orders[o]);
	}
	watch_tell(&watch);
	fprintf(stderr, "loss %g, %d ways\n", (double)loss, count);
}
