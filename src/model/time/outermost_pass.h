/*
 * The hot part of the outermost ranges: a part (part.h) of loops that keep rows.
 *
 * At each moment the open range that began first is the outermost one. If ranges overlap, the next one becomes it when
 * it ends: so the times of the outermost ranges add up to the time in which a range is open. The pass stores whether a
 * range is outermost in the frame's in_scope, which passes without skipped chunks do not use.
 */
#pragma once

#include <pthread.h>

#include "model/core/part.h"
#include "model/core/product.h"
#include "model/time/outermost.h"

/* The outermost ranges of one row in one thread. */
struct dw_outermost_sum {
	uint32_t thread, row;
	uint64_t count, ticks;
};

struct dw_outermost_frame { };

/* What one worker has counted of the current thread. All zero is empty. */
struct dw_outermost_worker {
	struct dw_outermost_sum *by_row;
	uint32_t *rows; /* the rows that have a count */
	uint32_t row_count;
	uint64_t since; /* ticks; from then on the range that is outermost now is it */
	bool none;      /* no range was open when the burst began */
};

/* The sums over all streams. */
struct dw_outermost_sums {
	const struct dw_model *model;
	pthread_mutex_t lock;
	struct dw_outermost_sum *items;
	size_t count, capacity;
	bool failed;
};

/* The state for a piece of a stream. */
struct dw_outermost_pass {
	const struct dw_pass *pass;
	struct dw_outermost_sums *sums;
	struct dw_outermost_worker *worker;
	size_t frame_bytes;
	double ratio; /* what times of the file are multiplied by */
};

/* Makes the product from the sums, and frees them. False: out of memory. */
bool dw_outermost_finish(struct dw_model *model, struct dw_outermost_sums *sums, struct dw_tree *result);

/* The functions of the part. */
bool dw_outermost_worker_init(void *worker, const void *sums);
void dw_outermost_worker_reset(void *worker);
bool dw_outermost_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from);
/* The next records may be of another thread, or of another piece: adds what the worker has counted to the sums. */
void dw_outermost_flushed(void *pass, uint64_t ticks, enum dw_flush why);
void dw_outermost_carried(void *pass);

DW_INLINE void dw_outermost_enter(void *pass, void *frame, const struct dw_here *here)
{
	struct dw_outermost_pass *outermost = pass;

	here->range->in_scope = here->pass->depth == 1 && here->pass->walk.wanted;
	if (here->pass->depth == 1)
		outermost->worker->since = here->ticks;
}

static inline void dw_outermost_unnest(void *pass, uint32_t place)
{
	const struct dw_outermost_pass *outermost = pass;
	size_t bytes = outermost->frame_bytes;

	if (place == 1)
		dw_pass_at(outermost->pass, bytes, 2)->in_scope = dw_pass_at(outermost->pass, bytes, 1)->in_scope;
}

DW_INLINE void dw_outermost_add(struct dw_outermost_worker *worker, uint32_t row, uint64_t ticks)
{
	struct dw_outermost_sum *sum = &worker->by_row[row];

	if (!sum->count++)
		worker->rows[worker->row_count++] = row;
	sum->ticks += ticks;
}

DW_INLINE void dw_outermost_leave(void *pass, void *frame, const struct dw_here *here)
{
	struct dw_outermost_worker *worker = ((struct dw_outermost_pass *)pass)->worker;

	if (!here->range->in_scope)
		return;
	dw_outermost_add(worker, here->row, here->ticks - worker->since);
	worker->since = here->ticks;
}

static inline bool dw_outermost_burst(void *pass, struct dw_burst *burst)
{
	((struct dw_outermost_pass *)pass)->worker->none = !burst->pass->depth;
	return burst->pass->walk.wanted;
}

DW_INLINE void dw_outermost_ended(void *pass, const struct dw_burst_range *range)
{
	struct dw_outermost_worker *worker = ((struct dw_outermost_pass *)pass)->worker;

	if (range->depth == 1 && worker->none)
		dw_outermost_add(worker, range->row, range->duration);
}

static const struct dw_part dw_outermost_part = {
	.worker_init = dw_outermost_worker_init, .worker_reset = dw_outermost_worker_reset, .begin = dw_outermost_begin,
	.enter = dw_outermost_enter, .leave = dw_outermost_leave, .unnest = dw_outermost_unnest,
	.flushed = dw_outermost_flushed, .carried = dw_outermost_carried, .burst = dw_outermost_burst, .ended = dw_outermost_ended,
};
