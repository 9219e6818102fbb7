/*
 * Downscales moisture of soil from coarse cells to fields. Threads of OpenMP share the fields.
 *
 * A decoy: a critical section for the sum of each thread, a state that is saved in each 40th step, and a pause of 50 us between some
 * tiles for a neighbour on the machine.
 * Truth: time of the saves and pauses, and of the first thread's critical sections, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELDS 2048
#define COVARIATES 64
#define KERNELS 128

static float field[FIELDS][COVARIATES], moisture[FIELDS], centre[KERNELS][COVARIATES], weight[KERNELS], step_of[KERNELS];
static float activation[FIELDS][KERNELS];

static void kernels(void)
{
	DWELL_PHASE("forward");
#pragma omp parallel for schedule(static)
	for (int f = 0; f < FIELDS; f++)
		for (int k = 0; k < KERNELS; k++) {
			float distance = 0;

			for (int c = 0; c < COVARIATES; c++)
				distance += (field[f][c] - centre[k][c]) * (field[f][c] - centre[k][c]);
			activation[f][k] = expf(-0.1f * distance);
		}
}

static double learn(struct watch *watch)
{
	double loss = 0;

	DWELL_PHASE("backward");
	memset(step_of, 0, sizeof step_of);
#pragma omp parallel
	{
		float mine[KERNELS] = {0};
		double lost = 0;

#pragma omp for schedule(static) nowait
		for (int f = 0; f < FIELDS; f++) {
			float sum = 0;

			for (int again = 0; again < 40; again++) {  /* the robust loss weighs each field anew */
				sum = 0;
				for (int k = 0; k < KERNELS; k++)
					sum += weight[k] * activation[f][k];
				sum = (sum - moisture[f]) / (1 + 0.01f * (float)again);
			}
			lost += (double)(sum * sum);
			for (int k = 0; k < KERNELS; k++)
				mine[k] += sum * activation[f][k];
		}
		if (omp_get_thread_num() == 0)
			planted_begin(watch);
#pragma omp critical
		{
			for (int k = 0; k < KERNELS; k++)
				step_of[k] += mine[k];
			loss += lost;
		}
		if (omp_get_thread_num() == 0)
			planted_end(watch);
	}
	return loss / FIELDS;
}

static void save(const char *path)
{
	FILE *file = fopen(path, "wb");

	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save state");
	if (!file)
		return;
	fwrite(centre, sizeof centre, 1, file);
	fwrite(weight, sizeof weight, 1, file);
	fclose(file);
}

int main(void)
{
	struct watch watch;
	char path[64];
	double loss = 0;

	snprintf(path, sizeof path, "/tmp/soil-%d.state", (int)getpid());
	for (int k = 0; k < KERNELS; k++)
		for (int c = 0; c < COVARIATES; c++)
			centre[k][c] = (float)(rand() % 1000) / 1000;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int f = 0; f < FIELDS; f++) {
			unsigned state = (unsigned)(f * 7919 + watch.steps * 104729);

			for (int c = 0; c < COVARIATES; c++) {
				state = state * 1664525u + 1013904223u;
				field[f][c] = (float)(state >> 20) / 4096;
			}
			moisture[f] = sinf(3 * field[f][0]) * field[f][5];
		}
		kernels();
		loss = learn(&watch);
		DWELL_PHASE("optimizer");
		for (int k = 0; k < KERNELS; k++)
			weight[k] -= 0.01f * step_of[k] / FIELDS;
		planted_begin(&watch);
		if (watch.steps % 40 == 39)
			save(path);
		if (watch.steps % 4 == 0)
			usleep(50);
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("loss %.4f\n", loss);
	unlink(path);
	return 0;
}
