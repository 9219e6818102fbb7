/*
 * A small transformer block in C whose products want the second matrix transposed.
 *
 * Planted: the matrix, which never changes its place, is transposed again before each product.
 * Truth: time of transposing, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 6, TOKENS = 20, WIDTH = 768, BLOCKS = 4 };

static float weights[BLOCKS][WIDTH][WIDTH], turned[WIDTH][WIDTH], tokens[TOKENS][WIDTH],
    next[TOKENS][WIDTH];
static struct watch watch;

static void transpose(float (*matrix)[WIDTH])
{
	DWELL_OP("transpose");
	planted_begin(&watch);
	for (int row = 0; row < WIDTH; row++)
		for (int column = 0; column < WIDTH; column++)
			turned[column][row] = matrix[row][column];
	planted_end(&watch);
}

static void product(void)
{
	DWELL_OP("matmul");
	memset(next, 0, sizeof(next));
	for (int token = 0; token < TOKENS; token++)
		for (int at = 0; at < WIDTH; at++)
			for (int to = 0; to < WIDTH; to++)
				next[token][to] += tokens[token][at] * turned[at][to];
}

static void normalise(void)
{
	DWELL_OP("norm");
	for (int token = 0; token < TOKENS; token++) {
		float most = 1e-6f;

		for (int at = 0; at < WIDTH; at++)
			most = next[token][at] > most ? next[token][at] : most;
		for (int at = 0; at < WIDTH; at++)
			tokens[token][at] = next[token][at] / most;
	}
}

int main(void)
{
	for (int block = 0; block < BLOCKS; block++)
		for (int row = 0; row < WIDTH; row++)
			for (int column = 0; column < WIDTH; column++)
				weights[block][row][column] = (float)((block + row * 3 + column) % 37) / 37;
	for (int token = 0; token < TOKENS; token++)
		for (int at = 0; at < WIDTH; at++)
			tokens[token][at] = (float)((token + at) % 5);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int block = 0; block < BLOCKS; block++) {
			transpose(weights[block]);
			product();
			normalise();
		}
	}
	watch_tell(&watch);
	return 0;
}
