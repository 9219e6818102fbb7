/*
 * Rain of the next hour: each cell of a radar picture is carried back along a wind that is fitted to the last two pictures, and a small
 * network corrects it. Two threads have a half of the picture each: the calling thread the south, a helper the north.
 *
 * Planted: the front lies in the north, where each cell needs far more rounds of the fit, so the calling thread waits for the helper.
 * Truth: time that the calling thread waits at the barrier for the other half, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { NORTH_SOUTH = 192, WEST_EAST = 192, UNITS = 12, WET = 14, DRY = 5 };

static float before[NORTH_SOUTH][WEST_EAST], now[NORTH_SOUTH][WEST_EAST], next[NORTH_SOUTH][WEST_EAST];
static float u[NORTH_SOUTH][WEST_EAST], v[NORTH_SOUTH][WEST_EAST];
static float weight[UNITS][5];
static pthread_barrier_t start, done;
static bool over;

static float at(float field[NORTH_SOUTH][WEST_EAST], float y, float x)
{
	y = fminf(fmaxf(y, 0), NORTH_SOUTH - 1.01f);
	x = fminf(fmaxf(x, 0), WEST_EAST - 1.01f);
	const int row = (int)y, column = (int)x;
	const float down = y - (float)row, right = x - (float)column;

	return (1 - down) * ((1 - right) * field[row][column] + right * field[row][column + 1]) +
	       down * ((1 - right) * field[row + 1][column] + right * field[row + 1][column + 1]);
}

static void cell(int row, int column)
{
	const int rounds = now[row][column] > 0.5f ? WET : DRY;
	float wind_y = 0.1f, wind_x = -0.1f, sum = 0;

	for (int r = 0; r < rounds; r++) {
		const float y = (float)row - wind_y, x = (float)column - wind_x;
		const float off = at(before, y, x) - now[row][column];
		const float dy = at(before, y + 0.5f, x) - at(before, y - 0.5f, x), dx = at(before, y, x + 0.5f) - at(before, y, x - 0.5f);
		const float size = 0.2f + dy * dy + dx * dx;

		wind_y += 0.5f * off * dy / size;
		wind_x += 0.5f * off * dx / size;
	}
	u[row][column] = wind_x;
	v[row][column] = wind_y;
	const float carried = at(now, (float)row - wind_y, (float)column - wind_x);
	for (int k = 0; k < UNITS; k++)
		sum += weight[k][4] * tanhf(weight[k][0] * carried + weight[k][1] * wind_x + weight[k][2] * wind_y + weight[k][3]);
	next[row][column] = carried + 0.01f * sum;
}

static void half(int from)
{
	for (int row = from; row < from + NORTH_SOUTH / 2; row++)
		for (int column = 0; column < WEST_EAST; column++)
			cell(row, column);
}

static void *north(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_barrier_wait(&start);
		if (over)
			return NULL;
		half(0);
		pthread_barrier_wait(&done);
	}
}

static void picture(int number)
{
	for (int row = 0; row < NORTH_SOUTH; row++)
		for (int column = 0; column < WEST_EAST; column++) {
			const float wave = 0.3f * sinf(0.11f * (float)(column + number)) * cosf(0.07f * (float)(row - number));

			before[row][column] = (row < NORTH_SOUTH / 2 ? 1.0f : 0.1f) + wave;
			now[row][column] = (row < NORTH_SOUTH / 2 ? 1.0f : 0.1f) + 0.3f * sinf(0.11f * (float)(column + number + 1)) * cosf(0.07f * (float)(row - number));
		}
}

int main(void)
{
	struct watch watch;
	pthread_t helper;
	double rain = 0;

	srand(3);
	for (int k = 0; k < UNITS * 5; k++)
		weight[k / 5][k % 5] = (float)rand() / (float)RAND_MAX - 0.5f;
	pthread_barrier_init(&start, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	pthread_create(&helper, NULL, north, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "picture");
			picture((int)watch.steps % 40);
		}
		DWELL_ZONE("carry");
		pthread_barrier_wait(&start);
		half(NORTH_SOUTH / 2);
		planted_begin(&watch);
		pthread_barrier_wait(&done);
		planted_end(&watch);
		rain += (double)next[NORTH_SOUTH / 4][watch.steps % WEST_EAST];
	}
	watch_tell(&watch);
	over = true;
	pthread_barrier_wait(&start);
	pthread_join(helper, NULL);
	printf("rain %.3f\n", rain / (double)watch.steps);
	return 0;
}
