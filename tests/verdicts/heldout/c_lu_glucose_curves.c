/*
 * Foretells the glucose of a ward's patients in the next hours: a recurrent cell over their sensor's curve, with the mean of the
 * most similar curves on file as one more input.
 *
 * Planted: each visit files its curves again, without a look whether they are there already, and the search goes through all of them.
 * Truth: time of the search among curves that are on file more than once, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 48, PATIENTS = 192, VISIT = 32, CELL = 96 };

struct curve {
	float at[POINTS], next;
};

struct file {
	struct curve *curve;
	size_t count, room;
};

static float in[CELL], again[CELL][CELL], out[CELL], from_similar;
static struct curve cohort[PATIENTS];
static struct file file;

static void put_on_file(const struct curve *curve)
{
	if (file.count == file.room) {
		file.room = file.room ? 2 * file.room : 256;
		file.curve = realloc(file.curve, file.room * sizeof *file.curve);
		if (!file.curve)
			exit(1);
	}
	file.curve[file.count++] = *curve;
}

static float apart(const struct curve *a, const struct curve *b)
{
	float sum = 0;

	for (int p = 0; p < POINTS; p++)
		sum += (a->at[p] - b->at[p]) * (a->at[p] - b->at[p]);
	return sum;
}

static void nearest(const struct curve *to, size_t from, size_t end, float *least, float *next)
{
	for (size_t i = from; i < end; i++) {
		const float far = apart(to, &file.curve[i]);

		if (far < *least && far > 0) {
			*least = far;
			*next = file.curve[i].next;
		}
	}
}

/* What came next for the patient whose curve is most alike. */
static float similar(const struct curve *to, struct watch *watch)
{
	const size_t once = file.count < PATIENTS ? file.count : PATIENTS;
	float least = INFINITY, next = 0;

	nearest(to, 0, once, &least, &next);
	planted_begin(watch);
	nearest(to, once, file.count, &least, &next);
	planted_end(watch);
	return next;
}

static float teach(const struct curve *curve, float like)
{
	float state[POINTS + 1][CELL] = { { 0 } }, blame[CELL], said = from_similar * like;

	for (int p = 0; p < POINTS; p++)
		for (int c = 0; c < CELL; c++) {
			float sum = in[c] * curve->at[p];

			for (int d = 0; d < CELL; d++)
				sum += again[c][d] * state[p][d];
			state[p + 1][c] = sum / (1 + fabsf(sum));
		}
	for (int c = 0; c < CELL; c++)
		said += out[c] * state[POINTS][c];
	const float wrong = said - curve->next;

	from_similar -= 1e-3f * wrong * like;
	for (int c = 0; c < CELL; c++) {
		blame[c] = wrong * out[c];
		out[c] -= 1e-3f * wrong * state[POINTS][c];
	}
	for (int p = POINTS; p > POINTS - 12; p--) {
		float earlier[CELL] = { 0 };

		for (int c = 0; c < CELL; c++) {
			const float slope = blame[c] * (1 - fabsf(state[p][c])) + 1e-6f;

			in[c] -= 1e-4f * slope * curve->at[p - 1];
			for (int d = 0; d < CELL; d++) {
				earlier[d] += slope * again[c][d];
				again[c][d] -= 1e-4f * slope * state[p - 1][d];
			}
		}
		memcpy(blame, earlier, sizeof blame);
	}
	return wrong * wrong;
}

int main(void)
{
	struct watch watch;
	float loss = 0;

	srand(44);
	for (int i = 0; i < PATIENTS; i++) {
		float level = 5 + 3 * (float)rand() / (float)RAND_MAX;

		for (int p = 0; p < POINTS; p++)
			cohort[i].at[p] = (level += 0.4f * ((float)rand() / (float)RAND_MAX - 0.5f)) / 8;
		cohort[i].next = level / 8;
	}
	for (int c = 0; c < CELL; c++) {
		in[c] = (float)rand() / (float)RAND_MAX - 0.5f;
		out[c] = 0.3f * ((float)rand() / (float)RAND_MAX - 0.5f);
		for (int d = 0; d < CELL; d++)
			again[c][d] = 0.1f * ((float)rand() / (float)RAND_MAX - 0.5f);
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		loss = 0;
		for (int i = 0; i < VISIT; i++) {
			const struct curve *one = &cohort[(watch.steps * VISIT + i) % PATIENTS];

			loss += teach(one, similar(one, &watch)) / VISIT;
		}
		for (int i = 0; i < VISIT; i++)
			put_on_file(&cohort[(watch.steps * VISIT + i) % PATIENTS]);
	}
	watch_tell(&watch);
	printf("loss %.4f, %zu curves\n", (double)loss, file.count);
	free(file.curve);
	return 0;
}
