/*
 * The hot part of data loading: what a pass does for each range and counter.
 *
 * For the pass of loading_pass.c and for passes that also compute other products. They need `settle` and
 * `carried`.
 *
 * A stream may be walked in segments. The ranges that are open where a segment begins are pushed
 * again with their own begins: they restore which request is open and whether a batch is being
 * made. What an earlier segment has counted is not counted again.
 */
#pragma once

#include <pthread.h>

#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/share_names.h"
#include "model/time/loading.h"

/* The part of a pass's frame that follows struct dw_frame. */
struct dw_loading_frame {
	uint32_t row;
	uint8_t data, evaluation;
};

/* What one worker adds up over the streams of a file. All zero is empty. */
struct dw_loading_worker {
	uint64_t *ticks, *counts; /* by row */
};

/* The part of a request that the loop made itself, in a segment in which the request did not end. */
struct dw_loading_rest {
	uint32_t thread;
	uint64_t start_ns, made_ticks;
};

/* The sums over all streams. */
struct dw_loading_sums {
	struct dw_model *model;
	bool any;                     /* the trace has data loading; otherwise no walk is needed */
	struct dw_loading *threads;
	struct dw_loading_lists *lists; /* by thread */
	struct dw_loading_rest *rests;
	size_t rest_count, rest_capacity;
	bool *loops;                  /* by thread: it has steps */
	uint8_t *meanings;            /* by merged symbol: of counters */
	uint8_t *shares;              /* by row: DW_SHARE_DATA, DW_SHARE_EVALUATION or others */
	uint64_t *part_ticks;         /* by row, of the current file */
	uint64_t *part_ns, *part_counts; /* by row */
	pthread_mutex_t lock;         /* a thread may write into several streams */
	bool failed;
};

/* The state for a stream or a segment. */
struct dw_loading_pass {
	struct dw_pass *pass;
	struct dw_loading_sums *sums;
	struct dw_loading_worker *worker;
	const struct dw_source_clock *clock;
	size_t frame_bytes, frame_offset;
	uint32_t data, evaluation;    /* open ranges */
	uint32_t resumed;             /* number of ranges from before the segment that are still to be
	                               * pushed */
	uint64_t resumed_ticks;       /* begin of the segment */
	struct dw_request request;    /* the outermost DATA range, in ticks */
	uint64_t inner_ticks;         /* begin of the DATA range in it */
	uint64_t last_ticks;          /* all time before this has been assigned */
	bool loop, making;
};

/* False: out of memory. Call the reset function in any case. */
bool dw_loading_sums_init(struct dw_loading_sums *sums, struct dw_model *model);
void dw_loading_sums_reset(struct dw_loading_sums *sums);
/* Makes the product from the sums. False: out of memory. */
bool dw_loading_finish(struct dw_loading_sums *sums, struct dw_loading_all *all);

bool dw_loading_worker_init(struct dw_loading_worker *worker, uint32_t row_count);
void dw_loading_worker_reset(struct dw_loading_worker *worker);
/* Adds what a worker has counted in the streams of a file to the sums. When all workers have been
 * added, the file ends: its ticks become ns. */
void dw_loading_merge(struct dw_loading_sums *sums, struct dw_loading_worker *worker);
void dw_loading_end_file(struct dw_loading_sums *sums, uint32_t file);

/* Prepares the state. `pass` must be initialised for the segment's stream. `frame_offset`: offset
 * of the dw_loading_frame in the pass's frame, which has frame_bytes. */
void dw_loading_begin(struct dw_loading_pass *loading, struct dw_loading_sums *sums,
                      struct dw_loading_worker *worker, struct dw_pass *pass,
                      const struct dw_segment *segment, size_t frame_bytes, size_t frame_offset);
void dw_loading_note(struct dw_loading_pass *loading, uint64_t ticks, const struct dw_record *record);
/* A segment ends; its open ranges continue in the next one. */
void dw_loading_carry(struct dw_loading_pass *loading);

/* Internal. */
void dw_loading_begin_data(struct dw_loading_pass *loading, uint64_t ticks, uint32_t id);
void dw_loading_end_data(struct dw_loading_pass *loading, uint64_t ticks, enum dw_leave how);
void dw_loading_give(struct dw_loading_pass *loading, uint64_t ticks);
void dw_loading_resume(struct dw_loading_pass *loading);

/* Before the stack changes: while a batch is made, the innermost range gets the time. */
DW_INLINE void dw_loading_settle(struct dw_loading_pass *loading, uint64_t ticks)
{
	if (__builtin_expect(loading->making && !loading->resumed, 0))
		dw_loading_give(loading, ticks);
}

/* To be called when a range has begun and is on the stack. */
DW_INLINE void dw_loading_enter(struct dw_loading_pass *loading, struct dw_loading_frame *frame,
                                uint64_t ticks, uint32_t row, uint32_t id)
{
	uint8_t share = loading->sums->shares[row];

	*frame = (struct dw_loading_frame){ row, 0, 0 };
	if (__builtin_expect(loading->making && !loading->resumed, 0))
		loading->worker->counts[row]++;
	if (__builtin_expect(share == DW_SHARE_DATA, 0) && id < loading->pass->walk.op_count &&
	    dw_pass_in_scope(loading->pass, ticks)) {
		frame->data = 1;
		dw_loading_begin_data(loading, ticks, id);
	} else if (__builtin_expect(share == DW_SHARE_EVALUATION, 0)) {
		frame->evaluation = 1;
		loading->evaluation++;
	}
	if (__builtin_expect(loading->resumed, 0))
		dw_loading_resume(loading);
}

DW_INLINE void dw_loading_leave(struct dw_loading_pass *loading, const struct dw_loading_frame *frame, uint64_t ticks,
                                enum dw_leave how)
{
	if (__builtin_expect(frame->data, 0))
		dw_loading_end_data(loading, ticks, how);
	loading->evaluation -= frame->evaluation;
}
