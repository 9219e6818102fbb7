/*
 * libdwell-mpi: records the communication of programs with MPI. `dwell run` preloads it.
 *
 * Its functions have the names of MPI's, and call MPI's own through their second names, PMPI_*, which MPI
 * has for this purpose. Each call is a range of communication. A collective also gets its group and its
 * number in the group, so that the ranks of a job can be compared (EXT COLLECTIVE in doc/reference/format.md).
 * calls.def has a line for each function but those that wait.
 *
 * The library is not linked to MPI: it is loaded into every process of the program, of which most have
 * no MPI.
 */
#include "groups.h"

#include <limits.h>
#include <string.h>

#define DWM_API __attribute__((visibility("default")))
#define MOST_WAITS 64 /* collectives that one wait may belong to */

static uint64_t mpi_bytes(struct dwm_library *mpi, int64_t count, MPI_Datatype type, int ranks)
{
	return count > 0 && ranks > 0 ? (uint64_t)count * (uint64_t)ranks * dwm_type_bytes(mpi, type) : 0;
}

static uint64_t mpi_bytes_of(struct dwm_library *mpi, const int *counts, MPI_Datatype type, int ranks)
{
	uint64_t sum = 0;

	for (int i = 0; counts && i < ranks; i++)
		sum += counts[i] > 0 ? (uint64_t)counts[i] : 0;
	return sum * dwm_type_bytes(mpi, type);
}

