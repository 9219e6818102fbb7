/*
 * Finds ribs in pictures of a chest: two convolutions say of each pixel whether it is bone. Trained picture by picture, with the
 * overlap (Dice) on pictures that are kept apart.
 *
 * Planted: all 24 pictures that are kept apart are looked at after each third step, to see the curve of the overlap grow.
 * Truth: time of these looks, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 96, EDGE = SIDE + 2, CHANNELS = 8, PICTURES = 32, APART = 24, BATCH = 4 };

struct picture {
	float grey[EDGE][EDGE];
	float bone[SIDE][SIDE];
};

struct net {
	float in[CHANNELS][9], out[CHANNELS][9], shift;
};

static struct picture pictures[PICTURES], apart[APART];
static struct net net, slope;
static float hidden[CHANNELS][EDGE][EDGE], said[EDGE][EDGE], blame[CHANNELS][SIDE][SIDE];

static void draw(struct picture *p, int number)
{
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			const int rib = (y + x * x / (90 + number)) % 16 < 5;

			p->bone[y][x] = (float)rib;
			p->grey[y + 1][x + 1] = (float)rib * 0.6f + 0.7f * (float)rand() / (float)RAND_MAX;
		}
}

static void look(const struct picture *p)
{
	for (int c = 0; c < CHANNELS; c++)
		for (int y = 0; y < SIDE; y++) {
			float row[SIDE] = {0};

			for (int k = 0; k < 9; k++)
				for (int x = 0; x < SIDE; x++)
					row[x] += net.in[c][k] * p->grey[y + k / 3][x + k % 3];
			for (int x = 0; x < SIDE; x++)
				hidden[c][y + 1][x + 1] = row[x] / (1 + fabsf(row[x]));
		}
	for (int y = 0; y < SIDE; y++) {
		float row[SIDE];

		for (int x = 0; x < SIDE; x++)
			row[x] = net.shift;
		for (int c = 0; c < CHANNELS; c++)
			for (int k = 0; k < 9; k++)
				for (int x = 0; x < SIDE; x++)
					row[x] += net.out[c][k] * hidden[c][y + k / 3][x + k % 3];
		for (int x = 0; x < SIDE; x++)
			said[y + 1][x + 1] = 0.5f + 0.5f * row[x] / (1 + fabsf(row[x]));
	}
}

static void learn(const struct picture *p)
{
	static float wrong[EDGE][EDGE];

	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			wrong[y + 1][x + 1] = (said[y + 1][x + 1] - p->bone[y][x]) / (SIDE * SIDE);
	for (int c = 0; c < CHANNELS; c++) {
		for (int y = 0; y < SIDE; y++)
			for (int x = 0; x < SIDE; x++)
				blame[c][y][x] = 0;
		for (int k = 0; k < 9; k++)
			for (int y = 0; y < SIDE; y++) {
				float part[4] = {0};

				for (int x = 0; x < SIDE; x += 4)
					for (int i = 0; i < 4; i++)
						part[i] += wrong[y + 1][x + 1 + i] * hidden[c][y + k / 3][x + k % 3 + i];
				slope.out[c][k] += part[0] + part[1] + part[2] + part[3];
				for (int x = 0; x < SIDE; x++)
					blame[c][y][x] += net.out[c][k] * wrong[y + 2 - k / 3][x + 2 - k % 3];
			}
		for (int k = 0; k < 9; k++)
			for (int y = 0; y < SIDE; y++) {
				float part[4] = {0};

				for (int x = 0; x < SIDE; x += 4)
					for (int i = 0; i < 4; i++)
						part[i] += blame[c][y][x + i] * p->grey[y + k / 3][x + k % 3 + i];
				slope.in[c][k] += part[0] + part[1] + part[2] + part[3];
			}
	}
}

static void follow(float rate)
{
	float *w = &net.in[0][0];
	float *s = &slope.in[0][0];

	for (size_t i = 0; i < sizeof net / sizeof *w; i++) {
		w[i] -= rate * s[i];
		s[i] = 0;
	}
}

static double dice(void)
{
	DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "dice");
	double both = 0, either = 0;

	for (int i = 0; i < APART; i++) {
		look(&apart[i]);
		for (int y = 0; y < SIDE; y++)
			for (int x = 0; x < SIDE; x++) {
				const float s = said[y + 1][x + 1] > 0.5f;

				both += (double)(2 * s * apart[i].bone[y][x]);
				either += (double)(s + apart[i].bone[y][x]);
			}
	}
	return both / (either + 1);
}

static void step(long number)
{
	DWELL_STEP();
	for (int i = 0; i < BATCH; i++) {
		const struct picture *p = &pictures[(number * BATCH + i) % PICTURES];

		{
			DWELL_ZONE("look");
			look(p);
		}
		DWELL_ZONE("learn");
		learn(p);
	}
	follow(1e-3f);
}

int main(void)
{
	static struct watch watch;
	double best = 0;

	srand(9);
	for (int i = 0; i < PICTURES; i++)
		draw(&pictures[i], i);
	for (int i = 0; i < APART; i++)
		draw(&apart[i], 50 + i);
	for (size_t i = 0; i < sizeof net / sizeof(float); i++)
		(&net.in[0][0])[i] = 0.4f * (float)rand() / (float)RAND_MAX - 0.2f;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		step(watch.steps);
		if (watch.steps % 3 == 2) {
			planted_begin(&watch);
			best = fmax(best, dice());
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	printf("best overlap %.4f\n", best);
	return 0;
}
