/*
 * Smooths maps in C, into memory that each step maps anew.
 *
 * Planted: each step maps 24 MB, touches all of its pages, and unmaps them.
 * Truth: time of mapping, touching for the first time and unmapping, as a share of the loop.
 */
#define _DEFAULT_SOURCE
#include "clock.h"

#include <dwell/probe.h>

#include <stdio.h>
#include <sys/mman.h>

enum { SECONDS = 3, SIDE = 2400, PAGE = 1024, PASSES = 3 };

static float map[SIDE * SIDE];

static void smooth(float *out)
{
	DWELL_OP("smooth");
	for (int pass = 0; pass < PASSES; pass++)
		for (int at = SIDE; at < SIDE * (SIDE - 1); at++)
			out[at] =
				0.2f * (map[at] + map[at - 1] + map[at + 1] + map[at - SIDE] + map[at + SIDE]) +
				0.01f * out[at] / (1 + out[at] * out[at]);
}

static void adopt(const float *out)
{
	DWELL_OP("adopt");
	for (int at = 0; at < SIDE * SIDE; at++)
		map[at] = 0.9f * map[at] + 0.1f * out[at];
}

int main(void)
{
	double began, loop_s, mapping_s = 0;
	int steps = 0;

	for (int at = 0; at < SIDE * SIDE; at++)
		map[at] = (float)(at % 97) / 97;
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;
		float *out;

		DWELL_STEP();
		before = now_s();
		{
			DWELL_OP("new map");
			out =
				mmap(NULL, sizeof(map), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (out == MAP_FAILED)
				return 1;
			for (int at = 0; at < SIDE * SIDE; at += PAGE)
				out[at] = 0;
		}
		mapping_s += now_s() - before;
		smooth(out);
		adopt(out);
		before = now_s();
		munmap(out, sizeof(map));
		mapping_s += now_s() - before;
	}
	loop_s = now_s() - began;
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
	       mapping_s / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
