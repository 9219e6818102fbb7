/*
 * The hot part of data loading: what a part (part.h) does for each range and counter.
 *
 * A stream may be walked in segments. The ranges that are open where a segment begins are pushed
 * again with their own begins: they restore which request is open and whether a batch is being
 * made. What an earlier segment has counted is not counted again.
 */
#pragma once

#include <pthread.h>

#include "model/core/part.h"
#include "model/core/product.h"
#include "model/core/share_names.h"
#include "model/time/loading.h"

struct dw_loading_frame {
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
	size_t frame_bytes;
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

/* The functions of the part. */
bool dw_loading_worker_init(void *worker, const void *sums);
void dw_loading_worker_reset(void *worker);
bool dw_loading_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from);
void dw_loading_note(void *pass, uint64_t ticks, const struct dw_record *record);
void dw_loading_carried(void *pass);
bool dw_loading_merge(void *sums, void *worker, uint32_t file);
void dw_loading_end_file(void *sums, uint32_t file);

/* Internal. */
void dw_loading_begin_data(struct dw_loading_pass *loading, uint64_t ticks, uint32_t id);
void dw_loading_end_data(struct dw_loading_pass *loading, uint64_t ticks, enum dw_leave how);
void dw_loading_give(struct dw_loading_pass *loading, uint64_t ticks);
void dw_loading_resume(struct dw_loading_pass *loading);

/* While a batch is made, the innermost range gets the time. */
DW_INLINE void dw_loading_settle(void *pass, uint64_t ticks)
{
	struct dw_loading_pass *loading = pass;

	if (__builtin_expect(loading->making && !loading->resumed, 0))
		dw_loading_give(loading, ticks);
}

DW_INLINE void dw_loading_enter(void *pass, void *place, const struct dw_here *here)
{
	struct dw_loading_pass *loading = pass;
	struct dw_loading_frame *frame = place;
	uint8_t share = loading->sums->shares[here->row];

	*frame = (struct dw_loading_frame){ 0, 0 };
	if (__builtin_expect(loading->making && !loading->resumed, 0))
		loading->worker->counts[here->row]++;
	if (__builtin_expect(share == DW_SHARE_DATA, 0) && here->id < here->pass->walk.op_count &&
	    dw_pass_in_scope(here->pass, here->ticks)) {
		frame->data = 1;
		dw_loading_begin_data(loading, here->ticks, here->id);
	} else if (__builtin_expect(share == DW_SHARE_EVALUATION, 0)) {
		frame->evaluation = 1;
		loading->evaluation++;
	}
	if (__builtin_expect(loading->resumed, 0))
		dw_loading_resume(loading);
}

DW_INLINE void dw_loading_leave(void *pass, void *place, const struct dw_here *here)
{
	struct dw_loading_pass *loading = pass;
	const struct dw_loading_frame *frame = place;

	if (__builtin_expect(frame->data, 0))
		dw_loading_end_data(loading, here->ticks, here->how);
	loading->evaluation -= frame->evaluation;
}

static const struct dw_part dw_loading_part = {
	.worker_init = dw_loading_worker_init, .worker_reset = dw_loading_worker_reset, .begin = dw_loading_begin,
	.enter = dw_loading_enter, .leave = dw_loading_leave, .note = dw_loading_note, .settle = dw_loading_settle,
	.carried = dw_loading_carried, .merge = dw_loading_merge, .end_file = dw_loading_end_file,
};
