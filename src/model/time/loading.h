/*
 * Data loading: what a loop asked for, what was made for it, and of what making it consists.
 *
 * A request is an outermost DATA range of a thread with steps. A batch is made in an outermost DATA
 * range of another thread or process (a worker), or in a DATA range inside a request: then the loop
 * makes it itself. One walk over the records, if the trace has such ranges or the counters of
 * format/keys.h.
 */
#pragma once

#include "model/core/model.h"

/* The state of the queue as the loop's ranges record it in their detail. */
#define DW_LOADER_EMPTY "the queue was empty"
#define DW_LOADER_READY "a batch was ready"

enum dw_request_kind {
	DW_REQUEST_START, /* the loop began to iterate over a loader: "DataLoader.__iter__" */
	DW_REQUEST_BATCH, /* whether the batch was ready is not known */
	DW_REQUEST_EMPTY, /* the queue was empty */
	DW_REQUEST_READY, /* some batch was ready */
};

struct dw_request {
	uint64_t start_ns, end_ns;
	uint64_t made_ns;          /* part in which the loop made the batch itself */
	enum dw_request_kind kind;
	bool evaluation;           /* within evaluation */
};

struct dw_made {
	uint64_t start_ns, end_ns;
};

/* Self time of a range, an operator or a function while batches were made. */
struct dw_loading_part {
	uint32_t symbol;           /* the first with its name */
	uint64_t ns, count;
};

/* Of a thread. */
struct dw_loading {
	uint64_t samples;
	uint64_t asked, ready;     /* requests for a batch; batches that were ready at a request,
	                            * added up over all requests */
	struct dw_request *requests; /* in order; only of threads with steps */
	size_t request_count;
	struct dw_made *made;      /* batches, in order */
	size_t made_count;
};

struct dw_loading_all {
	struct dw_loading *threads;      /* by thread */
	struct dw_loading_part *parts;   /* over all threads, descending */
	size_t part_count;
	uint64_t making_ns;              /* sum of the parts */
};

/* By thread, for the model's scope. NULL with `error` if memory ran out. */
const struct dw_loading *dw_model_loading(struct dw_model *model, struct dwell_error *error);
const struct dw_loading_all *dw_model_loading_all(struct dw_model *model, struct dwell_error *error);
