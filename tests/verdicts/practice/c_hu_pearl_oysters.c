/*
 * Grades pearls: an inference engine of four dense layers and a head. The weights are kept as the file has them, a row for each
 * output, and the product wants a row for each input.
 *
 * Planted: each call of a layer turns its weights, which never change, into a scratch matrix before it multiplies.
 * Truth: time of the turning, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1024, LAYERS = 4, TRAY = 18, GRADES = 5 };

struct dense {
	float *weight; /* [output][input], as in the file */
	float *bias;
};

struct engine {
	struct dense layer[LAYERS];
	float head[GRADES][WIDTH];
	float *scratch;
	float now[TRAY][WIDTH], next[TRAY][WIDTH];
	struct watch watch;
};

static float noise(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (float)(*state >> 8) / 16777216.0f - 0.5f;
}

static void turn(const float *from, float *to)
{
	DWELL_ZONE("turn");
	for (int o = 0; o < WIDTH; o++)
		for (int i = 0; i < WIDTH; i++)
			to[i * WIDTH + o] = from[o * WIDTH + i];
}

static void product(struct engine *engine, const struct dense *dense)
{
	DWELL_ZONE("product");
	for (int t = 0; t < TRAY; t++) {
		memcpy(engine->next[t], dense->bias, sizeof engine->next[t]);
		for (int i = 0; i < WIDTH; i++) {
			const float value = engine->now[t][i];
			const float *row = engine->scratch + i * WIDTH;
			for (int o = 0; o < WIDTH; o++)
				engine->next[t][o] += value * row[o];
		}
	}
}

static void rectify(struct engine *engine)
{
	DWELL_ZONE("rectify");
	for (int t = 0; t < TRAY; t++)
		for (int i = 0; i < WIDTH; i++)
			engine->now[t][i] += tanhf(engine->next[t][i]);
}

static int grade(struct engine *engine, const float *picture, int *grades)
{
	int best_sum = 0;

	memcpy(engine->now, picture, sizeof engine->now);
	for (int l = 0; l < LAYERS; l++) {
		planted_begin(&engine->watch);
		turn(engine->layer[l].weight, engine->scratch);
		planted_end(&engine->watch);
		product(engine, &engine->layer[l]);
		rectify(engine);
	}
	DWELL_ZONE("head");
	for (int t = 0; t < TRAY; t++) {
		float most = -1e30f;
		for (int g = 0; g < GRADES; g++) {
			float sum = 0;
			for (int i = 0; i < WIDTH; i++)
				sum += engine->now[t][i] * engine->head[g][i];
			if (sum > most) {
				most = sum;
				grades[t] = g;
			}
		}
		best_sum += grades[t];
	}
	return best_sum;
}

int main(void)
{
	static struct engine engine;
	static float pictures[6][TRAY * WIDTH];
	int grades[TRAY];
	long sum = 0;
	unsigned state = 9;

	for (int l = 0; l < LAYERS; l++) {
		engine.layer[l].weight = malloc(sizeof(float) * WIDTH * WIDTH);
		engine.layer[l].bias = calloc(WIDTH, sizeof(float));
		for (int i = 0; i < WIDTH * WIDTH; i++)
			engine.layer[l].weight[i] = 0.1f * noise(&state);
	}
	engine.scratch = malloc(sizeof(float) * WIDTH * WIDTH);
	for (int i = 0; i < GRADES * WIDTH; i++)
		(&engine.head[0][0])[i] = noise(&state);
	for (int i = 0; i < 6 * TRAY * WIDTH; i++)
		(&pictures[0][0])[i] = noise(&state);
	memset(engine.scratch, 0, sizeof(float) * WIDTH * WIDTH);
	watch_begin(&engine.watch);
	for (; watch_seconds(&engine.watch) < 6; engine.watch.steps++) {
		DWELL_STEP();
		sum += grade(&engine, pictures[engine.watch.steps % 6], grades);
	}
	watch_tell(&engine.watch);
	printf("mean grade %.2f\n", (double)sum / TRAY / engine.watch.steps);
	return 0;
}
