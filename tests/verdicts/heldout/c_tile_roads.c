/*
 * Finds roads in tiles of a map: two convolutions and a mask, each an operator, in threads of OpenMP.
 *
 * Planted: nothing. Truth: time of the mask's error, the smallest operator, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { Side = 64, Tiles = 8, Wide = 12 };

static float tiles[Tiles][Side][Side], mask[Tiles][Side][Side], error[Tiles][Side][Side];
static float features[Tiles][Wide][Side][Side], d_features[Tiles][Wide][Side][Side];
static float first[Wide][25], second[Wide][25], d_first[Tiles][Wide][25], d_second[Tiles][Wide][25];

static float at(float plane[Side][Side], const float *kernel, int y, int x)
{
	float sum = 0;

	for (int i = 0; i < 25; i++)
		sum += kernel[i] * plane[y + i / 5 - 2][x + i % 5 - 2];
	return sum;
}

static void conv_in(void)
{
	DWELL_OP("conv2d_in");
#pragma omp parallel for
	for (int t = 0; t < Tiles; t++)
		for (int w = 0; w < Wide; w++)
			for (int y = 2; y < Side - 2; y++)
				for (int x = 2; x < Side - 2; x++)
					features[t][w][y][x] = fmaxf(0, at(tiles[t], first[w], y, x));
}

static void conv_out(void)
{
	DWELL_OP("conv2d_out");
#pragma omp parallel for
	for (int t = 0; t < Tiles; t++)
		for (int y = 2; y < Side - 2; y++)
			for (int x = 2; x < Side - 2; x++) {
				mask[t][y][x] = 0;
				for (int w = 0; w < Wide; w++)
					mask[t][y][x] += at(features[t][w], second[w], y, x);
			}
}

static void mask_error(int step)
{
	DWELL_OP("mask_error");
	for (int t = 0; t < Tiles; t++)
		for (int y = 2; y < Side - 2; y++)
			for (int x = 2; x < Side - 2; x++)
				error[t][y][x] = mask[t][y][x] - (float)((x + y + step) % 16 < 3);
}

static void conv_out_backward(void)
{
	DWELL_OP("conv2d_out_backward");
	memset(d_features, 0, sizeof d_features);
#pragma omp parallel for
	for (int t = 0; t < Tiles; t++)
		for (int w = 0; w < Wide; w++)
			for (int y = 2; y < Side - 2; y++)
				for (int x = 2; x < Side - 2; x++)
					for (int i = 0; i < 25; i++) {
						d_second[t][w][i] += error[t][y][x] * features[t][w][y + i / 5 - 2][x + i % 5 - 2];
						d_features[t][w][y + i / 5 - 2][x + i % 5 - 2] += error[t][y][x] * second[w][i];
					}
}

static void conv_in_backward(void)
{
	DWELL_OP("conv2d_in_backward");
#pragma omp parallel for
	for (int t = 0; t < Tiles; t++)
		for (int w = 0; w < Wide; w++)
			for (int y = 2; y < Side - 2; y++)
				for (int x = 2; x < Side - 2; x++)
					if (features[t][w][y][x] > 0)
						for (int i = 0; i < 25; i++)
							d_first[t][w][i] += d_features[t][w][y][x] * tiles[t][y + i / 5 - 2][x + i % 5 - 2];
}

static void sgd(void)
{
	DWELL_OP("sgd");
	for (int t = 0; t < Tiles; t++)
		for (int w = 0; w < Wide; w++)
			for (int i = 0; i < 25; i++) {
				first[w][i] -= 1e-8f * d_first[t][w][i];
				second[w][i] -= 1e-8f * d_second[t][w][i];
			}
	memset(d_first, 0, sizeof d_first);
	memset(d_second, 0, sizeof d_second);
}

int main(void)
{
	struct watch watch;

	for (int i = 0; i < Tiles * Side * Side; i++)
		(&tiles[0][0][0])[i] = (float)(rand() % 256) / 256;
	for (int i = 0; i < Wide * 25; i++)
		(&first[0][0])[i] = (&second[0][0])[i] = (float)(rand() % 100 - 48) / 500;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		conv_in();
		conv_out();
		planted_begin(&watch);
		mask_error(watch.steps);
		planted_end(&watch);
		conv_out_backward();
		conv_in_backward();
		sgd();
	}
	watch_tell(&watch);
	return 0;
}
