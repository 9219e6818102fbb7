/*
 * Sorts glass tesserae into ten shades from 80 bands of a spectrometer: a network of one hidden layer, by hand.
 *
 * Planted: a comparison of the gradient with finite differences, from the days when backward() was written, is still
 * called in each 48th step and does two forward passes for each of 24 weights.
 * Truth: time in the comparison, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BANDS = 80, HIDDEN = 48, SHADES = 10, BATCH = 192, PIECES = 4096 };

struct net { float in[HIDDEN][BANDS], out[SHADES][HIDDEN]; };

static struct net net, grad, velocity;
static float spectra[PIECES][BANDS], hidden[BATCH][HIDDEN], odds[BATCH][SHADES];
static int shade[PIECES];

static float unit(void) { return (float)rand() / (float)RAND_MAX - 0.5f; }

static double forward(int first)
{
	double loss = 0;

	for (int b = 0; b < BATCH; b++) {
		const float *x = spectra[first + b];
		float top = -1e30f, sum = 0;

		for (int h = 0; h < HIDDEN; h++) {
			float a = 0;
			for (int i = 0; i < BANDS; i++)
				a += net.in[h][i] * x[i];
			hidden[b][h] = a / (1 + expf(-a));
		}
		for (int s = 0; s < SHADES; s++) {
			float a = 0;
			for (int h = 0; h < HIDDEN; h++)
				a += net.out[s][h] * hidden[b][h];
			odds[b][s] = a;
			top = fmaxf(top, a);
		}
		for (int s = 0; s < SHADES; s++)
			sum += odds[b][s] = expf(odds[b][s] - top);
		for (int s = 0; s < SHADES; s++)
			odds[b][s] /= sum;
		loss -= log((double)odds[b][shade[first + b]] + 1e-9);
	}
	return loss / BATCH;
}

static void backward(int first)
{
	memset(&grad, 0, sizeof grad);
	for (int b = 0; b < BATCH; b++) {
		const float *x = spectra[first + b];

		for (int s = 0; s < SHADES; s++)
			odds[b][s] = (odds[b][s] - (s == shade[first + b])) / BATCH;
		for (int h = 0; h < HIDDEN; h++) {
			float back = 0;

			for (int s = 0; s < SHADES; s++) {
				grad.out[s][h] += odds[b][s] * hidden[b][h];
				back += odds[b][s] * net.out[s][h];
			}
			back *= hidden[b][h] > 0 ? 1 : 0.1f;
			for (int i = 0; i < BANDS; i++)
				grad.in[h][i] += back * x[i];
		}
	}
}

static void descend(float rate)
{
	float *w = &net.in[0][0], *g = &grad.in[0][0], *v = &velocity.in[0][0];

	for (size_t i = 0; i < sizeof net / sizeof *w; i++)
		w[i] -= rate * (v[i] = 0.9f * v[i] + g[i]);
}

/* True while the gradient of some weights of the output is what a small change of them makes. */
static bool plausible(int first)
{
	double worst = 0;

	for (int k = 0; k < 24; k++) {
		int s = k % SHADES, h = k * 7 % HIDDEN;
		float kept = net.out[s][h];

		net.out[s][h] = kept + 1e-2f;
		double up = forward(first);
		net.out[s][h] = kept - 1e-2f;
		double down = forward(first);
		net.out[s][h] = kept;
		worst = fmax(worst, fabs((up - down) / 2e-2 - (double)grad.out[s][h]));
	}
	return worst < 0.2;
}

int main(void)
{
	struct watch watch;
	double loss = 0;

	for (int p = 0; p < PIECES; p++) {
		shade[p] = p % SHADES;
		for (int i = 0; i < BANDS; i++)
			spectra[p][i] = unit() + 0.3f * sinf((float)(i * (1 + shade[p])) / 9);
	}
	for (size_t i = 0; i < sizeof net / sizeof(float); i++)
		(&net.in[0][0])[i] = 0.3f * unit();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		int first = watch.steps * BATCH % (PIECES - BATCH);

		DWELL_STEP();
		{
			DWELL_PHASE("forward");
			loss = forward(first);
		}
		{
			DWELL_PHASE("backward");
			backward(first);
		}
		if (watch.steps % 48 == 20) {
			planted_begin(&watch);
			if (!plausible(first))
				fprintf(stderr, "step %d: gradient is off\n", watch.steps);
			planted_end(&watch);
		}
		DWELL_PHASE("optimizer");
		descend(0.02f);
	}
	watch_tell(&watch);
	fprintf(stderr, "loss %g\n", loss);
	return 0;
}
