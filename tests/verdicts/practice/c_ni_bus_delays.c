/*
 * Delays of buses at the next stop, learned while the buses report: two hidden layers, a few reports for each update.
 *
 * Planted: each single forecast is put into a CSV file for the control room by a helper that opens the file, adds a line
 * and closes it again.
 * Truth: time of this helper, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 40, FIRST = 96, SECOND = 40, REPORTS = 48 };

struct dense {
	int in, out;
	float *w, *g, *bias;
};

static struct watch watch;
static struct dense one, two, last;
static float x[FEATURES], a[FIRST], b[SECOND], da[FIRST], db[SECOND];

static struct dense dense_new(int in, int out)
{
	struct dense layer = { in, out, malloc(sizeof(float) * (size_t)(in * out)), calloc((size_t)(in * out), sizeof(float)),
	                       calloc((size_t)out, sizeof(float)) };

	for (int i = 0; i < in * out; i++)
		layer.w[i] = ((float)(rand() % 2001) / 1000 - 1) / sqrtf((float)in);
	return layer;
}

static void dense_forward(const struct dense *layer, const float *in, float *out, int bent)
{
	for (int o = 0; o < layer->out; o++) {
		float sum = layer->bias[o];

		for (int i = 0; i < layer->in; i++)
			sum += layer->w[o * layer->in + i] * in[i];
		out[o] = bent ? tanhf(sum) : sum;
	}
}

static void dense_backward(struct dense *layer, const float *in, const float *slope, float *back)
{
	if (back)
		memset(back, 0, sizeof(float) * (size_t)layer->in);
	for (int o = 0; o < layer->out; o++) {
		float *g = layer->g + o * layer->in;
		const float *w = layer->w + o * layer->in;

		for (int i = 0; i < layer->in; i++)
			g[i] += slope[o] * in[i];
		for (int i = 0; back && i < layer->in; i++)
			back[i] += slope[o] * w[i];
		layer->bias[o] -= 1e-4f * slope[o];
	}
}

static void dense_update(struct dense *layer)
{
	for (int i = 0; i < layer->in * layer->out; i++) {
		layer->w[i] -= 1e-3f * layer->g[i] / REPORTS;
		layer->g[i] = 0;
	}
}

static void tell_control_room(int bus, int stop, float forecast, float delay)
{
	FILE *file = fopen("forecasts.csv", "a");

	if (!file)
		return;
	fprintf(file, "%d,%d,%.2f,%.2f\n", bus, stop, (double)forecast, (double)delay);
	fclose(file);
}

static void report(int step, int number)
{
	float forecast, slope, delay = 0;

	for (int i = 0; i < FEATURES; i++) {
		x[i] = (float)((step * 31 + number * 17 + i * i * 7) % 101) / 50 - 1;
		delay += x[i] * (float)(i % 5 - 2) * 0.1f;
	}
	{
		DWELL_ZONE("net");
		dense_forward(&one, x, a, 1);
		dense_forward(&two, a, b, 1);
		dense_forward(&last, b, &forecast, 0);
		slope = forecast - delay;
		dense_backward(&last, b, &slope, db);
		for (int i = 0; i < SECOND; i++)
			db[i] *= 1 - b[i] * b[i];
		dense_backward(&two, a, db, da);
		for (int i = 0; i < FIRST; i++)
			da[i] *= 1 - a[i] * a[i];
		dense_backward(&one, x, da, NULL);
	}
	planted_begin(&watch);
	tell_control_room(number, step % 60, forecast, delay);
	planted_end(&watch);
}

int main(void)
{
	one = dense_new(FEATURES, FIRST);
	two = dense_new(FIRST, SECOND);
	last = dense_new(SECOND, 1);
	remove("forecasts.csv");
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int number = 0; number < REPORTS; number++)
			report(watch.steps, number);
		DWELL_ZONE("update");
		dense_update(&one);
		dense_update(&two);
		dense_update(&last);
	}
	watch_tell(&watch);
	remove("forecasts.csv");
	return 0;
}
