/*
 * Learns the damping of generators from the swings of their rotors' angles after a fault in the grid: steps of Runge and Kutta
 * forward, and the slopes by a perturbed run per group of generators.
 *
 * Clean: two threads of OpenMP have the same number of disturbances each, all of the same length.
 * Truth: time of the update and of the norms, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MACHINES 24
#define GROUPS 6
#define FAULTS 8
#define MOMENTS 60

static double coupling[MACHINES][MACHINES], power[MACHINES], inertia[MACHINES];
static double seen[FAULTS][MACHINES];

struct swing {
	double angle[MACHINES], speed[MACHINES];
};

static void forces(const struct swing *at, const double *damping, struct swing *to)
{
	double sine[MACHINES], cosine[MACHINES];

	for (int i = 0; i < MACHINES; i++) {
		sine[i] = sin(at->angle[i]);
		cosine[i] = cos(at->angle[i]);
	}
	for (int i = 0; i < MACHINES; i++) {
		double sum = power[i] - damping[i % GROUPS] * at->speed[i];

		for (int j = 0; j < MACHINES; j++)
			sum -= coupling[i][j] * (sine[i] * cosine[j] - cosine[i] * sine[j]);
		to->angle[i] = at->speed[i];
		to->speed[i] = sum / inertia[i];
	}
}

static void moved(struct swing *to, const struct swing *from, const struct swing *by, double far)
{
	for (int i = 0; i < MACHINES; i++) {
		to->angle[i] = from->angle[i] + far * by->angle[i];
		to->speed[i] = from->speed[i] + far * by->speed[i];
	}
}

static void run(int fault, const double *damping, double *end)
{
	struct swing now, half, k[4];

	for (int i = 0; i < MACHINES; i++) {
		now.angle[i] = 0.3 * sin(i * 1.7 + fault);
		now.speed[i] = i % FAULTS == fault ? 0.8 : 0.1;
	}
	for (int m = 0; m < MOMENTS; m++) {
		forces(&now, damping, &k[0]);
		moved(&half, &now, &k[0], 0.01);
		forces(&half, damping, &k[1]);
		moved(&half, &now, &k[1], 0.01);
		forces(&half, damping, &k[2]);
		moved(&half, &now, &k[2], 0.02);
		forces(&half, damping, &k[3]);
		for (int i = 0; i < MACHINES; i++) {
			now.angle[i] += 0.02 / 6 * (k[0].angle[i] + 2 * k[1].angle[i] + 2 * k[2].angle[i] + k[3].angle[i]);
			now.speed[i] += 0.02 / 6 * (k[0].speed[i] + 2 * k[1].speed[i] + 2 * k[2].speed[i] + k[3].speed[i]);
		}
	}
	memcpy(end, now.angle, sizeof now.angle);
}

static double off(int fault, const double *damping)
{
	double end[MACHINES], sum = 0;

	run(fault, damping, end);
	for (int i = 0; i < MACHINES; i++)
		sum += (end[i] - seen[fault][i]) * (end[i] - seen[fault][i]);
	return sum;
}

int main(void)
{
	struct watch watch;
	double damping[GROUPS], truth[GROUPS], result[FAULTS][GROUPS + 1], loss = 0;

	for (int i = 0; i < MACHINES; i++) {
		power[i] = 0.2 * cos(i * 2.1);
		inertia[i] = 1 + 0.1 * (i % 5);
		for (int j = 0; j < MACHINES; j++)
			coupling[i][j] = i == j ? 0 : 0.2 + 0.1 * cos(i * j);
	}
	for (int g = 0; g < GROUPS; g++) {
		damping[g] = 0.4;
		truth[g] = 0.2 + 0.15 * g;
	}
	for (int f = 0; f < FAULTS; f++)
		run(f, truth, seen[f]);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("swings");
#pragma omp parallel for schedule(static) num_threads(2)
			for (int f = 0; f < FAULTS; f++)
				for (int g = 0; g <= GROUPS; g++) {
					double other[GROUPS];

					memcpy(other, damping, sizeof other);
					if (g < GROUPS)
						other[g] += 1e-4;
					result[f][g] = off(f, other);
				}
		}
		planted_begin(&watch);
		{
			DWELL_ZONE("update");
			loss = 0;
			for (int f = 0; f < FAULTS; f++)
				loss += result[f][GROUPS] / FAULTS;
			for (int g = 0; g < GROUPS; g++) {
				double slope = 0;

				for (int f = 0; f < FAULTS; f++)
					slope += (result[f][g] - result[f][GROUPS]) / 1e-4 / FAULTS;
				damping[g] -= 0.002 * slope;
			}
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("loss %.6f\n", loss);
	return 0;
}
