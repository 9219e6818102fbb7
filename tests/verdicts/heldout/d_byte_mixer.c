/*
 * Lossless compression by a network that predicts each byte and learns from it, with a range coder.
 *
 * Planted: probabilities become integers that must sum to 65536, and each missing count is given with a search of its own.
 * Truth: time of making these counts, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { SYMBOLS = 256, HIDDEN = 128, ORDER = 3, BLOCK = 200, TOTAL = 65536 };

static float embedding[ORDER][SYMBOLS][HIDDEN], out[SYMBOLS][HIDDEN], hidden[HIDDEN], probability[SYMBOLS];
static unsigned count[SYMBOLS];
static unsigned char text[1 << 16];
static uint32_t low, range = UINT32_MAX;
static unsigned long long emitted;
static struct watch watch;

static void predict(const unsigned char *before)
{
	DWELL_OP("predict");
	float top = -1e9f, sum = 0;
	for (int h = 0; h < HIDDEN; h++) {
		float z = 0;
		for (int k = 0; k < ORDER; k++)
			z += embedding[k][before[-1 - k]][h];
		hidden[h] = tanhf(z);
	}
	for (int s = 0; s < SYMBOLS; s++) {
		float z = 0;
		for (int h = 0; h < HIDDEN; h++)
			z += out[s][h] * hidden[h];
		probability[s] = z;
		top = z > top ? z : top;
	}
	for (int s = 0; s < SYMBOLS; s++)
		sum += probability[s] = expf(probability[s] - top);
	for (int s = 0; s < SYMBOLS; s++)
		probability[s] /= sum;
}

/* Largest remainders first: the counts sum to TOTAL, and none is 0. */
static void make_counts(void)
{
	DWELL_OP("make_counts");
	float rest[SYMBOLS];
	unsigned sum = 0;
	planted_begin(&watch);
	for (int s = 0; s < SYMBOLS; s++) {
		float exact = probability[s] * (TOTAL - SYMBOLS);
		count[s] = 1 + (unsigned)exact;
		rest[s] = exact - floorf(exact);
		sum += count[s];
	}
	while (sum < TOTAL) {
		int best = 0;
		for (int s = 1; s < SYMBOLS; s++)
			if (rest[s] > rest[best])
				best = s;
		count[best]++;
		rest[best] -= 1;
		sum++;
	}
	planted_end(&watch);
}

static void encode(unsigned char symbol)
{
	DWELL_OP("encode");
	unsigned below = 0;
	for (int s = 0; s < symbol; s++)
		below += count[s];
	range /= TOTAL;
	low += below * range;
	range *= count[symbol];
	while (range < 1u << 24) {
		emitted++;
		low <<= 8;
		range = (range << 8) | 255;
	}
}

static void learn(const unsigned char *at)
{
	DWELL_OP("learn");
	float back[HIDDEN] = { 0 };
	for (int s = 0; s < SYMBOLS; s++) {
		float error = probability[s] - (float)(s == *at);
		for (int h = 0; h < HIDDEN; h++) {
			back[h] += error * out[s][h];
			out[s][h] -= 0.02f * error * hidden[h];
		}
	}
	for (int k = 0; k < ORDER; k++)
		for (int h = 0; h < HIDDEN; h++)
			embedding[k][at[-1 - k]][h] -= 0.02f * back[h] * (1 - hidden[h] * hidden[h]);
}

int main(void)
{
	srand(3);
	for (int i = 0; i < (int)sizeof(text); i++)
		text[i] = (unsigned char)(rand() % 4 ? "entropy and the river "[i % 22] : rand() % 256);
	for (int i = 0; i < SYMBOLS; i++)
		for (int h = 0; h < HIDDEN; h++) {
			out[i][h] = (float)(rand() % 200 - 100) / 400;
			for (int k = 0; k < ORDER; k++)
				embedding[k][i][h] = (float)(rand() % 200 - 100) / 100;
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int i = 0; i < BLOCK; i++) {
			const unsigned char *at = &text[ORDER + (watch.steps * BLOCK + i) % ((int)sizeof(text) - ORDER)];

			predict(at);
			make_counts();
			encode(*at);
			learn(at);
		}
	}
	watch_tell(&watch);
	fprintf(stderr, "%llu bytes for %d\n", emitted, watch.steps * BLOCK);
}
