/*
 * The same ranges as LTTng-UST tracepoints. bench/run builds it and starts the session daemon.
 * Prints nanoseconds of CPU time per range.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "peer_lttng.h"

#define BEGIN(id) lttng_ust_tracepoint(dwell_bench, begin, id)
#define END() lttng_ust_tracepoint(dwell_bench, end)

int main(int count, char **arguments)
{
	long n = count > 1 ? atol(arguments[1]) : 1000000;
	struct timespec start, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	for (long i = 0; i < n; i += 4) {
		BEGIN(1);
		BEGIN(2);
		BEGIN(3);
		END();
		BEGIN(4);
		END();
		END();
		END();
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	printf("%.3f\n", ((double)(end.tv_sec - start.tv_sec) * 1e9 +
	                  (double)(end.tv_nsec - start.tv_nsec)) / (double)n);
	return 0;
}
