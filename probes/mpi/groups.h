/*
 * Groups of ranks: a name for each communicator that all of its ranks agree on, the number of its last
 * collective, and which collective a request belongs to.
 *
 * MPI's calls are found at run time, so that this library can be loaded into programs without MPI.
 */
#ifndef DWM_GROUPS_H
#define DWM_GROUPS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include <dwell/probe.h>

/* A collective, for dwell_collective(). sequence 0: it is none. */
struct dwm_collective {
	uint32_t group;
	uint64_t sequence, bytes;
};

/* The call of MPI with this name, "PMPI_Send". `caller`: an address in what called it, in whose libraries
 * it is looked for if the program itself does not have it. Ends the program with a message if there is
 * none. */
void *dwm_find(const char *name, const void *caller);

/* Counts a collective of a communicator. All ranks count, whether or not they are recorded. */
struct dwm_collective dwm_count(MPI_Comm comm);
/* The group's id, for communication that is not counted. */
uint32_t dwm_group(MPI_Comm comm);
/* The communicator is about to be freed: another one may get its handle. */
void dwm_forget(MPI_Comm comm);

/* The request waits for this collective. */
void dwm_request_add(MPI_Request request, struct dwm_collective collective);
/* Removes and returns the collective of a request; sequence 0: it has none. */
struct dwm_collective dwm_request_take(MPI_Request request);

/* Tells the recorder which rank this is. After MPI_Init(). */
void dwm_report_rank(void);

/* Calls of MPI that the probe needs itself. */
int dwm_size(MPI_Comm comm);
int dwm_rank(MPI_Comm comm);
uint64_t dwm_type_bytes(MPI_Datatype type);

#endif
