/*
 * The hot part of the outermost ranges, for passes that also compute other products.
 *
 * At each moment the open range that began first is the outermost one. If ranges overlap, the next one becomes it when
 * it ends: so the times of the outermost ranges add up to the time in which a range is open. The pass stores whether a
 * range is outermost in the frame's in_scope, which passes without skipped chunks do not use.
 */
#pragma once

#include <pthread.h>

#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/time/outermost.h"

/* The outermost ranges of one row in one thread. */
struct dw_outermost_sum {
	uint32_t thread, row;
	uint64_t count, ticks;
};

/* What one worker has counted of the current thread. All zero is empty. */
struct dw_outermost_worker {
	struct dw_outermost_sum *by_row;
	uint32_t *rows; /* the rows that have a count */
	uint32_t row_count;
	uint64_t since; /* ticks; from then on the range that is outermost now is it */
};

/* The sums over all streams. */
struct dw_outermost_sums {
	pthread_mutex_t lock;
	struct dw_outermost_sum *items;
	size_t count, capacity;
	bool failed;
};

/* False: out of memory. */
bool dw_outermost_worker_init(struct dw_outermost_worker *worker, uint32_t row_count);
void dw_outermost_worker_reset(struct dw_outermost_worker *worker);
/* To be called when the thread changes and where a stream or segment ends: adds what the worker has
 * counted to the sums. Times are multiplied by `ratio`. */
void dw_outermost_close(struct dw_outermost_worker *worker, struct dw_outermost_sums *sums,
                        uint32_t thread, double ratio);
/* Makes the product from the sums, and frees them. False: out of memory. */
bool dw_outermost_finish(struct dw_model *model, struct dw_outermost_sums *sums, struct dw_tree *result);

/* To be called when a range has begun and is on the stack. */
DW_INLINE void dw_outermost_enter(struct dw_outermost_worker *worker, const struct dw_pass *pass,
                                  struct dw_frame *frame)
{
	frame->in_scope = pass->depth == 1 && pass->walk.wanted;
	if (pass->depth == 1)
		worker->since = frame->start;
}

/* To be called before the range at `place` is removed, which is not the innermost. */
DW_INLINE void dw_outermost_unnest(const struct dw_pass *pass, uint32_t place, size_t frame_bytes)
{
	if (place == 1)
		dw_pass_at(pass, frame_bytes, 2)->in_scope = dw_pass_at(pass, frame_bytes, 1)->in_scope;
}

DW_INLINE void dw_outermost_leave(struct dw_outermost_worker *worker, const struct dw_frame *frame,
                                  uint32_t row, uint64_t ticks)
{
	struct dw_outermost_sum *sum = &worker->by_row[row];

	if (!frame->in_scope)
		return;
	if (!sum->count++)
		worker->rows[worker->row_count++] = row;
	sum->ticks += ticks - worker->since;
	worker->since = ticks;
}
