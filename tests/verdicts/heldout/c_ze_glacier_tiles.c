/*
 * Finds crevasses in radar tiles of a glacier: inference with a small network of separable filters.
 *
 * Planted: each convolution maps its result anew from the kernel and unmaps it after the next one, so all pages are faulted in for each tile.
 * Truth: time that the kernel works for the thread, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SIDE = 224, WIDTH = 12, BLOCKS = 5, TILES = 6 };

struct volume {
	int channels;
	float *at; /* [channel][row][column] */
};

struct block {
	float depth[WIDTH][9], scale[WIDTH], shift[WIDTH];
	float point[WIDTH][WIDTH];
};

static struct block blocks[BLOCKS];
static float stem[WIDTH], head[WIDTH];
static float tiles[TILES][SIDE * SIDE];

static size_t volume_bytes(int channels)
{
	return sizeof(float) * (size_t)channels * SIDE * SIDE;
}

/* Pages from mmap() are aligned for vectors, and zero. */
static struct volume volume_new(int channels)
{
	struct volume made = { channels, mmap(NULL, volume_bytes(channels), PROT_READ | PROT_WRITE,
	                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };

	if (made.at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return made;
}

static void volume_drop(struct volume *old)
{
	munmap(old->at, volume_bytes(old->channels));
	old->at = NULL;
}

static struct volume lift(const float *tile)
{
	struct volume y = volume_new(WIDTH);

	for (int c = 0; c < WIDTH; c++)
		for (int i = 0; i < SIDE * SIDE; i++)
			y.at[c * SIDE * SIDE + i] = stem[c] * tile[i];
	return y;
}

static struct volume depthwise(const struct volume *x, const struct block *block)
{
	struct volume y = volume_new(x->channels);

	for (int c = 0; c < x->channels; c++) {
		const float *restrict in = x->at + (size_t)c * SIDE * SIDE, *k = block->depth[c];
		float *restrict out = y.at + (size_t)c * SIDE * SIDE;

		for (int r = 2; r < SIDE - 2; r++)
			for (int i = 0; i < SIDE; i++) {
				const int p = r * SIDE + i; /* the left and right edge are neighbours */

				out[p] = k[0] * in[p - SIDE - 1] + k[1] * in[p - SIDE] + k[2] * in[p - SIDE + 1] +
				         k[3] * in[p - 1] + k[4] * in[p] + k[5] * in[p + 1] +
				         k[6] * in[p + SIDE - 1] + k[7] * in[p + SIDE] + k[8] * in[p + SIDE + 1];
			}
	}
	return y;
}

static void normalise(struct volume *x, const struct block *block)
{
	for (int c = 0; c < x->channels; c++) {
		const float scale = block->scale[c], shift = block->shift[c];
		float *values = x->at + (size_t)c * SIDE * SIDE;

		for (int i = 0; i < SIDE * SIDE; i++) {
			float v = scale * values[i] + shift;

			values[i] = 0.55f * v + 0.45f * fabsf(v); /* a leaky ReLU without a branch */
		}
	}
}

/* Mixes neighbouring channels, eight of them for each. */
static struct volume pointwise(const struct volume *x, const struct block *block)
{
	struct volume y = volume_new(WIDTH);

	for (int o = 0; o < WIDTH; o++) {
		float *restrict out = y.at + (size_t)o * SIDE * SIDE;

		for (int n = 0; n < 8; n++) {
			int c = (o + n) % WIDTH;
			const float w = block->point[o][c], *restrict in = x->at + (size_t)c * SIDE * SIDE;

			for (int i = 0; i < SIDE * SIDE; i++)
				out[i] += w * in[i];
		}
	}
	return y;
}

static float crevasses(const struct volume *x)
{
	float sum = 0;

	for (int i = 0; i < SIDE * SIDE; i += 4) {
		float logit = 0.15f;

		for (int c = 0; c < WIDTH; c++)
			logit += head[c] * x->at[c * SIDE * SIDE + i];
		sum += logit > 0;
	}
	return sum / (SIDE * SIDE / 4);
}

static float look(const float *tile)
{
	DWELL_STEP();
	struct volume x = lift(tile);

	for (int b = 0; b < BLOCKS; b++) {
		struct volume d;

		{
			DWELL_OP("depthwise");
			d = depthwise(&x, &blocks[b]);
			volume_drop(&x);
		}
		{
			DWELL_OP("normalise");
			normalise(&d, &blocks[b]);
		}
		{
			DWELL_OP("pointwise");
			x = pointwise(&d, &blocks[b]);
			volume_drop(&d);
		}
	}
	DWELL_OP("head");
	float part = crevasses(&x);
	volume_drop(&x);
	return part;
}

static float between(float low, float high)
{
	return low + (high - low) * (float)rand() / (float)RAND_MAX;
}

int main(void)
{
	struct watch watch;
	double parts = 0;

	srand(11);
	for (int b = 0; b < BLOCKS; b++)
		for (int c = 0; c < WIDTH; c++) {
			for (int k = 0; k < 9; k++)
				blocks[b].depth[c][k] = between(-0.4f, 0.4f);
			for (int o = 0; o < WIDTH; o++)
				blocks[b].point[c][o] = between(-0.6f, 0.6f);
			blocks[b].scale[c] = between(0.8f, 1.2f);
			blocks[b].shift[c] = between(-0.1f, 0.1f);
		}
	for (int c = 0; c < WIDTH; c++) {
		stem[c] = between(-1, 1);
		head[c] = between(-1, 1);
	}
	for (int t = 0; t < TILES; t++)
		for (int i = 0; i < SIDE * SIDE; i++)
			tiles[t][i] = between(0, 1) + sinf((float)(i % SIDE) * 0.05f * (float)(t + 1));

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++)
		parts += look(tiles[watch.steps % TILES]);
	double share = (system_s() - watch.system_began) / watch_seconds(&watch);
	watch_tell_share(&watch, share);
	printf("mean part of crevasses %.4f\n", parts / watch.steps);
	return 0;
}
