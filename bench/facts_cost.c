/*
 * What recording the kernel's account of a thread costs. Facts about waits, faults and processor
 * time are made from it. A thread with steps reads it when a step begins or ends, at most every 10 ms,
 * and less often where a reading is slow.
 *
 *     bench_facts_cost FILE [TURNS]
 *
 * Each turn works on 1 MB of memory for 50 ms and begins a step, at which a reading is due. Then it
 * works for 5 ms and begins a step without a reading. The difference of the two medians is the cost. It
 * is the thread's CPU time: other programs may need the processor too. Then come steps of 1 ms: those
 * that cost more than halfway between the two medians have a reading. What they cost beyond the others,
 * divided by the time, is the share of a step.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "dwell/dwell.h"
#include "dwell/probe.h"

#define MAX_TURNS 1000
#define SHORT_STEPS 3000

static unsigned char memory[1 << 20];

static double clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void work(double ns)
{
	double end_ns = clock_ns(CLOCK_MONOTONIC) + ns;

	while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
		for (size_t i = 0; i < sizeof memory; i += 64)
			((volatile unsigned char *)memory)[i]++;
	}
}

/* The CPU time of a step without work. */
static double step_ns(void)
{
	double start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	{
		DWELL_STEP();
	}
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}
static long page_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* The share of the time, in percent, that readings take in steps of 1 ms. A step that costs more than halfway
 * from `other_ns` to `due_ns` has one, unless it touched a page of the trace for the first time. */
static double share_percent(double due_ns, double other_ns)
{
	double begin_ns = clock_ns(CLOCK_MONOTONIC), sum_ns = 0;

	for (int i = 0; i < SHORT_STEPS; i++) {
		long faults;
		double cost_ns;

		work(1000000);
		faults = page_faults();
		cost_ns = step_ns();
		if (cost_ns > (due_ns + other_ns) / 2 && page_faults() == faults)
			sum_ns += cost_ns - other_ns;
	}
	return sum_ns / (clock_ns(CLOCK_MONOTONIC) - begin_ns) * 100;
}

int main(int count, char **arguments)
{
	static double due[MAX_TURNS], others[MAX_TURNS];
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error;
	int turns = count > 2 ? atoi(arguments[2]) : 60;
	double cost_ns;

	if (count < 2 || turns < 1 || turns > MAX_TURNS) {
		fprintf(stderr, "usage: bench_facts_cost FILE [TURNS, at most %d]\n", MAX_TURNS);
		return 2;
	}
	options.path = arguments[1];
	if (dwell_start(&options, &error) != 0) {
		fprintf(stderr, "bench_facts_cost: %s\n", error.message);
		return 1;
	}
	for (int i = 0; i < turns; i++) {
		work(50000000);
		due[i] = step_ns();
		work(5000000);
		others[i] = step_ns();
	}
	qsort(due, (size_t)turns, sizeof *due, compare);
	qsort(others, (size_t)turns, sizeof *others, compare);
	cost_ns = due[turns / 2] - others[turns / 2];
	printf("a step with a reading %.0f ns, without %.0f ns (medians of %d)\n", due[turns / 2],
	       others[turns / 2], turns);
	printf("a reading %.0f ns: %.3f%% of steps of 1 ms\n", cost_ns,
	       share_percent(due[turns / 2], others[turns / 2]));
	dwell_stop(NULL);
	return 0;
}
