/*
 * What recording the kernel's account of a thread costs. Facts about waits, faults and processor
 * time are made from it. A thread with steps reads it at most every 10 ms, so the cost of a reading
 * divided by 10 ms is the largest share of a step, however long the steps are.
 *
 *     bench_facts_cost FILE [TURNS]
 *
 * Each turn works on 1 MB of memory for 10.5 ms and begins a step, at which a reading is due. Then
 * it works for 5 ms and begins a step without a reading. The difference of the two medians is the
 * cost. It is the thread's CPU time: other programs may need the processor too.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dwell/dwell.h"
#include "dwell/probe.h"

#define PERIOD_NS 10000000.0 /* between two readings of a young run */
#define MAX_TURNS 1000

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

int main(int count, char **arguments)
{
	static double due[MAX_TURNS], others[MAX_TURNS];
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error;
	int turns = count > 2 ? atoi(arguments[2]) : 200;
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
		work(10500000);
		due[i] = step_ns();
		work(5000000);
		others[i] = step_ns();
	}
	dwell_stop(NULL);
	qsort(due, (size_t)turns, sizeof *due, compare);
	qsort(others, (size_t)turns, sizeof *others, compare);
	cost_ns = due[turns / 2] - others[turns / 2];
	printf("a step with a reading %.0f ns, without %.0f ns (medians of %d)\n", due[turns / 2],
	       others[turns / 2], turns);
	printf("a reading %.0f ns: at most %.3f%% of a step\n", cost_ns, cost_ns / PERIOD_NS * 100);
	return 0;
}
