/*
 * Stands for an MPI library of another kind than those that are installed: with the standard binary interface of MPI 5,
 * with MPICH's handles, or with a name that nobody knows. It has just the functions that mpi_program.c and dwell's
 * probe call. Ranks do not communicate.
 *
 *   -DHANDLE=TYPE       type of a handle: int, void *
 *   -DVERSION=TEXT      what MPI_Get_library_version() says
 *   -DLARGE_COUNTS      it has functions with large counts, of MPI 4
 *
 * RANK and WORLD_SIZE are variables of the environment. Each function also has its second name, PMPI_*.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef HANDLE handle;

#define ALIAS(name) __attribute__((alias("MPI_" #name)))
#define MPI(name, ...) int MPI_##name(__VA_ARGS__); int PMPI_##name(__VA_ARGS__) ALIAS(name); int MPI_##name(__VA_ARGS__)

static int number(const char *variable, int otherwise)
{
	const char *text = getenv(variable);

	return text ? atoi(text) : otherwise;
}

static int initialized, calls;

/* How many collectives came here. */
int stand_in_calls(void);
int stand_in_calls(void)
{
	return calls;
}

MPI(Get_library_version, char *text, int *length)
{
	memcpy(text, VERSION, sizeof VERSION);
	*length = (int)sizeof VERSION - 1;
	return 0;
}

MPI(Init, int *count, char ***arguments)
{
	(void)count, (void)arguments;
	initialized = 1;
	return 0;
}

MPI(Initialized, int *flag)
{
	*flag = initialized;
	return 0;
}

MPI(Finalize, void)
{
	return 0;
}

MPI(Comm_size, handle comm, int *size)
{
	(void)comm;
	*size = number("WORLD_SIZE", 1);
	return 0;
}

MPI(Comm_rank, handle comm, int *rank)
{
	(void)comm;
	*rank = number("RANK", 0);
	return 0;
}

MPI(Comm_dup, handle comm, handle *made)
{
	(void)comm;
	*made = (handle)(intptr_t)0x54000001;
	return 0;
}

MPI(Comm_free, handle *comm)
{
	*comm = (handle)0;
	return 0;
}

MPI(Comm_group, handle comm, handle *group)
{
	(void)comm;
	*group = (handle)(intptr_t)7;
	return 0;
}

MPI(Group_free, handle *group)
{
	*group = (handle)0;
	return 0;
}

MPI(Group_translate_ranks, handle from, int count, const int *ranks, handle to, int *result)
{
	if (from != to)
		return 1;
	memcpy(result, ranks, (size_t)count * sizeof *ranks);
	return 0;
}

MPI(Type_size, handle type, int *bytes)
{
	*bytes = (int)(intptr_t)type & 15;
	return 0;
}

MPI(Barrier, handle comm)
{
	(void)comm;
	calls++;
	return 0;
}

MPI(Allreduce, const void *send, void *receive, int count, handle type, handle op, handle comm)
{
	(void)send, (void)receive, (void)type, (void)op, (void)comm;
	calls++;
	return count == 4 ? 0 : 1;
}

#ifdef LARGE_COUNTS
MPI(Send_c, const void *data, int64_t count, handle type, int peer, int tag, handle comm)
{
	(void)data, (void)count, (void)type, (void)peer, (void)tag, (void)comm;
	return 0;
}

MPI(Allreduce_c, const void *send, void *receive, int64_t count, handle type, handle op, handle comm)
{
	(void)send, (void)receive, (void)count, (void)type, (void)op, (void)comm;
	calls++;
	return 0;
}
#endif

MPI(Ibarrier, handle comm, handle *request)
{
	(void)comm;
	*request = (handle)(intptr_t)(0x1000 + ++calls);
	return 0;
}

MPI(Waitall, int count, handle *requests, void *statuses)
{
	(void)statuses;
	for (int i = 0; i < count; i++)
		requests[i] = (handle)0;
	return 0;
}
