/*
 * Chooses a pose for a robot's arm: a network proposes poses for a table of goals, and the best one is tested for links and things
 * that come too near to each other. OpenMP, two threads.
 *
 * Planted: of all pairs of spheres only those with j > i are tested, in equal blocks of i, so the first thread has three quarters of them.
 * Truth: time between the ends of the two threads' shares of the pairs, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { GOALS = 192, GIVEN = 24, WIDE = 160, JOINTS = 7, SPHERES = 1300 };

struct sphere {
	float x, y, z, radius;
};

static float first[WIDE][GIVEN], second[WIDE][WIDE], third[JOINTS][WIDE];
static float goals[GOALS][GIVEN], poses[GOALS][JOINTS];
static struct sphere spheres[SPHERES];

static float centred(void)
{
	return (float)drand48() - 0.5f;
}

static void propose(void)
{
	DWELL_ZONE("propose");
#pragma omp parallel for schedule(static)
	for (int g = 0; g < GOALS; g++) {
		float one[WIDE], two[WIDE];

		for (int w = 0; w < WIDE; w++) {
			float sum = 0.1f;

			for (int i = 0; i < GIVEN; i++)
				sum += first[w][i] * goals[g][i];
			one[w] = sum > 0 ? sum : 0.2f * sum;
		}
		for (int w = 0; w < WIDE; w++) {
			float sum = 0;

			for (int i = 0; i < WIDE; i++)
				sum += second[w][i] * one[i];
			two[w] = sum > 0 ? sum : 0.2f * sum;
		}
		for (int j = 0; j < JOINTS; j++) {
			float sum = 0;

			for (int i = 0; i < WIDE; i++)
				sum += third[j][i] * two[i];
			poses[g][j] = 3.1f * tanhf(sum);
		}
	}
}

/* Spheres of the links follow the joints, the others are things on the table. */
static void move_links(const float *pose)
{
	for (int s = 0; s < SPHERES / 2; s++) {
		const int joint = s % JOINTS;

		spheres[s].x = 0.2f * (float)joint * cosf(pose[joint]) + 0.001f * (float)s;
		spheres[s].y = 0.2f * (float)joint * sinf(pose[joint]);
	}
}

static double too_near(struct watch *watch)
{
	DWELL_ZONE("clearance");
	double end[2] = {0, 0}, sum = 0;

#pragma omp parallel reduction(+ : sum) num_threads(2)
	{
#pragma omp for schedule(static) nowait
		for (int i = 0; i < SPHERES; i++)
			for (int j = i + 1; j < SPHERES; j++) {
				const float x = spheres[i].x - spheres[j].x, y = spheres[i].y - spheres[j].y,
				            z = spheres[i].z - spheres[j].z;
				const float gap = sqrtf(x * x + y * y + z * z) - spheres[i].radius - spheres[j].radius;

				sum += 1.0 / (1.0 + (double)(gap * gap));
			}
		end[omp_get_thread_num()] = now_s();
	}
	watch->planted_s += fabs(end[1] - end[0]);
	return sum;
}

int main(void)
{
	struct watch watch;
	double nearness = 0;

	srand48(5);
	for (int w = 0; w < WIDE; w++) {
		for (int i = 0; i < GIVEN; i++)
			first[w][i] = 0.4f * centred();
		for (int i = 0; i < WIDE; i++)
			second[w][i] = 0.2f * centred();
		for (int j = 0; j < JOINTS; j++)
			third[j][w] = 0.2f * centred();
	}
	for (int g = 0; g < GOALS; g++)
		for (int i = 0; i < GIVEN; i++)
			goals[g][i] = centred();
	for (int s = 0; s < SPHERES; s++)
		spheres[s] = (struct sphere){ centred(), centred(), centred(), 0.01f };
	omp_set_num_threads(2);
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		propose();
		move_links(poses[watch.steps % GOALS]);
		nearness += too_near(&watch);
		watch.steps++;
	}
	watch_tell(&watch);
	printf("nearness %.2f\n", nearness / watch.steps);
	return 0;
}
