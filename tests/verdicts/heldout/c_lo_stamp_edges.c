/*
 * Dates postage stamps by the holes along their edges: an encoder with two layers of attention, inference only.
 *
 * Clean: each step encodes eight stamps of 64 holes; operators and layers have names, nothing is allocated.
 * Truth: time of the small operators (norm and sum) of the loop, which come nearest to an overhead.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <string.h>

enum { HOLES = 64, WIDTH = 64, WIDE = 192, HEADS = 4, HEAD = WIDTH / HEADS, LAYERS = 2, STAMPS = 8 };

struct layer {
	float query[WIDTH * WIDTH], key[WIDTH * WIDTH], value[WIDTH * WIDTH], join[WIDTH * WIDTH];
	float up[WIDTH * WIDE], down[WIDE * WIDTH];
};

static struct layer layers[LAYERS];
static float album[256][HOLES * WIDTH];
static float x[HOLES * WIDTH], y[HOLES * WIDTH], q[HOLES * WIDTH], k[HOLES * WIDTH], v[HOLES * WIDTH], h[HOLES * WIDE];
static struct watch watch;

static void linear(const float *in, int rows, int from, int to, const float *weights, float *out)
{
	DWELL_OP("linear");
	memset(out, 0, (size_t)(rows * to) * sizeof *out);
	for (int r = 0; r < rows; r++)
		for (int f = 0; f < from; f++) {
			const float a = in[r * from + f], *w = weights + f * to;

			for (int t = 0; t < to; t++)
				out[r * to + t] += a * w[t];
		}
}

static void norm(const float *in, float *out)
{
	DWELL_OP("norm");
	planted_begin(&watch);
	for (int r = 0; r < HOLES; r++) {
		float mean = 0, square = 0;

		for (int i = 0; i < WIDTH; i++)
			mean += in[r * WIDTH + i] / WIDTH;
		for (int i = 0; i < WIDTH; i++)
			square += (in[r * WIDTH + i] - mean) * (in[r * WIDTH + i] - mean) / WIDTH;
		square = 1 / sqrtf(square + 1e-5f);
		for (int i = 0; i < WIDTH; i++)
			out[r * WIDTH + i] = (in[r * WIDTH + i] - mean) * square;
	}
	planted_end(&watch);
}

static void attend(float *out)
{
	DWELL_OP("attend");
	for (int head = 0; head < HEADS; head++)
		for (int r = 0; r < HOLES; r++) {
			float odds[HOLES], sum = 0, *to = out + r * WIDTH + head * HEAD;
			const float *mine = q + r * WIDTH + head * HEAD;

			for (int c = 0; c < HOLES; c++) {
				float dot = 0;

				for (int i = 0; i < HEAD; i++)
					dot += mine[i] * k[c * WIDTH + head * HEAD + i];
				sum += odds[c] = expf(dot * 0.25f);
			}
			memset(to, 0, HEAD * sizeof *to);
			for (int c = 0; c < HOLES; c++)
				for (int i = 0; i < HEAD; i++)
					to[i] += odds[c] / sum * v[c * WIDTH + head * HEAD + i];
		}
}

static void gelu(float *values, int count)
{
	DWELL_OP("gelu");
	for (int i = 0; i < count; i++)
		values[i] /= 1 + expf(-1.702f * values[i]);
}

static void add(float *to, const float *from)
{
	DWELL_OP("add");
	planted_begin(&watch);
	for (int i = 0; i < HOLES * WIDTH; i++)
		to[i] += from[i];
	planted_end(&watch);
}

static void run(const struct layer *layer)
{
	norm(x, y);
	linear(y, HOLES, WIDTH, WIDTH, layer->query, q);
	linear(y, HOLES, WIDTH, WIDTH, layer->key, k);
	linear(y, HOLES, WIDTH, WIDTH, layer->value, v);
	attend(y);
	linear(y, HOLES, WIDTH, WIDTH, layer->join, q);
	add(x, q);
	norm(x, y);
	linear(y, HOLES, WIDTH, WIDE, layer->up, h);
	gelu(h, HOLES * WIDE);
	linear(h, HOLES, WIDE, WIDTH, layer->down, y);
	add(x, y);
}

int main(void)
{
	double years = 0;
	unsigned seed = 9;

	for (size_t i = 0; i < sizeof layers / (sizeof(float)); i++)
		seed = seed * 1103515245u + 12345u, ((float *)layers)[i] = ((float)(seed >> 16 & 1023) / 1023 - 0.5f) * 0.3f;
	for (size_t i = 0; i < sizeof album / sizeof(float); i++)
		seed = seed * 1103515245u + 12345u, ((float *)album)[i] = (float)(seed >> 16 & 1023) / 512 - 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int s = 0; s < STAMPS; s++) {
			memcpy(x, album[(watch.steps * STAMPS + s) % 256], sizeof x);
			{
				DWELL_LAYER("encoder.0");
				run(&layers[0]);
			}
			{
				DWELL_LAYER("encoder.1");
				run(&layers[1]);
			}
			years += (double)x[s];
		}
	}
	watch_tell(&watch);
	fprintf(stderr, "%g\n", years);
	return 0;
}
