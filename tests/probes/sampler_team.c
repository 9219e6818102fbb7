/* A team of two of which one needs three times the CPU time of the other. Prints for how long the first one waits. */
#include <omp.h>
#include <stdio.h>
#include <time.h>

static volatile double sink;

static double cpu_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static __attribute__((noinline)) void burn(double s)
{
	for (double end = cpu_s() + s; cpu_s() < end;)
		for (int i = 0; i < 2000; i++)
			sink += i;
}

int main(void)
{
	double all = cpu_s();

	for (int i = 0; i < 12; i++) {
#pragma omp parallel num_threads(2)
		burn(omp_get_thread_num() ? 0.1213 : 0.0407); /* the team waits here; long compared with the 4 ms of a tick */
	}
	printf("%.3f\n", cpu_s() - all - 12 * 0.0407);
	return 0;
}
