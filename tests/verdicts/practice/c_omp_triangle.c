/*
 * Energies of all pairs of atoms, with OpenMP.
 *
 * Planted: the schedule is static, but row i has i pairs, so the loop's thread has done its rows long before the other.
 * Truth: time between the end of the first thread's rows and the end of the region, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { SECONDS = 5, ATOMS = 2200 };

static float place[ATOMS][3], force[ATOMS][3], charge[ATOMS];

int main(void)
{
	struct watch watch;

	srand(2);
	for (int atom = 0; atom < ATOMS; atom++) {
		charge[atom] = (float)(rand() % 9 - 4);
		for (int axis = 0; axis < 3; axis++)
			place[atom][axis] = (float)(rand() % 1000) / 10;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		double done = 0;
		{
			DWELL_OP("pair_energy");
			const uint64_t team = DWELL_TEAM();
#pragma omp parallel num_threads(2)
			{
				DWELL_WORKER(team);
#pragma omp for schedule(static) nowait
				for (int i = 0; i < ATOMS; i++) {
					float sum[3] = { 0 };

					for (int k = 0; k < i; k++) {
						float x = place[i][0] - place[k][0], y = place[i][1] - place[k][1], z = place[i][2] - place[k][2];
						float pull = charge[i] * charge[k] / (sqrtf(x * x + y * y + z * z) + 0.5f);

						sum[0] += pull * x;
						sum[1] += pull * y;
						sum[2] += pull * z;
					}
					for (int axis = 0; axis < 3; axis++)
						force[i][axis] = sum[axis];
				}
				if (omp_get_thread_num() == 0)
					done = now_s();
			}
		}
		watch.planted_s += now_s() - done;
		{
			DWELL_OP("move");
			for (int round = 0; round < 40; round++)
				for (int atom = 0; atom < ATOMS; atom++)
					for (int axis = 0; axis < 3; axis++)
						place[atom][axis] += 1e-6f * tanhf(force[atom][axis]);
		}
	}
	watch_tell(&watch);
	return 0;
}
