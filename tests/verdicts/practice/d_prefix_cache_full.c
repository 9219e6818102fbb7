/*
 * An engine for language models that keeps the keys of earlier prompts, in blocks found by a hash of all before.
 *
 * Planted: after some seconds the cache is full. From then on each new block takes the place of the one that was not
 * used for longest, which a scan of the whole cache finds.
 * Truth: time of these scans, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 7, BLOCKS = 40000, BUCKETS = 65536, A_PROMPT = 64, KNOWN = 16, WIDTH = 64, HEADS = 8, CONTEXT = 1024 };

struct block {
	uint64_t hash, used;
	int next; /* in its bucket, -1: none */
	float summary[10];
};

static struct block cache[BLOCKS];
static int buckets[BUCKETS], filled;
static float keys[CONTEXT][WIDTH], values[CONTEXT][WIDTH], query[HEADS][WIDTH], output[HEADS][WIDTH];

static uint64_t mix(uint64_t hash, uint64_t token)
{
	hash = (hash ^ token) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static struct block *find(uint64_t hash)
{
	for (int at = buckets[hash % BUCKETS]; at >= 0; at = cache[at].next)
		if (cache[at].hash == hash)
			return &cache[at];
	return NULL;
}

static int oldest(void)
{
	int found = 0;

	for (int at = 1; at < BLOCKS; at++)
		if (cache[at].used < cache[found].used)
			found = at;
	return found;
}

static void store(uint64_t hash, uint64_t now, struct watch *watch)
{
	int at = filled < BLOCKS ? filled++ : -1;

	if (at < 0) {
		int *link;

		planted_begin(watch);
		at = oldest();
		planted_end(watch);
		for (link = &buckets[cache[at].hash % BUCKETS]; *link != at; link = &cache[*link].next)
			;
		*link = cache[at].next;
	}
	cache[at] = (struct block){ .hash = hash, .used = now, .next = buckets[hash % BUCKETS] };
	memcpy(cache[at].summary, output[hash % HEADS], sizeof(cache[at].summary));
	buckets[hash % BUCKETS] = at;
}

static void attend(void)
{
	static float scores[CONTEXT];

	for (int head = 0; head < HEADS; head++) {
		float all = 0;

		for (int token = 0; token < CONTEXT; token++) {
			float sum = 0;

			for (int at = 0; at < WIDTH; at++)
				sum += query[head][at] * keys[token][at];
			all += scores[token] = expf(sum * 0.125f);
		}
		memset(output[head], 0, sizeof(output[head]));
		for (int token = 0; token < CONTEXT; token++)
			for (int at = 0; at < WIDTH; at++)
				output[head][at] += scores[token] / all * values[token][at];
	}
}

int main(void)
{
	struct watch watch;
	uint64_t hits = 0;

	memset(buckets, -1, sizeof(buckets));
	for (int token = 0; token < CONTEXT; token++)
		for (int at = 0; at < WIDTH; at++) {
			keys[token][at] = sinf((float)(token * at)) / 4;
			values[token][at] = cosf((float)(token + at));
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		uint64_t now = (uint64_t)watch.steps + 1, hash = now % 5, missing[A_PROMPT];
		int count = 0;

		{
			DWELL_ZONE("match prefix");
			for (uint64_t at = 0; at < A_PROMPT; at++) {
				struct block *block;

				hash = mix(hash, at < KNOWN ? at : now * 64 + at);
				block = find(hash);
				if (block) {
					block->used = now;
					hits++;
				} else {
					missing[count++] = hash;
				}
			}
		}
		{
			DWELL_ZONE("prefill");
			for (int head = 0; head < HEADS; head++)
				for (int at = 0; at < WIDTH; at++)
					query[head][at] = (float)(hash >> (at % 48) & 15) / 16;
			for (int layer = 0; layer < 6; layer++)
				attend();
		}
		DWELL_ZONE("keep blocks");
		for (int at = 0; at < count; at++)
			store(missing[at], now, &watch);
	}
	watch_tell(&watch);
	printf("%llu blocks were known\n", (unsigned long long)hits);
	return 0;
}
