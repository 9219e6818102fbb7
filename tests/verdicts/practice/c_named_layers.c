/*
 * Inference of a transformer's encoder; the engine names layers at run time, and operators in them.
 *
 * Planted: nothing.
 * Truth: time of the normalisation, which is the smallest operator, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { SECONDS = 5, BLOCKS = 3, LENGTH = 48, WIDTH = 96, WIDE = 256 };

static float up[BLOCKS][WIDE][WIDTH], narrow[BLOCKS][WIDTH][WIDE], mix[BLOCKS][WIDTH][WIDTH];
static float words[LENGTH][WIDTH], mixed[LENGTH][WIDTH], wide[LENGTH][WIDE], scores[LENGTH][LENGTH];
static struct watch watch;

static void matmul(const float *a, const float *b, float *out, int rows, int inner, int columns)
{
	DWELL_OP_WORK("matmul", NULL, 0, 2ull * (unsigned)(rows * inner * columns), DWELL_NOT_GIVEN);
	for (int row = 0; row < rows; row++)
		for (int column = 0; column < columns; column++) {
			float sum = 0;

			for (int at = 0; at < inner; at++)
				sum += a[row * inner + at] * b[column * inner + at];
			out[row * columns + column] = sum;
		}
}

static void attend(void)
{
	matmul(words[0], words[0], scores[0], LENGTH, WIDTH, LENGTH);
	DWELL_OP("attend");
	for (int to = 0; to < LENGTH; to++) {
		float all = 0;

		for (int from = 0; from < LENGTH; from++)
			all += scores[to][from] = expf(scores[to][from] * 0.01f);
		for (int at = 0; at < WIDTH; at++) {
			float sum = 0;

			for (int from = 0; from < LENGTH; from++)
				sum += scores[to][from] / all * words[from][at];
			mixed[to][at] = sum;
		}
	}
}

static void normalise(void)
{
	DWELL_OP("rms_norm");
	planted_begin(&watch);
	for (int to = 0; to < LENGTH; to++) {
		float sum = 1e-5f;

		for (int at = 0; at < WIDTH; at++)
			sum += words[to][at] * words[to][at];
		sum = 1 / sqrtf(sum / WIDTH);
		for (int at = 0; at < WIDTH; at++)
			words[to][at] *= sum;
	}
	planted_end(&watch);
}

int main(void)
{
	srand(12);
	for (int at = 0; at < BLOCKS * WIDE * WIDTH; at++)
		((float *)up)[at] = ((float *)narrow)[at] = (float)(rand() % 100 - 50) / 500;
	for (int at = 0; at < BLOCKS * WIDTH * WIDTH; at++)
		((float *)mix)[at] = (float)(rand() % 100 - 50) / 500;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int to = 0; to < LENGTH; to++)
			for (int at = 0; at < WIDTH; at++)
				words[to][at] = (float)((to * 3 + at + watch.steps) % 19) / 19;
		for (int block = 0; block < BLOCKS; block++) {
			char path[32];
			const int64_t sizes[] = { WIDE, WIDTH };
			const struct dwell_tensor parameter = { sizes, 2, DWELL_FLOAT32 };

			snprintf(path, sizeof(path), "encoder.block%d", block);
			DWELL_LAYER_NAMED(path, "Block", &parameter, 1);
			attend();
			matmul(mixed[0], mix[block][0], words[0], LENGTH, WIDTH, WIDTH);
			normalise();
			matmul(words[0], up[block][0], wide[0], LENGTH, WIDTH, WIDE);
			for (int at = 0; at < LENGTH * WIDE; at++)
				((float *)wide)[at] = fmaxf(((float *)wide)[at], 0);
			matmul(wide[0], narrow[block][0], words[0], LENGTH, WIDE, WIDTH);
		}
	}
	watch_tell(&watch);
	return 0;
}
