/*
 * Tunes a drum: a stick hits the skin beside each of six screws, the partials are listened for, and a small network tells how far to
 * turn each screw; it learns from how far the partials were off. One round of hits is a step.
 *
 * Planted: after the screws were turned the program waits 4 ms until the skin rests, in a loop that reads the clock.
 * Truth: time in that loop, of the loop of steps.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SCREWS 6
#define SAMPLES 8192
#define PARTIALS 24
#define HIDDEN 160
#define TRIES 60

struct drum {
	float tension[SCREWS];
	float sound[SCREWS][SAMPLES];
	float partial[SCREWS][PARTIALS];
	unsigned random;
};

struct ear {
	float in[SCREWS * PARTIALS][HIDDEN], out[HIDDEN][SCREWS];
	float heard[HIDDEN], turn[SCREWS];
};

static struct drum drum = { .random = 71 };
static struct ear ear;

static float chance(void)
{
	drum.random = drum.random * 1664525u + 1013904223u;
	return (float)(drum.random >> 8) / 16777216.0f - 0.5f;
}

/* A hit beside each screw: a few waves of the skin by the rule of the turning pointer. */
static void hit(void)
{
	DWELL_ZONE("hit");
	for (int s = 0; s < SCREWS; s++) {
		memset(drum.sound[s], 0, sizeof drum.sound[s]);
		for (int wave = 1; wave <= 5; wave++) {
			const float angle = 0.02f * (float)wave * (1 + 0.2f * drum.tension[s]);
			const float c = cosf(angle), d = sinf(angle);
			float x = 1, y = 0;

			for (int i = 0; i < SAMPLES; i++) {
				const float next = c * x - d * y;

				y = d * x + c * y;
				x = next;
				drum.sound[s][i] += y / (float)wave;
			}
		}
		for (int i = 0; i < SAMPLES; i++)
			drum.sound[s][i] += 0.02f * chance();
	}
}

static void listen(void)
{
	DWELL_ZONE("listen");
	for (int s = 0; s < SCREWS; s++)
		for (int p = 0; p < PARTIALS; p++) {
			const float by = 2 * cosf(0.008f * (float)(p + 1));
			float now = 0, before = 0;

			for (int i = 0; i < SAMPLES; i++) {
				const float next = drum.sound[s][i] + by * now - before;

				before = now;
				now = next;
			}
			drum.partial[s][p] = logf(1 + fabsf(now * now + before * before - by * now * before)) / 12;
		}
}

static float learn(void)
{
	const float *partial = &drum.partial[0][0];
	float off = 0;

	DWELL_ZONE("learn");
	for (int try = 0; try < TRIES; try++) {
		float back[SCREWS];

		memset(ear.heard, 0, sizeof ear.heard);
		memset(ear.turn, 0, sizeof ear.turn);
		for (int i = 0; i < SCREWS * PARTIALS; i++)
			for (int h = 0; h < HIDDEN; h++)
				ear.heard[h] += partial[i] * ear.in[i][h];
		for (int h = 0; h < HIDDEN; h++) {
			ear.heard[h] = tanhf(ear.heard[h]);
			for (int s = 0; s < SCREWS; s++)
				ear.turn[s] += ear.heard[h] * ear.out[h][s];
		}
		off = 0;
		for (int s = 0; s < SCREWS; s++) {
			back[s] = ear.turn[s] + drum.tension[s];
			off += back[s] * back[s];
		}
		for (int h = 0; h < HIDDEN; h++) {
			float slope = 0;

			for (int s = 0; s < SCREWS; s++) {
				slope += back[s] * ear.out[h][s];
				ear.out[h][s] -= 1e-3f * back[s] * ear.heard[h];
			}
			ear.heard[h] = 1e-3f * slope * (1 - ear.heard[h] * ear.heard[h]);
		}
		for (int i = 0; i < SCREWS * PARTIALS; i++)
			for (int h = 0; h < HIDDEN; h++)
				ear.in[i][h] -= partial[i] * ear.heard[h];
	}
	return off;
}

static void turn_screws(void)
{
	for (int s = 0; s < SCREWS; s++)
		drum.tension[s] = 0.5f * (drum.tension[s] + ear.turn[s]) + chance();
}

static void rest(long nanoseconds)
{
	struct timespec begin, now;

	DWELL_ZONE("rest");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < nanoseconds);
}

int main(void)
{
	static struct watch watch;
	double off = 0;

	for (int h = 0; h < HIDDEN; h++) {
		for (int i = 0; i < SCREWS * PARTIALS; i++)
			ear.in[i][h] = chance() / 8;
		for (int s = 0; s < SCREWS; s++)
			ear.out[h][s] = chance() / 8;
	}
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		hit();
		listen();
		off += (double)learn();
		turn_screws();
		planted_begin(&watch);
		rest(4000000);
		planted_end(&watch);
		watch.steps++;
	}
	watch_tell(&watch);
	printf("off by %.4f\n", off / (double)watch.steps);
	return 0;
}
