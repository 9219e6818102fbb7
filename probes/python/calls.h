/*
 * What has begun in a thread since we watch its functions, for functions.c (the
 * interpreter's profile function) and frames.c (its frame evaluation function).
 *
 * Calls begun earlier end unseen. Other ranges may begin in a function and outlive it (a
 * context manager's __enter__): when any record came between two of ours, the functions that
 * were open then end by name. A call that frames.c entered is left by it alone, so that one
 * may go on where the other has stopped. Under the interpreter's lock, but for the thread's
 * own.
 */
#ifndef DWP_PYTHON_CALLS_H
#define DWP_PYTHON_CALLS_H

#include "python.h"

#include <stdint.h>

#include "../thread_memory.h"

#define DWP_MOST_CALLS 8192u

/* With an id, which has 28 bits. */
#define DWP_CALL_BY_FRAME (1u << 31)  /* of a call: frames.c leaves it */
#define DWP_CODE_RESUMED (1u << 30)   /* of a code object: its first call makes a generator */
#define DWP_CODE_SUBSCRIPT (1u << 29) /* of a code object: a __getitem__ */
#define DWP_ID_BITS 0x0fffffffu

struct dwp_calls {
	struct dwp_thread_memory memory;
	uint32_t depth;
	uint32_t mixed;         /* from this depth on nothing but functions is open */
	const char *cursor;     /* of the stream after our last record */
	const void *entered;    /* the code object that frames.c entered last */
	uintptr_t stack_begin;  /* the machine's stack of this thread; 0: not known */
	uintptr_t stack_scarce; /* a frame that lies less than this beyond has too little left */
	uint32_t ids[DWP_MOST_CALLS]; /* 0: not recorded */
};

extern __thread struct dwp_calls *dwp_calls __attribute__((tls_model("initial-exec")));

/* Those of the calling thread, which has none yet; NULL: there is no memory. */
struct dwp_calls *dwp_calls_create(void);

/* ---- code objects ------------------------------------------------------------------------ */

/* A code object's extra field: gone with it. */
struct dwp_known_code {
	PyObject *code;
	uint32_t id; /* 0: not to be recorded */
};

/* The last ones by address, so that a call asks Python for the code object alone. */
#define DWP_RECENT_CODES 4096u
extern struct dwp_known_code dwp_recent_codes[DWP_RECENT_CODES];

static inline struct dwp_known_code *dwp_place_of_code(const void *code)
{
	return &dwp_recent_codes[((uintptr_t)code >> 4) * 0x9e3779b1u >> 16 & (DWP_RECENT_CODES - 1)];
}

/* Keeps the exception that may be set. */
uint32_t dwp_find_code(PyObject *code);

static inline uint32_t dwp_code_id(PyObject *code)
{
	const struct dwp_known_code *known = dwp_place_of_code(code);

	return DWELL_LIKELY(known->code == code) ? known->id : dwp_find_code(code);
}

/* ---- begin and end ----------------------------------------------------------------------- */

static inline void dwp_calls_enter(struct dwp_calls *calls, uint32_t id, uint32_t by)
{
	uint32_t at = calls->depth++;

	if (DWELL_UNLIKELY(at >= DWP_MOST_CALLS))
		return;
	calls->ids[at] = id | by;
	if (!id)
		return;
	if (DWELL_UNLIKELY(dwell_this_stream->cursor != calls->cursor))
		calls->mixed = at;
	dwell_put_begin(id);
	calls->cursor = dwell_this_stream->cursor;
}

/* The innermost one. */
static inline void dwp_calls_leave(struct dwp_calls *calls)
{
	uint32_t at = --calls->depth, id;

	if (DWELL_UNLIKELY(at >= DWP_MOST_CALLS))
		return;
	if (DWELL_UNLIKELY(dwell_this_stream->cursor != calls->cursor))
		calls->mixed = at + 1;
	id = calls->ids[at] & DWP_ID_BITS;
	if (id && DWELL_UNLIKELY(at < calls->mixed))
		dwell_end_named(id);
	else if (id)
		dwell_put_end();
	if (calls->mixed > at)
		calls->mixed = at;
	calls->cursor = dwell_this_stream->cursor;
}

/* ---- frames, and the way from them to the profile function ---------------------------------- */

/* Records Python's functions by the interpreter's frame evaluation function from now on;
 * NULL, or why that is not to be had here. */
const char *dwp_frames_begin(void);
/* No longer: what is open is still left, nothing more is entered. */
void dwp_frames_end(void);

/* Goes on with the profile function, in all threads and for good; keeps the exception. */
void dwp_functions_by_profile(const char *why);
/* Whether the calling thread has a profile function, ours or another's. */
bool dwp_functions_profiled(void);

#endif
