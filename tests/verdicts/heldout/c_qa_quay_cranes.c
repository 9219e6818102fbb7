/*
 * Learns which crane of a quay takes which box, from moves that a memory keeps: batches are drawn so that moves with a
 * large error come more often.
 *
 * Planted: after each 15th batch the memory sorts all its moves by their error, inside the drawing of a batch.
 * Truth: time of the sorting, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOVES 60000
#define BATCH 96
#define FACTS 14
#define CRANES 6
#define UNITS 80

typedef struct {
	float facts[FACTS], gain, error;
	int crane;
} move;

static move *memory;
static float w1[UNITS][FACTS], w2[UNITS][UNITS], w3[CRANES][UNITS];
static unsigned dice = 99;
static struct watch w;

static unsigned roll(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 17;
	return dice ^= dice << 5;
}

static float noise(void)
{
	return (float)(roll() >> 8) / 8388608.0f - 1;
}

static int by_error(const void *left, const void *right)
{
	const float a = ((const move *)left)->error, b = ((const move *)right)->error;

	return (a < b) - (a > b);
}

/* Places near the front are the likely ones. */
static void draw(int number, move **batch)
{
	DWELL_ZONE("draw");
	if (number % 15 == 14) {
		planted_begin(&w);
		qsort(memory, MOVES, sizeof *memory, by_error);
		planted_end(&w);
	}
	for (int b = 0; b < BATCH; b++) {
		const float u = fabsf(noise());

		batch[b] = memory + (int)(u * u * (MOVES - 1));
	}
}

static void learn(move *m)
{
	float a[UNITS], h[UNITS], back[UNITS] = {0}, out = 0;

	for (int i = 0; i < UNITS; i++) {
		float sum = 0;

		for (int f = 0; f < FACTS; f++)
			sum += w1[i][f] * m->facts[f];
		a[i] = tanhf(sum);
	}
	for (int i = 0; i < UNITS; i++) {
		float sum = 0;

		for (int k = 0; k < UNITS; k++)
			sum += w2[i][k] * a[k];
		h[i] = tanhf(sum);
		out += w3[m->crane][i] * h[i];
	}
	const float wrong = out - m->gain;

	m->error = fabsf(wrong) + 0.01f * noise();
	for (int i = 0; i < UNITS; i++) {
		const float slope = wrong * w3[m->crane][i] * (1 - h[i] * h[i]);

		w3[m->crane][i] -= 0.002f * wrong * h[i];
		for (int k = 0; k < UNITS; k++) {
			back[k] += slope * w2[i][k];
			w2[i][k] -= 0.002f * slope * a[k];
		}
	}
	for (int k = 0; k < UNITS; k++)
		for (int f = 0; f < FACTS; f++)
			w1[k][f] -= 0.002f * back[k] * (1 - a[k] * a[k]) * m->facts[f];
}

/* New moves of the quay replace some of the memory's. */
static void observe(void)
{
	DWELL_ZONE("observe");
	for (int i = 0; i < 200; i++) {
		move *m = memory + roll() % MOVES;

		for (int f = 0; f < FACTS; f++)
			m->facts[f] = noise();
		m->crane = (int)(roll() % CRANES);
		m->gain = m->facts[m->crane] * m->facts[7] + 0.1f * noise();
		m->error = 1 + 0.3f * noise();
	}
}

int main(void)
{
	move *batch[BATCH];

	memory = calloc(MOVES, sizeof *memory);
	for (int i = 0; i < UNITS; i++) {
		for (int f = 0; f < FACTS; f++)
			w1[i][f] = 0.3f * noise();
		for (int k = 0; k < UNITS; k++)
			w2[i][k] = 0.15f * noise();
		for (int c = 0; c < CRANES; c++)
			w3[c][i] = 0.1f * noise();
	}
	for (int i = 0; i < 1200; i++)
		observe();
	watch_begin(&w);
	do {
		DWELL_STEP();
		draw(w.steps, batch);
		{
			DWELL_ZONE("learn");
			for (int b = 0; b < BATCH; b++)
				learn(batch[b]);
		}
		observe();
		w.steps++;
	} while (watch_seconds(&w) < 6);
	watch_tell(&w);
	printf("error of the first: %.3f\n", (double)memory[0].error);
	free(memory);
	return 0;
}
