/* The clock by which the scripts in C measure themselves. */
#ifndef HELDOUT_CLOCK_H
#define HELDOUT_CLOCK_H

#include <time.h>

static double now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

#endif
