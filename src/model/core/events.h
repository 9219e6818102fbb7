/*
 * Events in order, for exporters: every record of the scope, one call each.
 */
#ifndef DW_MODEL_CORE_EVENTS_H
#define DW_MODEL_CORE_EVENTS_H

#include "model/core/model.h"

struct dw_event {
	enum { DW_EVENT_RANGE, DW_EVENT_MARK, DW_EVENT_COUNTER, DW_EVENT_ALLOC, DW_EVENT_FREE,
	       DW_EVENT_ASYNC, DW_EVENT_FLOW_OUT, DW_EVENT_FLOW_IN } type;
	uint32_t symbol;
	uint32_t thread;       /* index */
	uint64_t start_ns, end_ns;
	uint64_t handle;       /* async, flow; the address of ALLOC and FREE */
	uint64_t size_bytes;   /* ALLOC */
	double value;          /* COUNTER */
	const char *args;      /* RANGE: from ARGS, or NULL */
	uint64_t sequence;     /* RANGE: from LINK; UINT64_MAX: none */
	uint32_t forward_thread;
	/* RANGE: where the program called it, an id in stacks of its file (the file of the
	 * thread's process); ranges within have it from the outermost. 0: not recorded. */
	uint32_t stack;
	bool nested;           /* of a signal handler's stream: it interrupted `thread`; of ASYNC
	                        * the stream of its begin */
	bool open;             /* RANGE, ASYNC: it never ended */
	uint32_t depth;        /* RANGE: how many ranges it lies in */
};

/* Signal handlers write streams of their own, whose events lie in time within their threads'. */
enum dw_event_streams { DW_EVENTS_ALL, DW_EVENTS_OF_THREADS, DW_EVENTS_OF_HANDLERS };

/* Calls `each` for every event of the scope in these streams, stream after stream, ranges when
 * they end; stops at the first non-zero result and returns it. */
int dw_model_events_of(struct dw_model *model, enum dw_event_streams which,
                       int (*each)(void *context, const struct dw_event *event), void *context,
                       struct dwell_error *error);
/* The same for all streams. */
int dw_model_events(struct dw_model *model, int (*each)(void *context, const struct dw_event *event),
                    void *context, struct dwell_error *error);

#endif
