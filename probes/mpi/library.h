/*
 * The MPI libraries of this process, found at run time: which one a caller uses, its binary interface, and its
 * functions.
 *
 * A process may hold two of them, such as Python with two extension modules that are linked to different ones. Each
 * caller gets the functions of its own. Only the library that is called first is recorded.
 */
#pragma once

#include <stddef.h>

#include <dwell/probe.h>

#include "format/mpi_abi.h"

#define DWM_SUCCESS 0
#define DWM_ERR_COUNT 2
#define DWM_ERR_OTHER 16 /* no success, in each of the libraries */

/* Handles: see mpi_abi.h. A request is used through a pointer, and is never read as a C object. */
typedef uintptr_t MPI_Comm, MPI_Datatype, MPI_Op, MPI_Group;
typedef struct dwm_request MPI_Request;
typedef struct dwm_status MPI_Status;

/* The functions by number: those that are recorded, and those that the probe calls itself. */
enum dwm_call {
#define DWM_ENUM(name, parameters, arguments, size, largest) DWM_##name,
#define COLLECTIVE DWM_ENUM
#define STARTED DWM_ENUM
#define POINT DWM_ENUM
#define SENT DWM_ENUM
#define RECEIVED DWM_ENUM
#define EXCHANGED DWM_ENUM
#define TO_SEND DWM_ENUM
#define TO_RECEIVE DWM_ENUM
#include "calls.def"
#undef DWM_ENUM
#define DWM_ENUM(name, parameters, arguments, size, largest) DWM_##name##_c,
#define COLLECTIVE DWM_ENUM
#define STARTED DWM_ENUM
#define POINT DWM_ENUM
#define SENT DWM_ENUM
#define RECEIVED DWM_ENUM
#define EXCHANGED DWM_ENUM
#define TO_SEND DWM_ENUM
#define TO_RECEIVE DWM_ENUM
#define LARGE_COUNTS
#include "calls.def"
#undef DWM_ENUM
	DWM_Wait,
	DWM_Waitall,
	DWM_Waitany,
	DWM_Test,
	DWM_Init,
	DWM_Init_thread,
	DWM_Initialized,
	DWM_Finalize,
	DWM_Comm_free,
	DWM_Comm_size,
	DWM_Comm_rank,
	DWM_Comm_group,
	DWM_Type_size,
	DWM_Group_translate_ranks,
	DWM_Group_free,
	DWM_CALLS
};

struct dwm_library {
	void *handle;
	const char *path;
	enum dw_mpi_abi abi;
	bool recorded;
	bool lacks_large_counts; /* it is older than MPI 4: functions with int counts are called in place of MPI_NAME_c */
	uintptr_t world;            /* MPI_COMM_WORLD */
	void *functions[DWM_CALLS]; /* atomic; NULL: not looked up yet */
};

/* The library that code at this address calls. If there is none, one whose functions all fail. */
struct dwm_library *dwm_library_of(const void *caller);
/* Looks up the library's own function, PMPI_NAME. If there is none, says so and returns one that fails with DWM_ERR_OTHER. */
void *dwm_find(struct dwm_library *library, enum dwm_call call);

static inline void *dwm_function(struct dwm_library *library, enum dwm_call call)
{
	/* Acquire: pairs with the release in dwm_find(). */
	void *function = __atomic_load_n(&library->functions[call], __ATOMIC_ACQUIRE);

	return DWELL_UNLIKELY(!function) ? dwm_find(library, call) : function;
}

/* A handle that was passed in a register, as a number that can be compared. */
static inline uintptr_t dwm_handle(const struct dwm_library *library, uintptr_t handle)
{
	return library->abi == DW_MPI_MPICH ? (uint32_t)handle : handle;
}

/* Bytes of a handle in memory. */
static inline size_t dwm_handle_bytes(const struct dwm_library *library)
{
	return library->abi == DW_MPI_MPICH ? sizeof(uint32_t) : sizeof(uintptr_t);
}

/* The handle number `at` of an array of handles. */
static inline uintptr_t dwm_handle_at(const struct dwm_library *library, const void *handles, int at)
{
	uintptr_t handle = 0; /* the machines that dwell supports store the low bytes first */

	memcpy(&handle, (const char *)handles + (size_t)at * dwm_handle_bytes(library), dwm_handle_bytes(library));
	return handle;
}
