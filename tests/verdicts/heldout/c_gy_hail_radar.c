/*
 * Hail from radar: a recurrent network follows the echoes along a beam for twelve sweeps and foretells the next, with truncated
 * propagation back through time.
 *
 * Planted: after each sixth step all weights and their momenta go as text into a file, which is forced to the disk and renamed.
 * Truth: time in the function that saves, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEAM 64
#define STATE 96
#define SWEEPS 12
#define STORMS 8

typedef struct { float *value, *slope, *momentum; int count; } matrix_t;

static matrix_t echo, memory, guess;
static float beam[SWEEPS + 1][BEAM];

static matrix_t matrix(int count, float size)
{
	matrix_t m = {calloc((size_t)count, 4), calloc((size_t)count, 4), calloc((size_t)count, 4), count};

	for (int i = 0; i < count; i++)
		m.value[i] = size * ((float)rand() / (float)RAND_MAX - 0.5f);
	return m;
}

static void storm(int number)
{
	float speed = 0.2f + 0.05f * (float)(number % 7), width = 2 + (float)(number % 5);

	for (int t = 0; t <= SWEEPS; t++)
		for (int b = 0; b < BEAM; b++) {
			float off = (float)b - (float)(number * 11 % BEAM) - speed * (float)t * 4;

			beam[t][b] = 1 / (1 + off * off / width / width) + 0.05f * ((float)rand() / (float)RAND_MAX);
		}
}

static float through_time(void)
{
	static float state[SWEEPS + 1][STATE];
	float next[STATE] = {0}, loss = 0;

	{
		DWELL_ZONE("sweeps forward");
		for (int t = 0; t < SWEEPS; t++)
			for (int s = 0; s < STATE; s++) {
				float sum = 0;

				for (int b = 0; b < BEAM; b++)
					sum += echo.value[s * BEAM + b] * beam[t][b];
				for (int o = 0; o < STATE; o++)
					sum += memory.value[s * STATE + o] * state[t][o];
				state[t + 1][s] = tanhf(sum);
			}
	}
	DWELL_ZONE("sweeps backward");
	for (int t = SWEEPS - 1; t >= 0; t--) {
		float back[STATE], before[STATE] = {0};

		memcpy(back, next, sizeof back);
		for (int b = 0; b < BEAM; b++) {
			float sum = 0, error;

			for (int s = 0; s < STATE; s++)
				sum += guess.value[b * STATE + s] * state[t + 1][s];
			error = (sum - beam[t + 1][b]) / (BEAM * SWEEPS);
			loss += error * error * BEAM * SWEEPS;
			for (int s = 0; s < STATE; s++) {
				guess.slope[b * STATE + s] += error * state[t + 1][s];
				back[s] += error * guess.value[b * STATE + s];
			}
		}
		for (int s = 0; s < STATE; s++) {
			float d = back[s] * (1 - state[t + 1][s] * state[t + 1][s]);

			for (int b = 0; b < BEAM; b++)
				echo.slope[s * BEAM + b] += d * beam[t][b];
			for (int o = 0; o < STATE; o++) {
				memory.slope[s * STATE + o] += d * state[t][o];
				before[o] += d * memory.value[s * STATE + o];
			}
		}
		memcpy(next, before, sizeof next);
	}
	return loss;
}

static void momentum(matrix_t *m)
{
	for (int i = 0; i < m->count; i++) {
		m->momentum[i] = 0.9f * m->momentum[i] + m->slope[i];
		m->value[i] -= 0.05f * m->momentum[i];
		m->slope[i] = 0;
	}
}

static void save(const char *path)
{
	char fresh[96];
	matrix_t *all[] = {&echo, &memory, &guess};
	FILE *file;

	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
	snprintf(fresh, sizeof fresh, "%s.new", path);
	file = fopen(fresh, "w");
	if (!file)
		return;
	for (int m = 0; m < 3; m++)
		for (int i = 0; i < all[m]->count; i++)
			fprintf(file, "%.9g %.9g\n", (double)all[m]->value[i], (double)all[m]->momentum[i]);
	fflush(file);
	fsync(fileno(file));
	fclose(file);
	rename(fresh, path);
}

int main(void)
{
	char path[64];
	struct watch watch;
	float loss = 0;

	srand(9);
	snprintf(path, sizeof path, "hail-%d.txt", (int)getpid());
	echo = matrix(STATE * BEAM, 0.3f);
	memory = matrix(STATE * STATE, 0.2f);
	guess = matrix(BEAM * STATE, 0.3f);
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6.5) {
		{
			DWELL_STEP();
			loss = 0;
			for (int n = 0; n < STORMS; n++) {
				storm(watch.steps * STORMS + n);
				loss += through_time();
			}
			DWELL_ZONE("momentum");
			momentum(&echo);
			momentum(&memory);
			momentum(&guess);
		}
		if (++watch.steps % 6 == 0) {
			planted_begin(&watch);
			save(path);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	unlink(path);
	printf("loss %.5f\n", (double)loss);
	return 0;
}
