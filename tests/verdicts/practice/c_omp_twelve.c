/*
 * A cellular automaton that learns its rule, with OpenMP.
 *
 * Planted: someone set twelve threads, whatever the machine has, and there are many small parallel loops.
 * Truth: the time that the loop takes more than a processor's time for it, measured before it with one thread and divided
 * by the number of processors, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <unistd.h>

enum { SECONDS = 5, SIDE = 160, ROUNDS = 24 };

static float cells[2][SIDE][SIDE], rule[3][3];

static void generation(int threads, int from)
{
#pragma omp parallel for num_threads(threads)
	for (int y = 1; y < SIDE - 1; y++)
		for (int x = 1; x < SIDE - 1; x++) {
			float sum = 0;

			for (int i = 0; i < 3; i++)
				for (int k = 0; k < 3; k++)
					sum += rule[i][k] * cells[from][y + i - 1][x + k - 1];
			cells[!from][y][x] = sum / (1 + sum * sum);
		}
}

static void step(int threads)
{
	for (int round = 0; round < ROUNDS; round++)
		generation(threads, round & 1);
	rule[1][1] += 1e-5f * cells[0][SIDE / 2][SIDE / 2];
}

int main(void)
{
	struct watch watch;
	int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
	double usual;

	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			cells[0][y][x] = (float)((x * 7 + y * 3) % 17) / 17;
	for (int i = 0; i < 9; i++)
		((float *)rule)[i] = 0.2f;
	step(1);
	usual = cpu_s();
	for (int at = 0; at < 60; at++)
		step(1);
	usual = (cpu_s() - usual) / 60 / processors;
	step(12);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_PHASE("forward");
			step(12);
		}
		DWELL_PHASE("backward");
		step(12);
	}
	watch_tell_share(&watch, 1 - 2 * usual * watch.steps / watch_seconds(&watch));
	return 0;
}
