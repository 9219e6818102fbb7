/*
 * Events for exporters: calls a function once for each event in scope.
 */
#ifndef DW_MODEL_CORE_EVENTS_H
#define DW_MODEL_CORE_EVENTS_H

#include "model/core/model.h"

struct dw_event {
	enum { DW_EVENT_RANGE, DW_EVENT_MARK, DW_EVENT_COUNTER, DW_EVENT_ALLOC, DW_EVENT_FREE,
	       DW_EVENT_ASYNC, DW_EVENT_FLOW_OUT, DW_EVENT_FLOW_IN } type;
	uint32_t symbol;
	uint32_t thread;       /* index into the source's threads */
	uint64_t start_ns, end_ns;
	uint64_t handle;       /* ASYNC and FLOW: the handle; ALLOC and FREE: the address */
	uint64_t size_bytes;   /* ALLOC */
	double value;          /* COUNTER */
	const char *args;      /* RANGE: text of its ARGS record, or NULL */
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

#endif
