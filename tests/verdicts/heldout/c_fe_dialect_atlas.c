/*
 * Finds the village of a speaker: recordings are embedded by a small network, and each is compared with the recordings that an
 * atlas remembers; its village is a vote of the nearest ones. What was just heard is then remembered, too.
 *
 * Planted: nobody looks whether a recording is in the atlas already, so the same 512 are remembered anew in each pass.
 * Truth: time of the comparisons with entries after the first 512, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOUNDS = 256, HIDDEN = 256, EMBEDDED = 32, VILLAGES = 20, RECORDINGS = 512, BATCH = 32, NEAREST = 5 };

struct entry {
	float at[EMBEDDED];
	int village;
};

struct atlas {
	struct entry *entries;
	size_t count, space;
};

struct neighbours {
	float distance[NEAREST];
	int village[NEAREST];
};

static float layer[HIDDEN][SOUNDS], project[EMBEDDED][HIDDEN];
static float recordings[RECORDINGS][SOUNDS];
static int villages[RECORDINGS];

static float uniform(void)
{
	return (float)rand() / (float)RAND_MAX - 0.5f;
}

static void embed(const float *sound, float *to)
{
	float hidden[HIDDEN];

	for (int h = 0; h < HIDDEN; h++) {
		float sum = 0;
		for (int s = 0; s < SOUNDS; s++)
			sum += layer[h][s] * sound[s];
		hidden[h] = sum > 0 ? sum : 0.1f * sum;
	}
	for (int e = 0; e < EMBEDDED; e++) {
		to[e] = 0;
		for (int h = 0; h < HIDDEN; h++)
			to[e] += project[e][h] * hidden[h];
	}
}

static void compare(struct neighbours *found, const float *at, const struct entry *entry, const struct entry *end)
{
	for (; entry < end; entry++) {
		float distance = 0;

		for (int e = 0; e < EMBEDDED; e++)
			distance += (at[e] - entry->at[e]) * (at[e] - entry->at[e]);
		if (distance >= found->distance[NEAREST - 1])
			continue;
		int place = NEAREST - 1;
		for (; place > 0 && found->distance[place - 1] > distance; place--) {
			found->distance[place] = found->distance[place - 1];
			found->village[place] = found->village[place - 1];
		}
		found->distance[place] = distance;
		found->village[place] = entry->village;
	}
}

static int vote(const struct neighbours *found)
{
	int votes[VILLAGES] = {0}, best = 0;

	for (int n = 0; n < NEAREST; n++)
		if (found->village[n] >= 0)
			votes[found->village[n]]++;
	for (int v = 1; v < VILLAGES; v++)
		if (votes[v] > votes[best])
			best = v;
	return best;
}

static void remember(struct atlas *atlas, const float *at, int village)
{
	if (atlas->count == atlas->space) {
		atlas->space = atlas->space ? 2 * atlas->space : 1024;
		atlas->entries = realloc(atlas->entries, atlas->space * sizeof *atlas->entries);
		if (!atlas->entries)
			abort();
	}
	memcpy(atlas->entries[atlas->count].at, at, sizeof atlas->entries->at);
	atlas->entries[atlas->count++].village = village;
}

int main(void)
{
	static float at[BATCH][EMBEDDED];
	static struct neighbours found[BATCH];
	struct atlas atlas = {0};
	struct watch watch;
	long right = 0;

	srand(53);
	for (int h = 0; h < HIDDEN; h++) {
		for (int s = 0; s < SOUNDS; s++)
			layer[h][s] = 0.1f * uniform();
		for (int e = 0; e < EMBEDDED; e++)
			project[e][h] = 0.2f * uniform();
	}
	for (int r = 0; r < RECORDINGS; r++) {
		villages[r] = rand() % VILLAGES;
		for (int s = 0; s < SOUNDS; s++)
			recordings[r][s] = uniform() + sinf((float)(s * villages[r]) * 0.01f);
	}
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		const int first = watch.steps * BATCH % RECORDINGS;

		{
			DWELL_ZONE("embed");
			for (int n = 0; n < BATCH; n++)
				for (int view = 0; view < 3; view++) /* early, middle and late */
					embed(recordings[first + n], at[n]);
		}
		{
			DWELL_ZONE("compare");
			const size_t once = atlas.count < RECORDINGS ? atlas.count : RECORDINGS;

			for (int n = 0; n < BATCH; n++) {
				for (int k = 0; k < NEAREST; k++)
					found[n].distance[k] = INFINITY, found[n].village[k] = -1;
				compare(&found[n], at[n], atlas.entries, atlas.entries + once);
			}
			planted_begin(&watch);
			for (int n = 0; n < BATCH; n++)
				compare(&found[n], at[n], atlas.entries + once, atlas.entries + atlas.count);
			planted_end(&watch);
		}
		for (int n = 0; n < BATCH; n++) {
			right += vote(&found[n]) == villages[first + n];
			remember(&atlas, at[n], villages[first + n]);
		}
		watch.steps++;
	}
	watch_tell(&watch);
	printf("right %ld, atlas of %zu\n", right, atlas.count);
	free(atlas.entries);
	return 0;
}
