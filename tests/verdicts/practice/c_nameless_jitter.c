/*
 * A letter classifier in C; its author named forward, backward and update, and forgot the rest.
 *
 * Planted: each letter is turned and scaled in a part of the step that has no name.
 * Truth: time of that part, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 6, LETTERS = 160, SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 16 };

static float letters[LETTERS][SIDE][SIDE], turned[LETTERS][PIXELS], weights[CLASSES][PIXELS],
    slopes[CLASSES][PIXELS];
static float scores[LETTERS][CLASSES];

static void jitter(int step)
{
	for (int letter = 0; letter < LETTERS; letter++) {
		float angle = 0.01f * (float)((letter + step) % 30);
		float scale = 1 + 0.003f * (float)(step % 20);

		for (int y = 0; y < SIDE; y++)
			for (int x = 0; x < SIDE; x++) {
				float fy = (cosf(angle) * (float)(y - 14) - sinf(angle) * (float)(x - 14)) * scale +
				           14;
				float fx = (sinf(angle) * (float)(y - 14) + cosf(angle) * (float)(x - 14)) * scale +
				           14;
				int iy = (int)floorf(fy), ix = (int)floorf(fx);

				turned[letter][y * SIDE + x] = iy < 0 || ix < 0 || iy >= SIDE || ix >= SIDE ? 0 :
				                               letters[letter][iy][ix];
			}
	}
}

static void forward(void)
{
	DWELL_ZONE("forward");
	for (int letter = 0; letter < LETTERS; letter++)
		for (int class = 0; class < CLASSES; class++) {
			float sum = -(float)(letter % CLASSES == class);

			for (int at = 0; at < PIXELS; at++)
				sum += weights[class][at] * turned[letter][at];
			scores[letter][class] = sum;
		}
}

static void backward(void)
{
	DWELL_ZONE("backward");
	for (int letter = 0; letter < LETTERS; letter++)
		for (int class = 0; class < CLASSES; class++)
			for (int at = 0; at < PIXELS; at++)
				slopes[class][at] += scores[letter][class] * turned[letter][at];
}

int main(void)
{
	struct watch watch;

	for (int letter = 0; letter < LETTERS; letter++)
		for (int at = 0; at < PIXELS; at++)
			letters[letter][at / SIDE][at % SIDE] = (float)((letter * at) % 7) / 7;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		jitter(watch.steps);
		planted_end(&watch);
		forward();
		backward();
		DWELL_ZONE("optimizer");
		for (int class = 0; class < CLASSES; class++)
			for (int at = 0; at < PIXELS; at++) {
				weights[class][at] -= 1e-6f * slopes[class][at];
				slopes[class][at] = 0;
			}
	}
	watch_tell(&watch);
	return 0;
}
