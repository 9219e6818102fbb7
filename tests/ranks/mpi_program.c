/*
 * Steps of a rank with an MPI library that mpi_stand_in.c stands for. A program, or a library with run().
 *
 *   -DHANDLE=TYPE -DWORLD=NUMBER   the type of handles, and MPI_COMM_WORLD
 *   -DOLD=1                        the library has no large counts
 *   -DSTEPS_OF_DWELL               the steps and a zone "tokenize" are recorded
 *
 * usage: mpi_program STEPS [RANK MS [kill]]: in this rank "tokenize" takes MS longer. A step takes as long in all ranks, as
 * if the others waited, outside any range. `kill`: the program kills itself at the end.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef HANDLE handle;

#ifdef STEPS_OF_DWELL
#include <dwell/probe.h>
#else
#define DWELL_STEP() (void)0
#define DWELL_ZONE(name) (void)0
#endif

int MPI_Init(int *count, char ***arguments);
int MPI_Finalize(void);
int MPI_Comm_rank(handle comm, int *rank);
int MPI_Comm_dup(handle comm, handle *made);
int MPI_Comm_free(handle *comm);
int MPI_Barrier(handle comm);
int MPI_Allreduce(const void *send, void *receive, int count, handle type, handle op, handle comm);
int MPI_Allreduce_c(const void *send, void *receive, int64_t count, handle type, handle op, handle comm)
	__attribute__((weak));
int MPI_Ibarrier(handle comm, handle *request);
int MPI_Waitall(int count, handle *requests, void *statuses);

int run(int steps, int slow, int ms);
int run(int steps, int slow, int ms)
{
	const handle world = (handle)(intptr_t)WORLD;
	handle twin, requests[2];
	double numbers[4] = { 0 };
	int rank;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(world, &rank);
	MPI_Comm_dup(world, &twin);
	for (int i = 0; i < steps; i++) {
		DWELL_STEP();
		{
			DWELL_ZONE("tokenize");
			usleep((unsigned)(2 + (rank == slow ? ms : 0)) * 1000);
		}
		usleep((unsigned)(2 + (rank == slow ? 0 : ms)) * 1000);
		MPI_Allreduce(numbers, numbers, 4, (handle)(intptr_t)8, (handle)0, world);
		/* As mpi4py does: if there is no such function, the other one is called. */
		if (MPI_Allreduce_c && MPI_Allreduce_c(numbers, numbers, 4, (handle)(intptr_t)8, (handle)0, twin))
			abort();
		if (MPI_Allreduce_c && OLD && MPI_Allreduce_c(numbers, numbers, (int64_t)1 << 32, (handle)(intptr_t)8, (handle)0, twin) != 2)
			abort();
		MPI_Barrier(twin);
		MPI_Ibarrier(world, &requests[0]);
		MPI_Ibarrier(twin, &requests[1]);
		MPI_Waitall(2, requests, NULL);
	}
	MPI_Comm_free(&twin);
	return 0;
}

int main(int argc, char **argv)
{
	run(atoi(argv[1]), argc > 3 ? atoi(argv[2]) : -1, argc > 3 ? atoi(argv[3]) : 0);
	if (argc > 4 && strcmp(argv[4], "kill") == 0)
		raise(SIGKILL);
	MPI_Finalize();
	return 0;
}
