/*
 * Which spices go together: a table of vectors for 180,000 words of recipes, a small hidden layer for each pot, and the
 * words' gradients in a table as large as that of the vectors.
 *
 * Planted: the table of gradients is "cleared" with madvise(MADV_DONTNEED) after each batch, because that costs nothing,
 * and so each row that the next batch touches faults a page in anew.
 * Truth: time that the kernel works for this thread (getrusage), of the loop; nothing else here asks it for anything.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { WORDS = 180000, DIM = 32, HIDDEN = 8, POT = 8, POTS = 1200 };

struct table {
	float (*rows)[DIM];
	size_t bytes;
};

static struct table vectors, gradients;
static float mix[HIDDEN][DIM], mix_gradient[HIDDEN][DIM], taste[HIDDEN];
static uint32_t touched[POTS * POT];
static int touches;
static uint64_t dice = 88172645463325252u;

static uint64_t roll(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice;
}

static struct table table_new(void)
{
	struct table t = { NULL, sizeof(float[DIM]) * WORDS };

	t.rows = mmap(NULL, t.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t.rows == MAP_FAILED)
		exit(1);
	madvise(t.rows, t.bytes, MADV_NOHUGEPAGE);
	return t;
}

static void table_clear(struct table *t)
{
	madvise(t->rows, t->bytes, MADV_DONTNEED);
}

static double kernel_seconds(void)
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	return (double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec;
}

/* One pot of words: forward, and its gradients into the tables. */
static float stew(const uint32_t *words, float liked)
{
	float sum[DIM] = { 0 }, hidden[HIDDEN], back[DIM] = { 0 }, score = 0;

	for (int w = 0; w < POT; w++)
		for (int d = 0; d < DIM; d++)
			sum[d] += vectors.rows[words[w]][d];
	for (int h = 0; h < HIDDEN; h++) {
		float dot = 0;

		for (int d = 0; d < DIM; d++)
			dot += mix[h][d] * sum[d];
		hidden[h] = tanhf(dot);
		score += taste[h] * hidden[h];
	}
	const float miss = score - liked;

	for (int h = 0; h < HIDDEN; h++) {
		const float slope = miss * taste[h] * (1 - hidden[h] * hidden[h]);

		for (int d = 0; d < DIM; d++) {
			back[d] += slope * mix[h][d];
			mix_gradient[h][d] += slope * sum[d];
		}
	}
	for (int w = 0; w < POT; w++) {
		float *row = gradients.rows[words[w]];

		for (int d = 0; d < DIM; d++)
			row[d] += back[d];
		touched[touches++] = words[w];
	}
	return miss * miss;
}

static void apply(void)
{
	DWELL_ZONE("apply");
	for (int t = 0; t < touches; t++) {
		float *to = vectors.rows[touched[t]], *from = gradients.rows[touched[t]];

		for (int d = 0; d < DIM; d++) {
			to[d] -= 0.01f * from[d];
			from[d] = 0; /* a word that came twice is applied once */
		}
	}
	for (int h = 0; h < HIDDEN; h++)
		for (int d = 0; d < DIM; d++) {
			mix[h][d] -= 1e-4f * mix_gradient[h][d] / POTS;
			mix_gradient[h][d] = 0;
		}
	touches = 0;
}

int main(void)
{
	struct watch watch;
	float missed = 0;

	vectors = table_new();
	gradients = table_new();
	for (int w = 0; w < WORDS; w++)
		for (int d = 0; d < DIM; d++)
			vectors.rows[w][d] = (float)(roll() % 2001) / 5000 - 0.2f;
	for (int h = 0; h < HIDDEN; h++) {
		taste[h] = h % 2 ? 0.3f : -0.3f;
		for (int d = 0; d < DIM; d++)
			mix[h][d] = (float)(roll() % 2001) / 2000 - 0.5f;
	}
	const double before = kernel_seconds();

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("pots");
			for (int p = 0; p < POTS; p++) {
				uint32_t words[POT];

				for (int w = 0; w < POT; w++)
					words[w] = (uint32_t)(roll() % WORDS);
				missed = 0.999f * missed + 0.001f * stew(words, (float)(words[0] % 7) / 7 - 0.4f);
			}
		}
		apply();
		table_clear(&gradients);
	}
	const double seconds = watch_seconds(&watch), kernel = kernel_seconds() - before;

	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", kernel / seconds, seconds,
	       (int)watch.steps, 1e3 * seconds / (double)watch.steps);
	printf("missed %.4f\n", (double)missed);
	return 0;
}
