/*
 * Compresses maps: a learned transform of tiles, whose coefficients go through an adaptive range coder.
 *
 * Planted: after each symbol the coder adds one to all cumulative frequencies above it, half a thousand or more.
 * Truth: time of the coder, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SECONDS = 6, TILE = 16, PIXELS = TILE * TILE, COEFFICIENTS = 96, TILES = 48, SYMBOLS = 1024, MIDDLE = SYMBOLS / 2, LIMIT = 1 << 16 };

static float pixels[TILES][PIXELS], basis[COEFFICIENTS][PIXELS], coefficients[TILES][COEFFICIENTS];
static int symbols[TILES][COEFFICIENTS];

static struct {
	uint32_t cumulative[SYMBOLS + 1];
	uint32_t low, range;
	uint8_t bytes[1 << 20];
	size_t count;
} coder;

static void start_coder(void)
{
	for (uint32_t symbol = 0; symbol <= SYMBOLS; symbol++)
		coder.cumulative[symbol] = symbol;
	coder.low = 0;
	coder.range = UINT32_MAX;
	coder.count = 0;
}

static void learn_symbol(int symbol)
{
	for (int at = symbol + 1; at <= SYMBOLS; at++)
		coder.cumulative[at] += 1;
	if (coder.cumulative[SYMBOLS] < LIMIT)
		return;
	for (int at = 1; at <= SYMBOLS; at++) { /* halve, and keep each above zero */
		coder.cumulative[at] = (coder.cumulative[at] >> 1);
		if (coder.cumulative[at] <= coder.cumulative[at - 1])
			coder.cumulative[at] = coder.cumulative[at - 1] + 1;
	}
}

static void code(int symbol)
{
	coder.range /= coder.cumulative[SYMBOLS];
	coder.low += coder.cumulative[symbol] * coder.range;
	coder.range *= coder.cumulative[symbol + 1] - coder.cumulative[symbol];
	while ((coder.low ^ (coder.low + coder.range)) < 1u << 24 || coder.range < 1u << 16) {
		if ((coder.low ^ (coder.low + coder.range)) >= 1u << 24)
			coder.range = -coder.low & 0xffff;
		coder.bytes[coder.count++] = (uint8_t)(coder.low >> 24);
		coder.low <<= 8;
		coder.range <<= 8;
	}
}

static void render(long number)
{
	DWELL_ZONE("render");
	for (int tile = 0; tile < TILES; tile++)
		for (int at = 0; at < PIXELS; at++)
			pixels[tile][at] = (float)((at % TILE * 7 + at / TILE * (tile + 3) + number * 5) % 64) - 32;
}

static void transform(void)
{
	DWELL_ZONE("transform");
	for (int tile = 0; tile < TILES; tile++)
		for (int row = 0; row < COEFFICIENTS; row++) {
			float sum = 0;

			for (int at = 0; at < PIXELS; at++)
				sum += basis[row][at] * pixels[tile][at];
			coefficients[tile][row] = sum;
		}
}

static void quantise(void)
{
	DWELL_ZONE("quantise");
	for (int tile = 0; tile < TILES; tile++)
		for (int row = 0; row < COEFFICIENTS; row++) {
			int level = (int)lrintf(coefficients[tile][row] * 4);

			symbols[tile][row] = level < -MIDDLE ? 0 : level >= MIDDLE ? SYMBOLS - 1 : level + MIDDLE;
		}
}

static void entropy(void)
{
	DWELL_ZONE("entropy");
	start_coder();
	for (int tile = 0; tile < TILES; tile++)
		for (int row = 0; row < COEFFICIENTS; row++) {
			code(symbols[tile][row]);
			learn_symbol(symbols[tile][row]);
		}
}

/* The basis follows what the tiles were, by Oja's rule. */
static void adapt(void)
{
	DWELL_ZONE("adapt");
	for (int tile = 0; tile < TILES; tile += 4)
		for (int row = 0; row < COEFFICIENTS; row++) {
			float output = coefficients[tile][row] * 1e-7f, shrink = output * coefficients[tile][row];

			for (int at = 0; at < PIXELS; at++)
				basis[row][at] += output * pixels[tile][at] - shrink * basis[row][at];
		}
}

int main(void)
{
	size_t written = 0;
	struct watch watch;

	for (int row = 0; row < COEFFICIENTS; row++)
		for (int at = 0; at < PIXELS; at++)
			basis[row][at] = cosf((float)(row % 10) * ((float)(at % TILE) + 0.5f) * 0.19635f) *
			                 cosf((float)(row / 10) * ((float)(at / TILE) + 0.5f) * 0.19635f) / 8;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		render(watch.steps);
		transform();
		quantise();
		planted_begin(&watch);
		entropy();
		planted_end(&watch);
		adapt();
		written += coder.count;
	}
	printf("%.1f bytes a tile\n", (double)written / (double)watch.steps / TILES);
	watch_tell(&watch);
	return 0;
}
