/*
 * Learns the drag of a ship's hull from 48 measures of its lines: two hidden layers, trained by gradient descent with momentum on
 * whole batches that lie in memory.
 *
 * Clean: each step computes the same products, nothing is planted.
 * Truth: time of copying the batch of the step into its place, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEASURES = 48, WIDTH = 160, HULLS = 128, BATCHES = 16 };

struct dense {
	int in, out;
	float *weight, *gradient, *speed; /* in x out */
};

static float data[BATCHES][HULLS][MEASURES], drag[BATCHES][HULLS];
static float x0[HULLS][MEASURES], x1[HULLS][WIDTH], x2[HULLS][WIDTH], x3[HULLS][1];
static float d1[HULLS][WIDTH], d2[HULLS][WIDTH], d3[HULLS][1];

static struct dense dense_make(int in, int out)
{
	struct dense d = {in, out, malloc((size_t)(in * out) * sizeof(float)), calloc((size_t)(in * out), sizeof(float)),
	                  calloc((size_t)(in * out), sizeof(float))};

	for (int i = 0; i < in * out; i++)
		d.weight[i] = ((float)rand() / (float)RAND_MAX - 0.5f) * 2 / sqrtf((float)in);
	return d;
}

static float bend(float v)
{
	return v / (1 + fabsf(v));
}

static void dense_forward(const struct dense *d, const float *in, float *out, int bent)
{
	for (int h = 0; h < HULLS; h++) {
		float *row = out + h * d->out;

		memset(row, 0, (size_t)d->out * sizeof *row);
		for (int i = 0; i < d->in; i++) {
			const float v = in[h * d->in + i];

			for (int o = 0; o < d->out; o++)
				row[o] += v * d->weight[i * d->out + o];
		}
		for (int o = 0; bent && o < d->out; o++)
			row[o] = bend(row[o]);
	}
}

/* `blame` is of the layer's outputs; writes that of its inputs, through the bend, if there is a place for it. */
static void dense_backward(struct dense *d, const float *in, const float *blame, float *blame_in)
{
	for (int h = 0; h < HULLS; h++)
		for (int i = 0; i < d->in; i++) {
			const float v = in[h * d->in + i];
			float part[4] = {0};
			int o = 0;

			for (; o + 4 <= d->out; o += 4)
				for (int k = 0; k < 4; k++) {
					d->gradient[i * d->out + o + k] += v * blame[h * d->out + o + k];
					part[k] += d->weight[i * d->out + o + k] * blame[h * d->out + o + k];
				}
			for (; o < d->out; o++) {
				d->gradient[i * d->out + o] += v * blame[h * d->out + o];
				part[0] += d->weight[i * d->out + o] * blame[h * d->out + o];
			}
			if (blame_in) {
				const float slope = 1 - fabsf(v);

				blame_in[h * d->in + i] = (part[0] + part[1] + part[2] + part[3]) * slope * slope;
			}
		}
}

static void dense_update(struct dense *d, float rate)
{
	for (int i = 0; i < d->in * d->out; i++) {
		d->speed[i] = 0.9f * d->speed[i] + d->gradient[i];
		d->weight[i] -= rate * d->speed[i];
		d->gradient[i] = 0;
	}
}

int main(void)
{
	static struct watch watch;
	float loss = 0;

	srand(48);
	for (int b = 0; b < BATCHES; b++)
		for (int h = 0; h < HULLS; h++) {
			for (int m = 0; m < MEASURES; m++)
				data[b][h][m] = (float)rand() / (float)RAND_MAX - 0.5f;
			/* what the hull cannot tell keeps the gradients alive */
			drag[b][h] = data[b][h][3] * data[b][h][7] + 0.5f * (float)rand() / (float)RAND_MAX;
		}
	struct dense first = dense_make(MEASURES, WIDTH), second = dense_make(WIDTH, WIDTH), last = dense_make(WIDTH, 1);

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const long b = watch.steps % BATCHES;

		planted_begin(&watch);
		memcpy(x0, data[b], sizeof x0);
		planted_end(&watch);
		{
			DWELL_ZONE("forward");
			dense_forward(&first, &x0[0][0], &x1[0][0], 1);
			dense_forward(&second, &x1[0][0], &x2[0][0], 1);
			dense_forward(&last, &x2[0][0], &x3[0][0], 0);
		}
		loss = 0;
		for (int h = 0; h < HULLS; h++) {
			d3[h][0] = (x3[h][0] - drag[b][h]) / HULLS;
			loss += (x3[h][0] - drag[b][h]) * (x3[h][0] - drag[b][h]) / HULLS;
		}
		{
			DWELL_ZONE("backward");
			dense_backward(&last, &x2[0][0], &d3[0][0], &d2[0][0]);
			dense_backward(&second, &x1[0][0], &d2[0][0], &d1[0][0]);
			dense_backward(&first, &x0[0][0], &d1[0][0], NULL);
		}
		DWELL_ZONE("momentum");
		dense_update(&first, 1e-3f);
		dense_update(&second, 1e-3f);
		dense_update(&last, 1e-3f);
	}
	watch_tell(&watch);
	printf("loss %.5f\n", (double)loss);
	return 0;
}
