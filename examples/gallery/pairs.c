/*
 * Moves charged particles by the forces between all pairs of them, on two threads of OpenMP.
 *
 * The fault: row i has i pairs, and the default schedule gives the first half of the rows to the first thread.
 * It has a quarter of the pairs, and waits for the other thread. Marks name the step and its parts.
 */
#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>

enum { STEPS = 200, PARTICLES = 2400 };

static float place[PARTICLES][3], speed[PARTICLES][3], charge[PARTICLES];

static void push(int one)
{
	float sum[3] = { 0 };

	for (int other = 0; other < one; other++) {
		float way[3], square = 0.1f;

		for (int axis = 0; axis < 3; axis++) {
			way[axis] = place[one][axis] - place[other][axis];
			square += way[axis] * way[axis];
		}
		for (int axis = 0; axis < 3; axis++)
			sum[axis] += charge[one] * charge[other] * way[axis] / (square * sqrtf(square));
	}
	for (int axis = 0; axis < 3; axis++)
		speed[one][axis] += 1e-4f * sum[axis];
}

static void forces(void)
{
	DWELL_OP("forces");
#pragma omp parallel for num_threads(2)
	for (int one = 0; one < PARTICLES; one++)
		push(one);
}

static void move(void)
{
	DWELL_OP("move");
	for (int one = 0; one < PARTICLES; one++)
		for (int axis = 0; axis < 3; axis++)
			place[one][axis] += 1e-3f * speed[one][axis];
}

int main(void)
{
	srand(1);
	for (int one = 0; one < PARTICLES; one++) {
		charge[one] = rand() % 2 ? 1 : -1;
		for (int axis = 0; axis < 3; axis++)
			place[one][axis] = (float)(rand() % 1000) / 100;
	}
	for (int step = 0; step < STEPS; step++) {
		DWELL_STEP();
		forces();
		move();
	}
	return 0;
}
