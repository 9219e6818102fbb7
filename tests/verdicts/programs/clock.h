/* The clock by which the programs in C and C++ measure themselves. Include it first. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

struct watch {
	double began, system_began, planted_began, planted_s;
	int steps;
};

static inline double seconds_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline double now_s(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

/* Time in which the calling thread had a processor. */
static inline double cpu_s(void)
{
	return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

/* Time that the kernel worked for the calling thread. */
static inline double system_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec * 1e-6;
}

/* The loop begins. */
static inline void watch_begin(struct watch *watch)
{
	watch->planted_s = watch->planted_began = 0;
	watch->steps = 0;
	watch->system_began = system_s();
	watch->began = now_s();
}

static inline double watch_seconds(const struct watch *watch)
{
	return now_s() - watch->began;
}

/* Around the planted cause; in a program without one, around what comes nearest to a cause. */
static inline void planted_begin(struct watch *watch)
{
	watch->planted_began = now_s();
}

static inline void planted_end(struct watch *watch)
{
	watch->planted_s += now_s() - watch->planted_began;
}

/* At the end of the loop: the truth, with a share of the loop that the program computed itself. */
static inline void watch_tell_share(const struct watch *watch, double share)
{
	double loop_s = watch_seconds(watch);

	printf("TRUTH {\"share\": %.4f, \"system_share\": %.4f, ", share,
	       (system_s() - watch->system_began) / loop_s);
	printf("\"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", loop_s, watch->steps,
	       1e3 * loop_s / watch->steps);
	fflush(stdout);
}

/* At the end of the loop: the truth, with the measured share of the loop. */
static inline void watch_tell(const struct watch *watch)
{
	watch_tell_share(watch, watch->planted_s / watch_seconds(watch));
}
