/*
 * Parses sentences into trees whose nodes are allocated one by one, then trains on them.
 *
 * Decoy: two thousand calls of malloc() and free() in each step, which take almost nothing.
 * Truth: time of building and freeing the trees, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 5, NODES = 2000, UNITS = 96, ROUNDS = 600 };

struct node {
	struct node *left, *right;
	int word;
};

static float weights[UNITS][UNITS], state[UNITS], slopes[UNITS][UNITS];

static struct node *grow(int count, int word)
{
	struct node *node;

	if (count <= 0)
		return NULL;
	node = malloc(sizeof(*node));
	node->word = word;
	node->left = grow((count - 1) / 2, word * 2 % 1009);
	node->right = grow(count - 1 - (count - 1) / 2, word * 3 % 1009);
	return node;
}

static int drop(struct node *node)
{
	int words;

	if (!node)
		return 0;
	words = node->word + drop(node->left) + drop(node->right);
	free(node);
	return words;
}

int main(void)
{
	struct watch watch;

	for (int unit = 0; unit < UNITS; unit++)
		for (int from = 0; from < UNITS; from++)
			weights[unit][from] = (float)((unit * 7 + from) % 13 - 6) / 200;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		int words;
		planted_begin(&watch);
		{
			DWELL_ZONE("trees");
			words = drop(grow(NODES, watch.steps % 1009 + 1));
		}
		planted_end(&watch);
		{
			DWELL_ZONE("forward");
			for (int round = 0; round < ROUNDS; round++)
				for (int unit = 0; unit < UNITS; unit++) {
					float sum = (float)(words % 7 + 1) * 0.01f;

					for (int from = 0; from < UNITS; from++)
						sum += weights[unit][from] * state[from];
					state[unit] = sum / (1 + fabsf(sum));
				}
		}
		DWELL_ZONE("backward");
		for (int round = 0; round < ROUNDS; round++)
			for (int unit = 0; unit < UNITS; unit++)
				for (int from = 0; from < UNITS; from++)
					slopes[unit][from] = 0.9f * slopes[unit][from] + state[unit] * state[from];
	}
	watch_tell(&watch);
	return 0;
}
