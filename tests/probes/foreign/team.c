/* A team of two threads of OpenMP, whose parts are unequal. With clang the runtime asks ITT's collector for stacks. */
#include <omp.h>
#include <stdio.h>

static double team_work(int count)
{
	double sum = 0;

	for (int i = 1; i < count; i++)
		sum += 1.0 / i;
	return sum;
}

int main(void)
{
	double sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	for (int round = 0; round < 100; round++) {
		sum += team_work(omp_get_thread_num() ? 1500000 : 500000);
#pragma omp barrier
	}
	printf("%.3f\n", sum);
	return 0;
}
