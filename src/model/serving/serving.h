/*
 * Serving: the requests of a server, with their stages and tokens, and what was in flight in each step of its engine.
 *
 * A request is an asynchronous range with the detail DW_DETAIL_REQUEST. Its stages and tokens have its handle. The program marks
 * them (DWELL_REQUEST_BEGIN()), a probe does for a framework, or an import has them: all are the same records.
 *
 * A batch is a step of the engine: a range whose name says what it computes (frameworks/batches.c), or where there is none a
 * marked step of a process that has requests, and what was in flight in its middle.
 */
#pragma once

#include "model/core/model.h"

#define DW_MOST_STAGE_NAMES 8u /* further ones are all called "other stages" */

struct dw_served_stage {
	uint64_t start_ns, end_ns;
	uint32_t name; /* index of stage_names */
};

/* A request. */
struct dw_served {
	uint64_t handle, start_ns, end_ns;
	uint64_t first_ns, last_ns; /* when its first and last tokens came; 0: none did */
	uint64_t tokens;
	uint32_t symbol, thread, process; /* indices; thread: where it began */
	uint32_t first_stage, stage_count;
	bool open; /* it did not end */
};

struct dw_batch {
	uint64_t start_ns, end_ns;
	uint64_t tokens;
	uint32_t process, thread, kind;
	uint32_t waiting; /* requests in no stage yet */
};

/* What batches compute. */
struct dw_batch_kind {
	uint32_t requests[DW_MOST_STAGE_NAMES + 1]; /* in each stage; last: requests without stages */
};

struct dw_serving {
	struct dw_served *requests; /* by start */
	struct dw_served_stage *stages; /* by request, start */
	struct dw_batch *batches;   /* by process, start */
	struct dw_batch_kind *kinds;
	size_t count, stage_count, batch_count, kind_count;
	const char *stage_names[DW_MOST_STAGE_NAMES];
	uint32_t stage_name_count;
	const char *token_name;     /* "tokens"; NULL: there are none */
};

/* The time before a request's first stage; all of it if it has no stages but others have. */
uint64_t dw_served_queue_ns(const struct dw_serving *serving, const struct dw_served *request);

/* Writes "2 prefill, 6 decode". */
void dw_batch_write(const struct dw_serving *serving, const struct dw_batch_kind *kind, char *to, size_t size);

/* For the model's scope. NULL with `error`: out of memory. */
const struct dw_serving *dw_model_serving(struct dw_model *model, struct dwell_error *error);
/* Whether there may be requests or batches. */
bool dw_model_serves(const struct dw_model *model);
