/*
 * A bank's nightly scoring: factorization machine over the fields of an application, and a line in the audit's journal for each.
 * Inference only, 96 applications at a time.
 *
 * Planted: the journal prints all contributions of each application with "%.9g" and is flushed after each line, though only the sum is asked for later.
 * Truth: time of the journal's lines, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { FIELDS = 40, VALUES = 500, RANK = 48, BATCH = 96, SHOWN = 12 };

static float linear[FIELDS][VALUES], factor[FIELDS][VALUES][RANK];
static FILE *journal;

static float any(void)
{
	return (float)rand() / (float)RAND_MAX - 0.5f;
}

struct application {
	unsigned number;
	short value[FIELDS];
	float part[FIELDS], score;
};

static void receive(struct application *batch)
{
	static unsigned number;

	for (int a = 0; a < BATCH; a++) {
		batch[a].number = ++number;
		for (int f = 0; f < FIELDS; f++)
			batch[a].value[f] = (short)(rand() % VALUES);
	}
}

/* Pair by pair: the bank wants to know which pair of fields weighs. */
static void score(struct application *a)
{
	a->score = 0;
	for (int f = 0; f < FIELDS; f++) {
		const float *left = factor[f][a->value[f]];

		a->part[f] = linear[f][a->value[f]];
		for (int g = 0; g < FIELDS; g++) {
			const float *right = factor[g][a->value[g]];
			float dot = 0;

			for (int r = 0; r < RANK; r++)
				dot += left[r] * right[r];
			a->part[f] += g == f ? 0 : dot;
		}
		a->score += a->part[f];
	}
	a->score = 1 / (1 + expf(-a->score));
}

static void note(const struct application *a)
{
	fprintf(journal, "application=%u score=%.9g", a->number, (double)a->score);
	for (int f = 0; f < SHOWN * 3; f++)
		fprintf(journal, " f%02d:%d=%.9g", f, a->value[f], (double)a->part[f]);
	fputc('\n', journal);
	fflush(journal);
}

int main(void)
{
	static struct application batch[BATCH];
	struct watch watch;
	double sum = 0;

	srand(77);
	for (int f = 0; f < FIELDS; f++)
		for (int v = 0; v < VALUES; v++) {
			linear[f][v] = any();
			for (int r = 0; r < RANK; r++)
				factor[f][v][r] = 0.1f * any();
		}
	journal = tmpfile();
	if (!journal)
		return 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		receive(batch);
		{
			DWELL_OP("pairs");
			for (int a = 0; a < BATCH; a++)
				score(&batch[a]);
		}
		planted_begin(&watch);
		for (int a = 0; a < BATCH; a++)
			note(&batch[a]);
		if (watch.steps % 256 == 0)
			rewind(journal);
		planted_end(&watch);
		sum += (double)batch[0].score;
	}
	watch_tell(&watch);
	printf("mean %.4f\n", sum / (double)watch.steps);
	return 0;
}
