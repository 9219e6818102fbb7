/*
 * Foretells delays of trams at the next stop while they run: recursive least squares on events, and a "nearest cases" term
 * from the days before. An event a time; 400 events make a step.
 *
 * Planted: cases are never thinned out, and each event in 20 is compared with all cases that were ever seen.
 * Truth: time of these comparisons, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 56, EVENTS = 400, KEY = 12, MOST = 4 << 20 };

struct tram_case {
	float key[KEY], delay;
};

static float weights[IN], spread[IN][IN];
static struct tram_case *cases;
static size_t case_count;

static float any(void)
{
	return (float)rand() / (float)RAND_MAX - 0.5f;
}

static float recall(const float *event)
{
	float best = 1e9f, delay = 0;

	for (size_t c = 0; c < case_count; c++) {
		float far = 0;
		for (int k = 0; k < KEY; k++)
			far += (cases[c].key[k] - event[k]) * (cases[c].key[k] - event[k]);
		if (far < best) {
			best = far;
			delay = cases[c].delay;
		}
	}
	return delay;
}

static void remember(const float *event, float delay)
{
	struct tram_case *new = &cases[case_count];

	if (case_count == MOST)
		return;
	memcpy(new->key, event, sizeof new->key);
	new->delay = delay;
	case_count++;
}

static float adapt(const float *event, float delay)
{
	float gain[IN], scale = 1.02f, guess = 0;

	for (int i = 0; i < IN; i++) {
		float sum = 0;
		for (int j = 0; j < IN; j++)
			sum += spread[i][j] * event[j];
		gain[i] = sum;
		scale += sum * event[i];
		guess += weights[i] * event[i];
	}
	for (int i = 0; i < IN; i++) {
		weights[i] += gain[i] / scale * (delay - guess);
		for (int j = 0; j < IN; j++)
			spread[i][j] -= gain[i] * gain[j] / scale;
		spread[i][i] += 1e-4f;
	}
	return guess;
}

int main(void)
{
	struct watch watch;
	float error = 0;

	srand(41);
	cases = malloc(sizeof *cases * MOST);
	if (!cases)
		return 1;
	for (int i = 0; i < IN; i++)
		spread[i][i] = 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 7; watch.steps++) {
		DWELL_STEP();
		for (int e = 0; e < EVENTS; e++) {
			float event[IN], delay = 0;

			for (int i = 0; i < IN; i++) {
				event[i] = any();
				delay += event[i] * (float)(i % 5);
			}
			const float guess = adapt(event, delay);
			if (e % 20 == 0) {
				planted_begin(&watch);
				const float old = recall(event);
				planted_end(&watch);
				error = 0.99f * error + 0.01f * fabsf(delay - 0.9f * guess - 0.1f * old);
			}
			if (e % 80 == 0)
				remember(event, delay);
		}
	}
	watch_tell(&watch);
	printf("error %.3f cases %zu\n", (double)error, case_count);
	free(cases);
	return 0;
}
