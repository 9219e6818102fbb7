/*
 * Single events, for exporters and views: calls a function once for each event in scope.
 */
#pragma once

#include "model/core/model.h"

struct dw_event {
	enum { DW_EVENT_RANGE, DW_EVENT_MARK, DW_EVENT_COUNTER, DW_EVENT_ALLOC, DW_EVENT_FREE,
	       DW_EVENT_ASYNC, DW_EVENT_FLOW_OUT, DW_EVENT_FLOW_IN,
	       DW_EVENT_ASYNC_BEGIN, DW_EVENT_ASYNC_END /* of windows alone */ } type;
	uint32_t symbol;
	uint32_t thread;       /* index into the source's threads */
	uint64_t start_ns, end_ns;
	uint64_t handle;       /* ASYNC and FLOW: the handle; ALLOC and FREE: the address */
	uint64_t size_bytes;   /* ALLOC */
	double value;          /* COUNTER */
	const char *args;      /* RANGE, MARK, ASYNC: text of its arguments, or NULL */
	uint64_t sequence;     /* RANGE: number from its LINK record; UINT64_MAX: none */
	uint32_t forward_thread;
	/* RANGE: the call site, as an id in `stacks` of the file of the thread's process. A range
	 * without a STACK record has the stack of the range around it. 0: not recorded. */
	uint32_t stack;
	bool nested;           /* the event (ASYNC: its begin) is from a signal handler that
	                        * interrupted `thread` */
	bool open;             /* RANGE, ASYNC: no end was recorded */
	uint32_t depth;        /* RANGE: how many ranges are open around it */
};

/* A signal handler writes a stream of its own. In time, its events are within those of the thread
 * that it interrupted. */
enum dw_event_streams { DW_EVENTS_ALL, DW_EVENTS_OF_THREADS, DW_EVENTS_OF_HANDLERS };

/* Calls `each` for every event in scope of the chosen streams, one stream after the other, then for
 * the asynchronous ranges. A range is reported when it ends. Stops at the first non-zero result of
 * `each` and returns it. */
int dw_model_events_of(struct dw_model *model, enum dw_event_streams which,
                       int (*each)(void *context, const struct dw_event *event), void *context,
                       struct dwell_error *error);
/* The same for all streams. */
int dw_model_events(struct dw_model *model, int (*each)(void *context, const struct dw_event *event),
                    void *context, struct dwell_error *error);

/* ---- windows: some chunks of one stream ---------------------------------------------------- */

/* A range that is open between two chunks. */
struct dw_events_open {
	uint64_t start;  /* ticks */
	uint32_t id;     /* id of its OP record, in its file */
	bool by_name;    /* a plain END does not end it */
};

/* The state of a stream between two chunks. All zero is the begin of a stream. */
struct dw_events_place {
	size_t chunk;          /* the next one */
	uint64_t ticks, floor; /* see struct dw_decode_time */
	uint32_t inside;
	bool in_scope;
	uint32_t thread;       /* index of the writer; not used if `chunk` is 0 */
	uint32_t folded;       /* open ranges that are only counted */
	uint32_t open_count;
	struct dw_events_open *open; /* outermost first; malloc'ed */
};

/* The symbol of a range that is open at a place: the first symbol of its row. */
uint32_t dw_model_symbol_of_id(const struct dw_model *model, uint32_t file, uint32_t id);
/* Like dw_model_events(), for the chunks of a stream from place `from` up to chunk `to`. Of
 * asynchronous ranges, the begins and the ends are reported as they come, also those out of scope. A range that was
 * open at `from` is reported too, with its begin, but without what was recorded with its begin (args, stack, sequence).
 * Ranges that are open at the end: if `end` is not NULL, they are stored there with the other state, and are not
 * reported; otherwise they are reported with `open` set, and end at the last record. At the end of the stream `open`
 * ranges are always reported. The caller frees end->open. */
int dw_model_events_between(struct dw_model *model, size_t stream, const struct dw_events_place *from,
                            size_t to, struct dw_events_place *end,
                            int (*each)(void *context, const struct dw_event *event), void *context,
                            struct dwell_error *error);

/* The begin or the end of an asynchronous range. */
struct dw_events_async {
	uint64_t handle, ns;
	const char *args;      /* as in struct dw_event */
	uint32_t symbol, thread, process;
	bool end, nested;
};

/* Pairs the begins and ends of asynchronous ranges, which may come from several windows, as
 * dw_model_events() does, and calls `each` for the ranges in scope. Changes the order of `ends`. */
int dw_model_events_pair(struct dw_model *model, struct dw_events_async *ends, size_t count,
                         int (*each)(void *context, const struct dw_event *event), void *context);
