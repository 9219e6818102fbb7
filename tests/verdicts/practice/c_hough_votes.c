/*
 * A Hough forest looks for pedestrians: each patch goes down eight trees, and its leaves vote for centres.
 *
 * Planted: the map of votes is one for all threads of OpenMP, and a patch votes within a critical section.
 * Truth: time until the first thread is let into that section, and until the other is done, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <omp.h>
#include <stdint.h>
#include <string.h>

enum { trees = 8, depth = 12, patches = 400, votes_of_leaf = 1000, map_side = 256, patch_size = 256 };

struct node {
	uint16_t first, second;
	int8_t threshold;
};

static struct node forest[trees][1 << depth];
static float map[map_side * map_side];
static int8_t picture[patches][patch_size];
static struct watch watch;

static void take_picture(unsigned number)
{
	DWELL_ZONE("picture");
	unsigned seed = number * 2654435761u + 1;

	for (int p = 0; p < patches; p++)
		for (int i = 0; i < patch_size; i++) {
			seed = seed * 1664525u + 1013904223u;
			picture[p][i] = (int8_t)(seed >> 25);
		}
}

static unsigned descend(int tree, const int8_t *patch)
{
	unsigned at = 1;

	for (int level = 0; level < depth - 1; level++) {
		const struct node *node = &forest[tree][at];
		int sum = 0;

		/* smooth both regions before the comparison */
		for (int k = 0; k < 24; k++)
			sum += patch[(node->first + k) % patch_size] - patch[(node->second + k) % patch_size];
		at = 2 * at + (sum / 24 > node->threshold);
	}
	return at;
}

static void vote(unsigned leaf, int patch)
{
	unsigned offset = leaf * 40503u;

	for (int v = 0; v < votes_of_leaf; v++) {
		offset = offset * 5u + 12345u;
		map[((unsigned)patch * 160u + (offset >> 8) % 4096u) % (map_side * map_side)] += 1.0f / votes_of_leaf;
	}
}

static void detect(void)
{
	DWELL_ZONE("detect");
#pragma omp parallel
	{
		const bool first = omp_get_thread_num() == 0;

#pragma omp for schedule(static) nowait
		for (int p = 0; p < patches; p++) {
			unsigned leaves[trees];

			for (int t = 0; t < trees; t++)
				leaves[t] = descend(t, picture[p]);
			if (first)
				planted_begin(&watch);
#pragma omp critical(votes)
			{
				if (first)
					planted_end(&watch);
				for (int t = 0; t < trees; t++)
					vote(leaves[t], p);
			}
		}
		if (first)
			planted_begin(&watch);
#pragma omp barrier
		if (first)
			planted_end(&watch);
	}
}

static int strongest(void)
{
	DWELL_ZONE("strongest");
	int best = 0;

	for (int at = 1; at < map_side * map_side; at++)
		if (map[at] > map[best])
			best = at;
	memset(map, 0, sizeof(map));
	return best;
}

int main(void)
{
	unsigned seed = 7;
	long found = 0;

	for (int t = 0; t < trees; t++)
		for (int n = 0; n < 1 << depth; n++) {
			seed = seed * 1664525u + 1013904223u;
			forest[t][n] = (struct node){ (uint16_t)(seed >> 8 & 255), (uint16_t)(seed >> 16 & 255), (int8_t)(seed >> 28) };
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		take_picture((unsigned)watch.steps);
		detect();
		found += strongest();
	}
	watch_tell(&watch);
	return found < 0;
}
