/*
 * The same nested calls for other tools that instrument functions: four per round, to depth three.
 * bench/run builds it with and without -pg. Prints nanoseconds of CPU time per call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned sink;

__attribute__((noinline)) static void d(void)
{
	sink++;
}

__attribute__((noinline)) static void c(void)
{
	sink++;
}

__attribute__((noinline)) static void b(void)
{
	c();
	d();
	sink++;
}

__attribute__((noinline)) static void a(void)
{
	b();
	sink++;
}

int main(int count, char **arguments)
{
	long n = count > 1 ? atol(arguments[1]) : 1000000;
	struct timespec start, end;

	a();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	for (long i = 0; i < n; i += 4)
		a();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	printf("%.3f\n", ((double)(end.tv_sec - start.tv_sec) * 1e9 +
	                  (double)(end.tv_nsec - start.tv_nsec)) / (double)n);
	return 0;
}
