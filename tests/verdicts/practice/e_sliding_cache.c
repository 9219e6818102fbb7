/*
 * Goes on with a text, letter by letter, by a small transformer that remembers the last 1024 of them.
 *
 * Planted: the cache of keys and values is full, and to make room for a letter all of it is moved by one row, in each layer.
 * Truth: time of these moves, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 96, DIM = 192, HEADS = 6, HEAD = DIM / HEADS, WINDOW = 1024, NEAR = 128, STRIDE = 8, LAYERS = 4, INNER = 384 };

struct layer {
	float qkv[DIM][3 * DIM], out[DIM][DIM], up[DIM][INNER], down[INNER][DIM];
	float key[HEADS][WINDOW][HEAD], value[HEADS][WINDOW][HEAD];
};

static struct layer layers[LAYERS];
static float embed[LETTERS][DIM], unembed[DIM][LETTERS];

static void matvec(float *y, const float *x, const float *weights, int inputs, int outputs)
{
	memset(y, 0, (size_t)outputs * sizeof *y);
	for (int i = 0; i < inputs; i++)
		for (int o = 0; o < outputs; o++)
			y[o] += x[i] * weights[i * outputs + o];
}

static void norm(float *y, const float *x)
{
	float sum = 1e-5f;
	for (int i = 0; i < DIM; i++)
		sum += x[i] * x[i] / DIM;
	for (int i = 0; i < DIM; i++)
		y[i] = x[i] / sqrtf(sum);
}

/* The newest row is the last one. */
static void append_to_cache(struct layer *layer, const float *key, const float *value, struct watch *watch)
{
	DWELL_OP("cache_append");
	planted_begin(watch);
	for (int h = 0; h < HEADS; h++) {
		for (int t = 1; t < WINDOW; t++) {
			memmove(layer->key[h][t - 1], layer->key[h][t], sizeof layer->key[h][t]);
			memmove(layer->value[h][t - 1], layer->value[h][t], sizeof layer->value[h][t]);
		}
		memcpy(layer->key[h][WINDOW - 1], key + h * HEAD, sizeof layer->key[h][0]);
		memcpy(layer->value[h][WINDOW - 1], value + h * HEAD, sizeof layer->value[h][0]);
	}
	planted_end(watch);
}

static void attend(struct layer *layer, const float *query, float *mixed)
{
	DWELL_OP("attention");
	for (int h = 0; h < HEADS; h++) {
		float score[WINDOW], total = 0;
		for (int t = 0; t < WINDOW; t += t < WINDOW - NEAR ? STRIDE : 1) { /* of the far past only some */
			float four[4] = { 0, 0, 0, 0 };
			for (int d = 0; d < HEAD; d += 4)
				for (int k = 0; k < 4; k++)
					four[k] += query[h * HEAD + d + k] * layer->key[h][t][d + k];
			score[t] = expf((four[0] + four[1] + four[2] + four[3]) / 6);
			total += score[t];
		}
		for (int d = 0; d < HEAD; d++)
			mixed[h * HEAD + d] = 0;
		for (int t = 0; t < WINDOW; t += t < WINDOW - NEAR ? STRIDE : 1)
			for (int d = 0; d < HEAD; d++)
				mixed[h * HEAD + d] += score[t] / total * layer->value[h][t][d];
	}
}

static void block(struct layer *layer, float *x, struct watch *watch)
{
	float normed[DIM], qkv[3 * DIM], mixed[DIM], added[DIM], inner[INNER];
	norm(normed, x);
	{
		DWELL_OP("qkv");
		matvec(qkv, normed, layer->qkv[0], DIM, 3 * DIM);
	}
	append_to_cache(layer, qkv + DIM, qkv + 2 * DIM, watch);
	attend(layer, qkv, mixed);
	DWELL_OP("mlp");
	matvec(added, mixed, layer->out[0], DIM, DIM);
	for (int i = 0; i < DIM; i++)
		x[i] += added[i];
	norm(normed, x);
	matvec(inner, normed, layer->up[0], DIM, INNER);
	for (int i = 0; i < INNER; i++)
		inner[i] = inner[i] > 0 ? inner[i] : 0;
	matvec(added, inner, layer->down[0], INNER, DIM);
	for (int i = 0; i < DIM; i++)
		x[i] += added[i];
}

static int sample(const float *x)
{
	float logit[LETTERS], total = 0, draw;
	int letter = 0;
	DWELL_OP("sample");
	matvec(logit, x, unembed[0], DIM, LETTERS);
	for (int i = 0; i < LETTERS; i++)
		total += logit[i] = expf(fminf(10, logit[i] / 20));
	draw = total * (float)(rand() % 10000) / 10000;
	while (letter < LETTERS - 1 && (draw -= logit[letter]) > 0)
		letter++;
	return letter;
}

int main(void)
{
	struct watch watch;
	int letter = 5;
	float *numbers = (float *)layers;
	size_t count = sizeof layers / (sizeof *numbers);
	for (size_t i = 0; i < count; i++) /* weights, and a past to begin with */
		numbers[i] = (float)(rand() % 2001 - 1000) / 12000;
	for (int i = 0; i < LETTERS * DIM; i++)
		embed[i / DIM][i % DIM] = sinf((float)i * 3), unembed[i % DIM][i / DIM] = cosf((float)i * 5);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		float x[DIM];
		DWELL_STEP();
		memcpy(x, embed[letter], sizeof x);
		for (int l = 0; l < LAYERS; l++)
			block(&layers[l], x, &watch);
		letter = sample(x);
		if (watch.steps % 50 == 0)
			fputc(32 + letter, stderr);
	}
	watch_tell(&watch);
}
