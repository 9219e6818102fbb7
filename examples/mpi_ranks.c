/*
 * A training loop of MPI ranks, one of which is slow in a known way: each step loads data, computes forward
 * and backward, and reduces the gradients. doc/how/ranks.md shows what `dwell ranks` says of it.
 *
 *     dwell run -o job.dwell -- mpirun -n 4 ./mpi_ranks 60 data 2 4
 *     dwell ranks job.dwell
 *
 * usage: mpi_ranks STEPS [data|compute|collector|once|stop RANK MS]
 *
 *   data, compute, collector   this part of the rank's steps takes MS longer
 *   once                       only step 20 does, in data
 *   stop                       the rank sleeps for MS before step 20 and enters no collective until then
 *
 * At the end each rank prints what it planted: "planted RANK NS", the sum of the sleeps by its own clock.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dwell/probe.h>

#define WORDS 4096
#define ONCE 20

static uint64_t planted_ns;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_ms(double ms, uint64_t *sum)
{
	uint64_t before = now_ns();
	struct timespec time = { (time_t)(ms / 1000), (long)((ms - 1000 * (double)(time_t)(ms / 1000)) * 1e6) };

	nanosleep(&time, NULL);
	if (sum)
		*sum += now_ns() - before;
}

struct plan {
	const char *what;
	int rank;
	double ms;
};

static void plant(const struct plan *plan, const char *where, int rank, int step)
{
	bool here = strcmp(plan->what, where) == 0 ||
	            (strcmp(plan->what, "once") == 0 && strcmp(where, "data") == 0 && step == ONCE);

	if (here && rank == plan->rank)
		sleep_ms(plan->ms, &planted_ns);
}

static void train(const struct plan *plan, int rank, int step, MPI_Comm pair)
{
	static float gradients[WORDS], sums[WORDS], loss, losses;
	MPI_Request request;

	DWELL_STEP();
	{
		DWELL_SCOPE(DWELL_CATEGORY_DATA, "load");
		sleep_ms(1, NULL);
		plant(plan, "data", rank, step);
	}
	{
		DWELL_ZONE("forward");
		sleep_ms(2, NULL);
		plant(plan, "compute", rank, step);
	}
	MPI_Iallreduce(&loss, &losses, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
	{
		DWELL_ZONE("backward");
		sleep_ms(3, NULL);
	}
	{
		DWELL_SCOPE(DWELL_CATEGORY_COLLECTOR, "collection");
		sleep_ms(.2, NULL);
		plant(plan, "collector", rank, step);
	}
	MPI_Allreduce(gradients, sums, WORDS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Bcast(gradients, 16, MPI_FLOAT, 0, pair);
}

int main(int count, char **arguments)
{
	struct plan plan = { count > 2 ? arguments[2] : "", count > 3 ? atoi(arguments[3]) : -1,
		                 count > 4 ? atof(arguments[4]) : 0 };
	int rank, steps = count > 1 ? atoi(arguments[1]) : 40;
	MPI_Comm pair;

	MPI_Init(&count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &pair);
	for (int step = 0; step < steps; step++) {
		if (step == ONCE)
			plant(&plan, "stop", rank, step);
		train(&plan, rank, step, pair);
	}
	if (rank == 0)
		MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	else if (rank == 1)
		MPI_Recv(&(int){ 0 }, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Comm_free(&pair);
	MPI_Finalize();
	printf("planted %d %llu\n", rank, (unsigned long long)planted_ns);
	return 0;
}
