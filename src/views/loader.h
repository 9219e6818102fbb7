/*
 * Data loading: what the loop waits for, and what its workers do meanwhile.
 *
 * DATA ranges of a thread that steps are the loop's: waiting, or loading by itself.
 * Those of other threads and processes are workers'. For the view and the verdict.
 */
#ifndef DW_VIEWS_LOADER_H
#define DW_VIEWS_LOADER_H

#include "views/common.h"

struct dw_loader_row {
	uint32_t thread, symbol;
	bool worker;
	struct dw_stat stat;
};

struct dw_loader {
	uint64_t batches, wait_ns;  /* that the loop asked for; in its outermost ranges */
	uint64_t own_ns;            /* of that, in ranges within: it loads by itself */
	uint64_t queued, empty;     /* batches asked of a queue, and those that found it empty */
	uint32_t workers;           /* threads */
	uint64_t made, making_ns;   /* their outermost ranges */
	struct dw_loader_row *rows; /* the loop first; in the model's order */
	size_t row_count;
};

/* The loop's sites say in their detail what they found. */
#define DW_LOADER_EMPTY "the queue was empty"
#define DW_LOADER_READY "a batch was ready"

/* NULL with `error` when out of memory; dw_loader_done() frees it. */
struct dw_loader *dw_loader(struct dw_model *model, struct dwell_error *error);
void dw_loader_done(struct dw_loader *loader);

#endif
