/*
 * Depths of rock from a refraction survey: a network with two hidden layers maps the first arrivals at 48 geophones to six depths and
 * six speeds. Plain gradient descent on shots that a layered earth makes.
 *
 * Planted: the bend of each unit is a generalised softplus by pow and log in double, one by one, and its slope a difference of two more.
 * Truth: time of the bends and of their slopes, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { PHONES = 48, WIDTH = 144, ANSWERS = 12, SHOTS = 48 };

typedef struct {
	int in, out;
	float *w, *b, *gw, *gb;
} dense;

static struct watch watch;

static float uniform(void)
{
	return (float)rand() / (float)RAND_MAX * 2.0f - 1.0f;
}

static dense dense_of(int in, int out)
{
	dense d = { in, out, calloc((size_t)(in * out), 4), calloc((size_t)out, 4), calloc((size_t)(in * out), 4), calloc((size_t)out, 4) };

	for (int i = 0; i < in * out; i++)
		d.w[i] = uniform() * sqrtf(2.0f / (float)in);
	return d;
}

static void dense_forward(const dense *d, const float *x, float *y)
{
	DWELL_OP("dense");
	for (int s = 0; s < SHOTS; s++)
		for (int o = 0; o < d->out; o++) {
			float sum = d->b[o];

			for (int i = 0; i < d->in; i++)
				sum += d->w[o * d->in + i] * x[s * d->in + i];
			y[s * d->out + o] = sum;
		}
}

static void dense_backward(dense *d, const float *x, const float *gy, float *gx)
{
	DWELL_OP("dense_backward");
	for (int i = 0; i < d->in * d->out; i++)
		d->gw[i] = 0;
	for (int o = 0; o < d->out; o++)
		d->gb[o] = 0;
	for (int s = 0; s < SHOTS; s++) {
		if (gx)
			for (int i = 0; i < d->in; i++)
				gx[s * d->in + i] = 0;
		for (int o = 0; o < d->out; o++) {
			const float g = gy[s * d->out + o];

			d->gb[o] += g;
			for (int i = 0; i < d->in; i++)
				d->gw[o * d->in + i] += g * x[s * d->in + i];
			if (gx)
				for (int i = 0; i < d->in; i++)
					gx[s * d->in + i] += g * d->w[o * d->in + i];
		}
	}
}

/* log(1 + exp(p x)) / p, "exact". */
static float bend(float x)
{
	const double p = 1.5;

	return (float)(log(1.0 + pow(2.718281828459045235360, p * (double)x)) / p);
}

static float bend_slope(float x)
{
	const float h = 1e-2f;

	return (bend(x + h) - bend(x - h)) / (2 * h);
}

static void bends(const float *x, float *y, int count)
{
	DWELL_OP("bend");
	planted_begin(&watch);
	for (int i = 0; i < count; i++)
		y[i] = bend(x[i]);
	planted_end(&watch);
}

static void bends_backward(const float *x, float *g, int count)
{
	DWELL_OP("bend_backward");
	planted_begin(&watch);
	for (int i = 0; i < count; i++)
		g[i] *= bend_slope(x[i]);
	planted_end(&watch);
}

static void descend(dense *d, float rate)
{
	DWELL_OP("sgd");
	for (int i = 0; i < d->in * d->out; i++)
		d->w[i] -= rate * d->gw[i];
	for (int o = 0; o < d->out; o++)
		d->b[o] -= rate * d->gb[o];
}

/* First arrivals over layers that grow faster with depth. */
static void shoot(float *arrivals, float *earth)
{
	for (int s = 0; s < SHOTS; s++) {
		float *a = arrivals + s * PHONES, *e = earth + s * ANSWERS;

		for (int k = 0; k < ANSWERS / 2; k++) {
			e[k] = 0.2f + 0.1f * uniform();
			e[k + ANSWERS / 2] = 0.4f + 0.3f * (float)k + 0.1f * uniform();
		}
		for (int p = 0; p < PHONES; p++) {
			float best = 9, delay = 0;

			for (int k = 0; k < ANSWERS / 2; k++) {
				const float here = delay + (float)p / PHONES / e[k + ANSWERS / 2];

				best = here < best ? here : best;
				delay += e[k] / e[k + ANSWERS / 2];
			}
			a[p] = best;
		}
	}
}

int main(void)
{
	static float x[SHOTS * PHONES], earth[SHOTS * ANSWERS];
	static float h1[SHOTS * WIDTH], a1[SHOTS * WIDTH], h2[SHOTS * WIDTH], a2[SHOTS * WIDTH], y[SHOTS * ANSWERS];
	static float gy[SHOTS * ANSWERS], g2[SHOTS * WIDTH], g1[SHOTS * WIDTH];
	dense first = dense_of(PHONES, WIDTH), second = dense_of(WIDTH, WIDTH), third = dense_of(WIDTH, ANSWERS);
	double loss = 0;

	srand(17);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.3; watch.steps++) {
		DWELL_STEP();
		shoot(x, earth);
		dense_forward(&first, x, h1);
		bends(h1, a1, SHOTS * WIDTH);
		dense_forward(&second, a1, h2);
		bends(h2, a2, SHOTS * WIDTH);
		dense_forward(&third, a2, y);
		loss = 0;
		for (int i = 0; i < SHOTS * ANSWERS; i++) {
			gy[i] = (y[i] - earth[i]) / SHOTS;
			loss += (double)gy[i] * gy[i];
		}
		dense_backward(&third, a2, gy, g2);
		bends_backward(h2, g2, SHOTS * WIDTH);
		dense_backward(&second, a1, g2, g1);
		bends_backward(h1, g1, SHOTS * WIDTH);
		dense_backward(&first, x, g1, NULL);
		descend(&first, 1e-3f);
		descend(&second, 1e-3f);
		descend(&third, 1e-3f);
	}
	watch_tell(&watch);
	printf("loss %.6f\n", loss);
	return 0;
}
