/*
 * A glider learns to find thermals by evolution strategies: the loop proposes and updates, a child process flies. They
 * share memory and two semaphores.
 *
 * Planted: the loop posts a flight to the child and waits in sem_wait() until it has landed; nothing overlaps.
 * Truth: time in sem_wait(), of the loop.
 */
#include "clock.h"

#include <math.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SENSES = 12, GENES = 4096, PAIRS = 8, SECONDS = 4200 };

struct cockpit {
	sem_t start, landed;
	float gene[GENES];
	float height;
};

static struct cockpit *cockpit;
static float mean[GENES], noise[PAIRS][GENES], momentum[GENES], spread[GENES];

static float fly(const float *gene)
{
	float height = 300, heading = 0, best = 0, x = 0, y = 0;

	for (int s = 0; s < SECONDS; s++) {
		float turn = 0;

		for (int k = 0; k < SENSES; k++)
			turn += gene[(s * SENSES + k) % GENES] * sinf(heading * (float)(k + 1) + 0.001f * height);
		heading += 0.1f * tanhf(turn);
		x += cosf(heading);
		y += sinf(heading);
		height += 1.5f * expf(-0.001f * ((x - 40) * (x - 40) + (y - 25) * (y - 25))) - 0.7f;
		best = height > best ? height : best;
	}
	return best;
}

static void pilot(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		while (sem_wait(&cockpit->start) < 0)
			;
		cockpit->height = fly(cockpit->gene);
		sem_post(&cockpit->landed);
	}
}

static float evaluate(const float *direction, float sign, struct watch *watch)
{
	for (int i = 0; i < GENES; i++)
		cockpit->gene[i] = mean[i] + sign * 0.05f * direction[i];
	sem_post(&cockpit->start);
	planted_begin(watch);
	while (sem_wait(&cockpit->landed) < 0)
		;
	planted_end(watch);
	return cockpit->height;
}

static void propose(unsigned *seed)
{
	for (int p = 0; p < PAIRS; p++)
		for (int i = 0; i < GENES; i += 2) {
			*seed = *seed * 1664525u + 1013904223u;
			const float radius = sqrtf(-2 * logf(((float)(*seed >> 8) + 1) / 16777217.0f));

			*seed = *seed * 1664525u + 1013904223u;
			const float angle = 6.2831853f * (float)(*seed >> 8) / 16777216.0f;

			noise[p][i] = radius * cosf(angle);
			noise[p][i + 1] = radius * sinf(angle);
		}
}

/* The mean moves along the covariance of blocks of 64 genes. */
static void update(const float *gain)
{
	for (int i = 0; i < GENES; i++) {
		float slope = 0;

		for (int p = 0; p < PAIRS; p++)
			slope += gain[p] * noise[p][i];
		momentum[i] = 0.9f * momentum[i] + 0.1f * slope / PAIRS;
	}
	for (int block = 0; block < GENES; block += 64)
		for (int i = 0; i < 64; i++) {
			float sum = 0;

			for (int k = 0; k < 64; k++) {
				float both = 0;

				for (int p = 0; p < PAIRS; p++)
					both += noise[p][block + i] * noise[p][block + k];
				sum += (i == k ? 1.0f : 0.01f * both / PAIRS) * momentum[block + k];
			}
			spread[block + i] = sum;
		}
	for (int i = 0; i < GENES; i++)
		mean[i] = 0.999f * mean[i] + 0.01f * spread[i];
}

int main(void)
{
	struct watch watch;
	float gain[PAIRS], highest = 0;
	unsigned seed = 9;
	pid_t child;

	cockpit = mmap(NULL, sizeof *cockpit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (cockpit == MAP_FAILED || sem_init(&cockpit->start, 1, 0) || sem_init(&cockpit->landed, 1, 0))
		return 1;
	child = fork();
	if (child < 0)
		return 1;
	if (child == 0)
		pilot();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		propose(&seed);
		for (int p = 0; p < PAIRS; p++) {
			const float up = evaluate(noise[p], 1, &watch), down = evaluate(noise[p], -1, &watch);

			gain[p] = (up - down) / (1 + fabsf(up) + fabsf(down));
			highest = up > highest ? up : highest;
		}
		for (int round = 0; round < 6; round++)
			update(gain);
	}
	watch_tell(&watch);
	printf("highest %.1f\n", (double)highest);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
