/*
 * The hot half of the threads: what a pass does for each record.
 *
 * For the pass of threads.c and for passes that compute other products beside it. Pieces of
 * a stream may be walked side by side where nothing is missing (dw_threads_are_whole()):
 * then a thread's sums are the sums of its pieces.
 */
#ifndef DW_MODEL_TIME_THREADS_PASS_H
#define DW_MODEL_TIME_THREADS_PASS_H

#include <pthread.h>

#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/time/threads.h"

/* A time in which records of a thread are missing. */
struct dw_hole {
	uint32_t thread;
	uint64_t start_ticks, end_ticks;
};

/* What all streams are added to. */
struct dw_threads_sums {
	struct dw_model *model;
	struct dw_thread_row *rows; /* by thread, then the same for nested streams */
	struct dw_hole *holes;
	size_t hole_count, hole_capacity;
	uint64_t *losses;           /* by thread: records that its LOSS records count */
	uint64_t *last_ticks;       /* by thread: its last record */
	uint64_t *covered_ticks;    /* by thread: until when ranges last that did not end */
	pthread_mutex_t lock;       /* of all: damaged headers may share a thread */
	bool failed;
};

/* A stream's state, or a piece's. */
struct dw_threads_count {
	struct dw_pass *pass;
	struct dw_threads_sums *sums;
	struct dw_thread_row *rows; /* of this kind of stream, by thread */
	uint64_t busy_ticks, busy_since, records, ranges;
	uint64_t first_ticks, last_ticks, gap_before;
	uint64_t hole_start;        /* records after this time are missing; see in_hole */
	uint32_t resumed;           /* ranges still to come that began before the piece */
	uint64_t resumed_ticks;     /* where the piece begins */
	bool unusual;               /* the next record is the first, of the thread or after a hole */
	bool any, in_hole;
	bool cut;                   /* ranges were open where all were ended */
	bool covered;               /* with in_hole: a range lasts until the next record */
};

extern const struct dw_product dw_threads_product;

/* Whether no records are missing, as far as it can be known without looking at them. */
bool dw_threads_are_whole(const struct dw_model *model);

/* False when out of memory; reset in any case. */
bool dw_threads_sums_init(struct dw_threads_sums *sums, struct dw_model *model);
void dw_threads_sums_reset(struct dw_threads_sums *sums);
/* The product of what was added. False: out of memory. */
bool dw_threads_finish(struct dw_threads_sums *sums, struct dw_threads *threads);

/* `pass` is initialised for the stream of the segment. */
void dw_threads_begin(struct dw_threads_count *count, struct dw_threads_sums *sums,
                      struct dw_pass *pass, const struct dw_segment *segment);
void dw_threads_unusual(struct dw_threads_count *count, uint64_t ticks);
void dw_threads_carry(struct dw_threads_count *count);
void dw_threads_flushed(struct dw_threads_count *count, uint64_t ticks, enum dw_flush why);
void dw_threads_after_break(struct dw_threads_count *count, uint64_t ticks,
                            const struct dw_record *record);

DW_INLINE void dw_threads_note(struct dw_threads_count *count, uint64_t ticks)
{
	count->records++;
	if (__builtin_expect(count->unusual, 0))
		dw_threads_unusual(count, ticks);
	count->last_ticks = ticks;
}

/* A range has begun and is on the stack. */
DW_INLINE void dw_threads_enter(struct dw_threads_count *count, uint64_t ticks)
{
	count->ranges++;
	if (count->pass->depth == 1)
		count->busy_since = ticks;
	dw_threads_note(count, ticks);
}

/* A range is no longer on the stack. */
DW_INLINE void dw_threads_leave(struct dw_threads_count *count, uint64_t ticks, enum dw_leave how)
{
	if (!count->pass->depth)
		count->busy_ticks += ticks - count->busy_since;
	if (how == DW_LEAVE_END)
		dw_threads_note(count, ticks);
	else
		count->cut = true;
}

#endif
