/*
 * Evolves walkers; at the end of some steps it gives others a chance to run.
 *
 * Decoy: a call of usleep() after each twelfth step, but only for 60 microseconds of many milliseconds.
 * Truth: time of sleeping, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <unistd.h>

enum { SECONDS = 5, WALKERS = 64, JOINTS = 24, TICKS = 400 };

static float genes[WALKERS][JOINTS], score[WALKERS];

static void walk(int walker)
{
	float angle[JOINTS] = { 0 }, way = 0;

	for (int tick = 0; tick < TICKS; tick++)
		for (int joint = 0; joint < JOINTS; joint++) {
			angle[joint] += genes[walker][joint] * 0.01f + angle[(joint + 1) % JOINTS] * 0.001f;
			angle[joint] *= 0.99f;
			way += angle[joint] * angle[joint] > 0.5f ? -0.01f : angle[joint];
		}
	score[walker] = way;
}

int main(void)
{
	struct watch watch;

	for (int walker = 0; walker < WALKERS; walker++)
		for (int joint = 0; joint < JOINTS; joint++)
			genes[walker][joint] = (float)((walker * 13 + joint * 7) % 41 - 20) / 20;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("simulate");
			for (int round = 0; round < 8; round++)
				for (int walker = 0; walker < WALKERS; walker++)
					walk(walker);
		}
		{
			DWELL_ZONE("select");
			for (int walker = 1; walker < WALKERS; walker++)
				if (score[walker] < score[walker - 1])
					for (int joint = 0; joint < JOINTS; joint++)
						genes[walker][joint] = 0.9f * genes[walker - 1][joint] + 0.01f * (float)((joint + watch.steps) % 9);
		}
		planted_begin(&watch);
		if (watch.steps % 12 == 0)
			usleep(60);
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
