/*
 * Live captions: a small decoder predicts one token after the other over a window that never ends.
 *
 * Planted: the window is full, so with each token the caches of keys and values of all layers move up by one place.
 * Truth: time of moving them, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 128, HEADS = 4, HEAD = DIM / HEADS, LAYERS = 6, WINDOW = 2048, FFN = 256, VOCAB = 600 };

struct block {
	float wq[DIM][DIM], wk[DIM][DIM], wv[DIM][DIM], wo[DIM][DIM], up[FFN][DIM], down[DIM][FFN];
	float keys[WINDOW][DIM], values[WINDOW][DIM];
};

static struct block blocks[LAYERS];
static float embedding[VOCAB][DIM];

static float dot(const float *a, const float *b, int n)
{
	float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;

	for (int i = 0; i < n; i += 8) {
		s0 += a[i] * b[i], s1 += a[i + 1] * b[i + 1], s2 += a[i + 2] * b[i + 2], s3 += a[i + 3] * b[i + 3];
		s4 += a[i + 4] * b[i + 4], s5 += a[i + 5] * b[i + 5], s6 += a[i + 6] * b[i + 6], s7 += a[i + 7] * b[i + 7];
	}
	return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
}

static void linear(const float *weights, const float *in, float *out, int rows, int columns)
{
	DWELL_OP("linear");
	for (int r = 0; r < rows; r++)
		out[r] = dot(weights + (size_t)r * (size_t)columns, in, columns);
}

static void append_kv(struct block *block, const float *key, const float *value)
{
	DWELL_OP("append_kv");
	memmove(block->keys[0], block->keys[1], sizeof block->keys - sizeof block->keys[0]);
	memmove(block->values[0], block->values[1], sizeof block->values - sizeof block->values[0]);
	memcpy(block->keys[WINDOW - 1], key, sizeof block->keys[0]);
	memcpy(block->values[WINDOW - 1], value, sizeof block->values[0]);
}

static void attend(const struct block *block, const float *query, float *out)
{
	DWELL_OP("attention");
	float scores[WINDOW];

	memset(out, 0, sizeof(float) * DIM);
	for (int h = 0; h < HEADS; h++) {
		float sum = 0;

		for (int t = 0; t < WINDOW; t++)
			sum += scores[t] = expf(0.17f * dot(block->keys[t] + h * HEAD, query + h * HEAD, HEAD));
		for (int t = 0; t < WINDOW; t++)
			for (int i = 0; i < HEAD; i++)
				out[h * HEAD + i] += scores[t] / sum * block->values[t][h * HEAD + i];
	}
}

static void normalize(float *x)
{
	DWELL_OP("rmsnorm");
	float scale = 1 / sqrtf(dot(x, x, DIM) / DIM + 1e-5f);

	for (int i = 0; i < DIM; i++)
		x[i] *= scale;
}

static int next_token(int token, struct watch *watch)
{
	float x[DIM], q[DIM], k[DIM], v[DIM], mixed[DIM], wide[FFN], logits[VOCAB];
	int best = 0;

	memcpy(x, embedding[token], sizeof x);
	for (int l = 0; l < LAYERS; l++) {
		struct block *block = &blocks[l];

		linear(block->wq[0], x, q, DIM, DIM);
		linear(block->wk[0], x, k, DIM, DIM);
		linear(block->wv[0], x, v, DIM, DIM);
		planted_begin(watch);
		append_kv(block, k, v);
		planted_end(watch);
		attend(block, q, mixed);
		linear(block->wo[0], mixed, q, DIM, DIM);
		linear(block->up[0], q, wide, FFN, DIM);
		for (int i = 0; i < FFN; i++)
			wide[i] = wide[i] > 0 ? wide[i] : 0;
		linear(block->down[0], wide, k, DIM, FFN);
		for (int i = 0; i < DIM; i++)
			x[i] += q[i] + k[i];
		normalize(x);
	}
	linear(embedding[0], x, logits, VOCAB, DIM);
	for (int i = 1; i < VOCAB; i++)
		if (logits[i] > logits[best] && i != token)
			best = i;
	return best;
}

int main(void)
{
	struct watch watch;
	int token = 1;
	unsigned heard = 0;

	for (float *w = (float *)blocks; w < (float *)(blocks + LAYERS); w++)
		*w = (float)(rand() % 2001 - 1000) * 1e-4f;
	for (float *e = embedding[0]; e < embedding[VOCAB]; e++)
		*e = (float)(rand() % 2001 - 1000) * 1e-3f;
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		dwell_step();
		token = next_token((token + watch.steps) % VOCAB, &watch);
		heard = heard * 31 + (unsigned)token;
		watch.steps++;
	}
	dwell_step_end();
	fprintf(stderr, "%u\n", heard);
	watch_tell(&watch);
}
