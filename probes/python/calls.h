/*
 * Calls of a thread as ranges: what has begun and not ended.
 *
 * Used by functions.c and frames.c, each with its own of a thread. Other ranges may begin
 * in a function and outlive it (a context manager's __enter__): when any record came
 * between two of ours, the functions that were open then end by name.
 */
#ifndef DWELL_PROBES_CALLS_H
#define DWELL_PROBES_CALLS_H

#include "python.h"

#define MOST_DEPTH 8192u

struct calls {
	uint32_t depth;       /* what lies deeper than MOST_DEPTH is not recorded */
	uint32_t mixed;       /* from this depth on nothing but functions is open */
	const char *cursor;   /* of the stream after our last record */
	uint32_t ids[MOST_DEPTH]; /* 0: not recorded */
};

static inline void enter_call(struct calls *calls, uint32_t id)
{
	uint32_t at = calls->depth++;

	if (DWELL_UNLIKELY(at >= MOST_DEPTH))
		return;
	calls->ids[at] = id;
	if (!id)
		return;
	if (DWELL_UNLIKELY(dwell_this_stream->cursor != calls->cursor))
		calls->mixed = at;
	dwell_put_begin(id);
	calls->cursor = dwell_this_stream->cursor;
}

static inline void leave_call(struct calls *calls)
{
	if (!calls->depth)
		return;
	uint32_t at = --calls->depth;
	if (DWELL_UNLIKELY(at >= MOST_DEPTH))
		return;
	if (DWELL_UNLIKELY(dwell_this_stream->cursor != calls->cursor))
		calls->mixed = at + 1;
	if (calls->ids[at] && DWELL_UNLIKELY(at < calls->mixed))
		dwell_end_named(calls->ids[at]);
	else if (calls->ids[at])
		dwell_put_end();
	if (calls->mixed > at)
		calls->mixed = at;
	calls->cursor = dwell_this_stream->cursor;
}

/* functions.c: what is known of a code object. Needs dwell_code_prepare(). */
struct known_code {
	PyObject *code;
	uint32_t id;      /* 0: not to be recorded */
	bool resumes;     /* of a generator or a coroutine */
};
struct known_code dwell_find_code(PyObject *code);
bool dwell_code_prepare(void);

/* The last ones by address. */
#define RECENT_CODE 4096u
extern struct known_code dwell_recent_code[RECENT_CODE];

static inline struct known_code *place_of(const void *address)
{
	return &dwell_recent_code[((uintptr_t)address >> 4) * 0x9e3779b1u >> 16 & (RECENT_CODE - 1)];
}

static inline struct known_code known_code(PyObject *code)
{
	const struct known_code *known = place_of(code);

	return DWELL_LIKELY(known->code == code) ? *known : dwell_find_code(code);
}

#endif
