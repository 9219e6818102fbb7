/*
 * An MPI library, for verbs that run as a job of their own under a launcher.
 *
 * It is that of the launcher which started the processes: DWELL_MPI names its file, or it is looked for under the usual names,
 * and opened when it is needed. dwell is built without MPI's headers; src/recorder/format/mpi_abi.h has what is taken from
 * them elsewhere.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A handle has at most the size of a uintptr_t: *request is one. */
extern struct dw_mpi {
	uintptr_t world, byte; /* MPI_COMM_WORLD, MPI_BYTE */
	int (*init)(int *count, char ***arguments);
	int (*rank)(uintptr_t comm, int *rank);
	int (*size)(uintptr_t comm, int *size);
	int (*send)(const void *data, int count, uintptr_t type, int to, int tag, uintptr_t comm);
	int (*receive)(void *data, int count, uintptr_t type, int from, int tag, uintptr_t comm, void *status);
	int (*start_send)(const void *data, int count, uintptr_t type, int to, int tag, uintptr_t comm, uintptr_t *request);
	int (*start_receive)(void *data, int count, uintptr_t type, int from, int tag, uintptr_t comm, uintptr_t *request);
	int (*test)(uintptr_t *request, int *done, void *status);
	int (*broadcast)(void *data, int count, uintptr_t type, int root, uintptr_t comm);
	int (*abort)(uintptr_t comm, int status);
	int (*finalize)(void);
} dw_mpi;

/* Opens the library and starts MPI. Returns 0, or an exit status after a message. */
int dw_mpi_start(int *process, int *processes);
