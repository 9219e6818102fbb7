/*
 * Data loading: what the loop waits for, and what its workers do in that time.
 *
 * DATA ranges of a thread with steps belong to the loop: it waits for data or loads the data
 * itself. DATA ranges of other threads and processes belong to workers. The dataloader view and the
 * verdict use it.
 */
#pragma once

#include "model/time/loading.h"
#include "views/common.h"

struct dw_loader_row {
	uint32_t thread, symbol;
	bool worker;
	struct dw_stat stat;
};

struct dw_loader {
	uint64_t batches, wait_ns;  /* batches that the loop asked for, and the time of its outermost
	                             * ranges */
	uint64_t own_ns;            /* part of wait_ns in nested ranges: the loop loads the data
	                             * itself */
	uint64_t queued, empty;     /* batches requested from a queue, and requests that found it
	                             * empty */
	uint32_t workers;           /* threads */
	uint64_t made, making_ns;   /* batches made by workers, and the time for them */
	struct dw_loader_row *rows; /* rows of the loop first, each group by time */
	size_t row_count;
};

/* Returns NULL with `error` if out of memory. dw_loader_done() frees the result. */
struct dw_loader *dw_loader(struct dw_model *model, struct dwell_error *error);
void dw_loader_done(struct dw_loader *loader);
