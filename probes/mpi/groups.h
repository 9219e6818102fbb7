/*
 * Groups of ranks: a name for each communicator that all of its ranks agree on, the number of its last
 * collective, and which collective a request belongs to.
 */
#pragma once

#include "library.h"

/* A collective, for dwell_collective(). sequence 0: it is none. */
struct dwm_collective {
	uint32_t group;
	uint64_t sequence, bytes;
};

/* All of these are for the library that is recorded. Communicators and requests are those of dwm_handle(). */

/* Counts a collective of a communicator. All ranks count, whether or not they are recorded. */
struct dwm_collective dwm_count(struct dwm_library *mpi, MPI_Comm comm);
/* The group's id, for communication that is not counted. */
/* Counts a message between this rank and the rank `peer` of the communicator. Its group is that of all messages of these
 * two in this direction. Sequence 0: which message it is, is not known: it may come from any rank, or there is none. */
enum dwm_direction { DWM_SENT, DWM_RECEIVED };
struct dwm_collective dwm_count_message(struct dwm_library *mpi, MPI_Comm comm, enum dwm_direction direction, int peer);
uint32_t dwm_group(struct dwm_library *mpi, MPI_Comm comm);
/* The communicator is about to be freed: another one may get its handle. */
void dwm_forget(MPI_Comm comm);

/* The request waits for this collective. */
void dwm_request_add(uintptr_t request, struct dwm_collective collective);
/* Removes and returns the collective of a request; sequence 0: it has none. */
struct dwm_collective dwm_request_take(uintptr_t request);

/* Tells the recorder which rank this is. After MPI_Init(). */
void dwm_report_rank(struct dwm_library *mpi);

/* Calls of MPI that the probe needs itself. */
int dwm_size(struct dwm_library *mpi, MPI_Comm comm);
int dwm_rank(struct dwm_library *mpi, MPI_Comm comm);
uint64_t dwm_type_bytes(struct dwm_library *mpi, MPI_Datatype type);
