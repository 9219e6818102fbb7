/*
 * Reconstructs slices of a tomograph by a learned gradient descent: rays through a grid, back along them, a small filter.
 *
 * Plants nothing: rays and lines of the grid are shared by threads of OpenMP in equal parts.
 * Truth: time of the start of each slice, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 128
#define ANGLES 60
#define TAPS 7

static float slice[SIZE][SIZE], change[SIZE][SIZE], measured[ANGLES][SIZE], filter[TAPS][TAPS];
static float cosine[ANGLES], sine[ANGLES];

/* Each ray's difference from what was measured. */
static void project(float residual[ANGLES][SIZE])
{
	DWELL_ZONE("project");
#pragma omp parallel for schedule(static)
	for (int a = 0; a < ANGLES; a++)
		for (int r = 0; r < SIZE; r++) {
			float sum = 0;

			for (int t = 0; t < SIZE; t++) {
				const int x = (int)(SIZE / 2 + (r - SIZE / 2) * cosine[a] - (t - SIZE / 2) * sine[a]);
				const int y = (int)(SIZE / 2 + (r - SIZE / 2) * sine[a] + (t - SIZE / 2) * cosine[a]);

				if ((unsigned)x < SIZE && (unsigned)y < SIZE)
					sum += slice[y][x];
			}
			residual[a][r] = sum / SIZE - measured[a][r];
		}
}

static void back_project(float residual[ANGLES][SIZE])
{
	DWELL_ZONE("back project");
#pragma omp parallel for schedule(static)
	for (int y = 0; y < SIZE; y++)
		for (int x = 0; x < SIZE; x++) {
			float sum = 0;

			for (int a = 0; a < ANGLES; a++) {
				const int r = (int)(SIZE / 2 + (x - SIZE / 2) * cosine[a] + (y - SIZE / 2) * sine[a]);

				if ((unsigned)r < SIZE)
					sum += residual[a][r];
			}
			change[y][x] = sum / ANGLES;
		}
}

static void smooth(void)
{
	DWELL_ZONE("learned filter");
#pragma omp parallel for schedule(static)
	for (int y = 0; y < SIZE; y++)
		for (int x = 0; x < SIZE; x++) {
			float sum = 0;

			for (int i = 0; i < TAPS; i++)
				for (int k = 0; k < TAPS; k++)
					sum += filter[i][k] * change[(y + i) % SIZE][(x + k) % SIZE];
			slice[y][x] -= 0.4f * sum;
		}
}

static void improve_filter(void)
{
	DWELL_ZONE("filter gradient");
#pragma omp parallel for schedule(static)
	for (int n = 0; n < TAPS * TAPS; n++) {
		float sum = 0;

		for (int y = 0; y < SIZE; y++)
			for (int x = 0; x < SIZE; x++)
				sum += change[y][x] * change[(y + n / TAPS) % SIZE][(x + n % TAPS) % SIZE];
		filter[n / TAPS][n % TAPS] += 1e-6f * sum;
	}
}

int main(void)
{
	static float residual[ANGLES][SIZE];
	struct watch watch;

	for (int a = 0; a < ANGLES; a++) {
		cosine[a] = cosf((float)a * 3.14159f / ANGLES);
		sine[a] = sinf((float)a * 3.14159f / ANGLES);
		for (int r = 0; r < SIZE; r++)
			measured[a][r] = expf(-(float)((r - 60 - a % 9) * (r - 60 - a % 9)) / 300);
	}
	filter[TAPS / 2][TAPS / 2] = 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		memset(slice, 0, sizeof slice);
		planted_end(&watch);
		for (int turn = 0; turn < 6; turn++) {
			project(residual);
			back_project(residual);
			smooth();
		}
		improve_filter();
	}
	watch_tell(&watch);
	printf("centre %.4f\n", (double)slice[SIZE / 2][SIZE / 2]);
	return 0;
}
