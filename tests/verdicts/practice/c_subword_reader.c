/*
 * A bag-of-subwords classifier in C; the text is cut into subwords when a batch is needed.
 *
 * Planted: the loop cuts the text itself, with a search of the longest subword at each letter.
 * Truth: time of cutting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 6, TEXTS = 48, LENGTH = 600, SUBWORDS = 1200, WIDTH = 384, CLASSES = 32 };

static char texts[TEXTS][LENGTH + 1], subwords[SUBWORDS][8];
static int ids[TEXTS][LENGTH], counts[TEXTS];
static float embedding[SUBWORDS][WIDTH], head[CLASSES][WIDTH], hidden[TEXTS][WIDTH],
    scores[TEXTS][CLASSES];

static void cut(const char *text, int *out, int *count)
{
	for (*count = 0; *text; (*count)++) {
		int best = 0, longest = 1;

		for (int id = 0; id < SUBWORDS; id += 3) {
			int length = (int)strlen(subwords[id]);

			if (length > longest && !strncmp(text, subwords[id], (size_t)length)) {
				longest = length;
				best = id;
			}
		}
		out[*count] = best;
		text += longest;
	}
}

static void forward(void)
{
	DWELL_ZONE("forward");
	memset(hidden, 0, sizeof(hidden));
	for (int text = 0; text < TEXTS; text++) {
		for (int at = 0; at < counts[text]; at++)
			for (int k = 0; k < WIDTH; k++)
				hidden[text][k] += embedding[ids[text][at]][k];
		for (int class = 0; class < CLASSES; class++) {
			float sum = 0;

			for (int k = 0; k < WIDTH; k++)
				sum += hidden[text][k] * head[class][k];
			scores[text][class] = sum;
		}
	}
}

static void backward(void)
{
	DWELL_ZONE("backward");
	for (int text = 0; text < TEXTS; text++) {
		float slope[WIDTH] = { 0 };

		for (int class = 0; class < CLASSES; class++)
			for (int k = 0; k < WIDTH; k++) {
				slope[k] += scores[text][class] * head[class][k];
				head[class][k] -= 1e-9f * scores[text][class] * hidden[text][k];
			}
		for (int at = 0; at < counts[text]; at++)
			for (int k = 0; k < WIDTH; k++)
				embedding[ids[text][at]][k] -= 1e-9f * slope[k];
	}
}

int main(void)
{
	struct watch watch;

	srand(11);
	for (int id = 0; id < SUBWORDS; id++) {
		for (int at = 0; at < 2 + id % 4; at++)
			subwords[id][at] = (char)('a' + rand() % 12);
		for (int k = 0; k < WIDTH; k++)
			embedding[id][k] = (float)(rand() % 100) / 1e4f;
	}
	for (int text = 0; text < TEXTS; text++)
		for (int at = 0; at < LENGTH; at++)
			texts[text][at] = (char)('a' + rand() % 12);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "cut texts");
			for (int text = 0; text < TEXTS; text++)
				if ((text + watch.steps) % 6 == 0)
					cut(texts[text], ids[text], &counts[text]);
		}
		planted_end(&watch);
		for (int pass = 0; pass < 3; pass++) {
			forward();
			backward();
		}
	}
	watch_tell(&watch);
	return 0;
}