static uint64_t mpi_larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int64_t mpi_larger_count(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool mpi_is_root(struct dwm_library *mpi, int root, MPI_Comm comm)
{
	return dwm_rank(mpi, comm) == root;
}

/* The bodies are equal but for what they note. Calls of a library that is not recorded are passed on. `suffix`: of the
 * function's name, which its range does not have; `refused`: its arguments do not fit into the library's function. */
#define MPI_CALL_AS(name, suffix, parameters, arguments, refused, note)                                   \
	DWM_API int MPI_##name##suffix parameters                                                             \
	{                                                                                                     \
		static struct dwell_site site = { "MPI_" #name, NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 }; \
		struct dwm_library *mpi = dwm_library_of(__builtin_return_address(0));                            \
		int(*real) parameters = (int(*) parameters)dwm_function(mpi, DWM_##name##suffix);                 \
		int result;                                                                                       \
		if (refused)                                                                                      \
			return DWM_ERR_COUNT;                                                                         \
		if (!mpi->recorded)                                                                               \
			return real arguments;                                                                        \
		unsigned began = dwell_begin(&site);                                                              \
		note;                                                                                             \
		dwell_end(began);                                                                                 \
		return result;                                                                                    \
	}
#define MPI_CALL(name, parameters, arguments, note) MPI_CALL_AS(name, , parameters, arguments, false, note)

#define NOTE_COLLECTIVE(arguments, size)                                                              \
	{                                                                                                 \
		struct dwm_collective collective = dwm_count(mpi, dwm_handle(mpi, comm));                     \
		if (began)                                                                                    \
			dwell_collective(collective.group, collective.sequence, size);                            \
		result = real arguments;                                                                      \
	}

#define NOTE_STARTED(arguments, size)                                                                 \
	{                                                                                                 \
		struct dwm_collective collective = dwm_count(mpi, dwm_handle(mpi, comm));                     \
		if (began)                                                                                    \
			dwell_collective(collective.group, collective.sequence, collective.bytes = (size));       \
		result = real arguments;                                                                      \
		if (result == DWM_SUCCESS && collective.sequence)                                             \
			dwm_request_add(dwm_handle_at(mpi, request, 0), collective);                              \
	}

#define NOTE_POINT(arguments, size)                                                                   \
	{                                                                                                 \
		if (began)                                                                                    \
			dwell_collective(dwm_group(mpi, dwm_handle(mpi, comm)), 0, size);                         \
		result = real arguments;                                                                      \
	}

/* Messages are counted whether they are recorded or not, as both ranks do. */
#define NOTE_MESSAGE(arguments, size, direction, peer)                                                     \
	{                                                                                                      \
		struct dwm_collective message = dwm_count_message(mpi, dwm_handle(mpi, comm), direction, peer);    \
		if (began)                                                                                         \
			dwell_collective(message.group, message.sequence, size);                                       \
		result = real arguments;                                                                           \
	}

#define NOTE_POSTED(arguments, size, direction)                                                            \
	{                                                                                                      \
		struct dwm_collective message = dwm_count_message(mpi, dwm_handle(mpi, comm), direction, peer);    \
		if (began)                                                                                         \
			dwell_collective(message.group, message.sequence, message.bytes = (size));                     \
		result = real arguments;                                                                           \
		if (result == DWM_SUCCESS && message.sequence)                                                     \
			dwm_request_add(dwm_handle_at(mpi, request, 0), message);                                      \
	}

#define NOTE_EXCHANGE(arguments, size)                                                                     \
	{                                                                                                      \
		struct dwm_collective sent = dwm_count_message(mpi, dwm_handle(mpi, comm), DWM_SENT, to);          \
		struct dwm_collective received = dwm_count_message(mpi, dwm_handle(mpi, comm), DWM_RECEIVED, from); \
		if (began) {                                                                                       \
			uint64_t bytes = size;                                                                         \
			dwell_collective(sent.group, sent.sequence, bytes);                                            \
			dwell_collective(received.group, received.sequence, bytes);                                    \
		}                                                                                                  \
		result = real arguments;                                                                           \
	}

#define COUNT int
#define COLLECTIVE(name, parameters, arguments, size, largest) \
	MPI_CALL(name, parameters, arguments, NOTE_COLLECTIVE(arguments, size))
#define STARTED(name, parameters, arguments, size, largest) \
	MPI_CALL(name, parameters, arguments, NOTE_STARTED(arguments, size))
#define POINT(name, parameters, arguments, size, largest) \
	MPI_CALL(name, parameters, arguments, NOTE_POINT(arguments, size))
#define SENT(name, parameters, arguments, size, largest) \
	MPI_CALL(name, parameters, arguments, NOTE_MESSAGE(arguments, size, DWM_SENT, peer))
#define RECEIVED(name, parameters, arguments, size, largest) \
	MPI_CALL(name, parameters, arguments, NOTE_MESSAGE(arguments, size, DWM_RECEIVED, peer))
#define EXCHANGED(name, parameters, arguments, size, largest) \
	MPI_CALL(name, parameters, arguments, NOTE_EXCHANGE(arguments, size))
#define TO_SEND(name, parameters, arguments, size, largest) \
	MPI_CALL(name, parameters, arguments, NOTE_POSTED(arguments, size, DWM_SENT))
#define TO_RECEIVE(name, parameters, arguments, size, largest) \
	MPI_CALL(name, parameters, arguments, NOTE_POSTED(arguments, size, DWM_RECEIVED))
#include "calls.def"

#define LARGE_COUNTS
#define COUNT int64_t
#define IS_TOO_LARGE(largest) (mpi->lacks_large_counts && (largest) > INT_MAX)
#define COLLECTIVE(name, parameters, arguments, size, largest) \
	MPI_CALL_AS(name, _c, parameters, arguments, IS_TOO_LARGE(largest), NOTE_COLLECTIVE(arguments, size))
#define STARTED(name, parameters, arguments, size, largest) \
	MPI_CALL_AS(name, _c, parameters, arguments, IS_TOO_LARGE(largest), NOTE_STARTED(arguments, size))
#define POINT(name, parameters, arguments, size, largest) \
	MPI_CALL_AS(name, _c, parameters, arguments, IS_TOO_LARGE(largest), NOTE_POINT(arguments, size))
#define SENT(name, parameters, arguments, size, largest) \
	MPI_CALL_AS(name, _c, parameters, arguments, IS_TOO_LARGE(largest), NOTE_MESSAGE(arguments, size, DWM_SENT, peer))
#define RECEIVED(name, parameters, arguments, size, largest) \
	MPI_CALL_AS(name, _c, parameters, arguments, IS_TOO_LARGE(largest), NOTE_MESSAGE(arguments, size, DWM_RECEIVED, peer))
#define EXCHANGED(name, parameters, arguments, size, largest) \
	MPI_CALL_AS(name, _c, parameters, arguments, IS_TOO_LARGE(largest), NOTE_EXCHANGE(arguments, size))
#define TO_SEND(name, parameters, arguments, size, largest) \
	MPI_CALL_AS(name, _c, parameters, arguments, IS_TOO_LARGE(largest), NOTE_POSTED(arguments, size, DWM_SENT))
#define TO_RECEIVE(name, parameters, arguments, size, largest) \
	MPI_CALL_AS(name, _c, parameters, arguments, IS_TOO_LARGE(largest), NOTE_POSTED(arguments, size, DWM_RECEIVED))
#include "calls.def"

/* ---- waits ------------------------------------------------------------------------------------- */

static void mpi_note_wait(unsigned began, uintptr_t request)
{
	struct dwm_collective collective = dwm_request_take(request);

	if (began && collective.sequence)
		dwell_collective(collective.group, collective.sequence, collective.bytes);
}

MPI_CALL(Wait, (MPI_Request *request, MPI_Status *status), (request, status), {
	mpi_note_wait(began, dwm_handle_at(mpi, request, 0));
	result = real(request, status);
})

MPI_CALL(Waitall, (int count, MPI_Request *requests, MPI_Status *statuses), (count, requests, statuses), {
	for (int i = 0; i < count && i < MOST_WAITS; i++)
		mpi_note_wait(began, dwm_handle_at(mpi, requests, i));
	result = real(count, requests, statuses);
})

/* Which of the requests ends is known only afterwards, and the request itself is gone then. */
MPI_CALL(Waitany, (int count, MPI_Request *requests, int *index, MPI_Status *status),
         (count, requests, index, status), {
	uintptr_t before[MOST_WAITS];
	int kept = count < MOST_WAITS ? count : MOST_WAITS;

	for (int i = 0; i < kept; i++)
		before[i] = dwm_handle_at(mpi, requests, i);
	result = real(count, requests, index, status);
	if (result == DWM_SUCCESS && *index >= 0 && *index < kept)
		mpi_note_wait(began, before[*index]);
})

/* A test that succeeds is the end of the collective; one that fails is nothing to report. */
DWM_API int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
	static struct dwell_site site = { "MPI_Test", NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 };
	struct dwm_library *mpi = dwm_library_of(__builtin_return_address(0));
	int (*real)(MPI_Request *, int *, MPI_Status *) =
		(int (*)(MPI_Request *, int *, MPI_Status *))dwm_function(mpi, DWM_Test);
	uintptr_t before = mpi->recorded ? dwm_handle_at(mpi, request, 0) : 0;
	int result = real(request, done, status);

	if (!mpi->recorded || result != DWM_SUCCESS || !*done)
		return result;
	unsigned began = dwell_begin(&site);
	mpi_note_wait(began, before);
	dwell_end(began);
	return result;
}

/* ---- begin and end ----------------------------------------------------------------------------- */

MPI_CALL(Init, (int *count, char ***arguments), (count, arguments), {
	result = real(count, arguments);
	if (result == DWM_SUCCESS)
		dwm_report_rank(mpi);
})

MPI_CALL(Init_thread, (int *count, char ***arguments, int required, int *provided),
         (count, arguments, required, provided), {
	result = real(count, arguments, required, provided);
	if (result == DWM_SUCCESS)
		dwm_report_rank(mpi);
})

MPI_CALL(Finalize, (void), (), { result = real(); })

MPI_CALL(Comm_free, (void *comm), (comm), {
	dwm_forget(dwm_handle_at(mpi, comm, 0));
	result = real(comm);
})
