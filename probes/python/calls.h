/*
 * The open function calls of a thread, and the ids of code objects. Used by functions.c (the
 * interpreter's profile function) and frames.c (its frame evaluation function).
 *
 * Only calls that began after the recording of functions are known; ends of earlier calls are
 * ignored. A range of another kind may begin in a function and outlive it (a context manager's
 * __enter__). Therefore, if another record was written between two records of functions, the
 * functions that were open then end by name (dwell_end_named()) and not as the innermost range. A
 * call that frames.c entered is left only by frames.c, so that functions.c can take over while
 * calls are open. All of this needs the interpreter's lock, except the thread's own struct.
 */
#pragma once

#include "python.h"

#include <stdint.h>

#include "../thread_memory.h"

#define DWP_MOST_CALLS 8192u

/* Flags in the same word as an id, which has 28 bits. */
#define DWP_CALL_BY_FRAME (1u << 31)  /* of a call: entered by frames.c, which also leaves it */
#define DWP_CALL_IN_C (1u << 30)      /* of a call: of a function written in C */
#define DWP_CODE_RESUMED (1u << 30)   /* of a code object: its first call creates a generator */
#define DWP_CODE_SUBSCRIPT (1u << 29) /* of a code object: a __getitem__ */
#define DWP_ID_BITS 0x0fffffffu

struct dwp_calls {
	struct dwp_thread_memory memory;
	uint32_t depth;
	bool missed;            /* another profiler had the profile function: events of calls are missing */
	uint32_t mixed;         /* calls below this depth end by name: other records followed them */
	const char *cursor;     /* where the stream was after the last record of a function */
	const void *entered;    /* the code object that frames.c entered last */
	uintptr_t stack_begin;  /* lowest address of this thread's machine stack; 0 means not known */
	uintptr_t stack_scarce; /* a frame nearer than this to stack_begin has too little stack left */
	uint32_t ids[DWP_MOST_CALLS]; /* 0 means not recorded */
};

extern __thread struct dwp_calls *dwp_calls __attribute__((tls_model("initial-exec")));

/* Creates the struct of the calling thread, which has none yet. NULL: out of memory. */
struct dwp_calls *dwp_calls_create(void);

/* ---- code objects ------------------------------------------------------------------------ */

/* Stored in an extra field of the code object, which ends with the code object. */
struct dwp_known_code {
	PyObject *code;
	uint32_t id; /* with flags; 0 means its calls are not recorded */
};

/* A cache by address of the code object, so that most calls need not ask Python for the field. */
#define DWP_RECENT_CODES 4096u
extern struct dwp_known_code dwp_recent_codes[DWP_RECENT_CODES];

static inline struct dwp_known_code *dwp_place_of_code(const void *code)
{
	return &dwp_recent_codes[((uintptr_t)code >> 4) * 0x9e3779b1u >> 16 & (DWP_RECENT_CODES - 1)];
}

/* Returns the id and flags of a code object that is not in the cache. An exception that is set
 * remains set. */
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

/* Leaves the innermost call. */
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

/* ---- in calls.c ------------------------------------------------------------------------------ */

/* The id of functions that are not recorded. */
#define DWP_UNSEEN UINT32_MAX

/* Called once, before calls are recorded. False: code objects of this Python have no fields. */
bool dwp_calls_prepare(void);
/* Whether the calling thread has a profile function, ours or another's. */
bool dwp_calls_profiled(void);

/* ---- in profile_slot.c --------------------------------------------------------------------- */

/* Sets the profile function of new threads, by a function that a thread calls at its first event, and watches for
 * other profilers from then on. Called once. */
void dwp_slot_begin(dwp_tracer *tracer, PyMethodDef *start_thread);
/* Whether it was called. */
bool dwp_slot_is_taken(void);
/* Sets it in the calling thread, or in all threads that have none. */
void dwp_slot_take_here(void);
void dwp_slot_take_all(void);
/* At a thread's first event after events were missed: `outer` is the innermost frame whose call has been seen, or
 * would have been. Ends the open calls that are no frames any more, and begins those of the other frames. */
void dwp_slot_catch_up(struct dwp_calls *calls, PyFrameObject *outer);

/* ---- in frames.c ----------------------------------------------------------------------------- */

/* Starts to record Python functions by the interpreter's frame evaluation function. Returns NULL,
 * or a text for the trace: why this is not possible here. If it becomes impossible later,
 * `give_up` is called with such a text: it must record with the profile function from then on, in
 * all threads and until the end of the run, and keep an exception that is set. */
const char *dwp_frames_begin(void (*give_up)(const char *why));
/* Stops that. Open calls are still left; no further calls are entered. */
void dwp_frames_end(void);
