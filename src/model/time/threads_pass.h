/*
 * The hot part of the threads: what a part (part.h) does for each record.
 *
 * If no records are missing (dw_threads_are_whole()), segments of a stream may be walked in parallel:
 * the sums of a thread are then the sums of its segments.
 */
#pragma once

#include <pthread.h>

#include "model/core/part.h"
#include "model/core/product.h"
#include "model/time/threads.h"

/* A time in which records of a thread are missing. */
struct dw_hole {
	uint32_t thread;
	uint64_t start_ticks, end_ticks;
};

/* The sums over all streams. */
struct dw_threads_sums {
	struct dw_model *model;
	struct dw_thread_row *rows; /* by thread, then by thread for streams of signal handlers */
	struct dw_hole *holes;
	size_t hole_count, hole_capacity;
	uint64_t *losses;           /* by thread: number of records that its LOSS records count */
	uint64_t *last_ticks;       /* by thread: time of its last record */
	uint64_t *covered_ticks;    /* by thread: end of its ranges that did not end */
	pthread_mutex_t lock;       /* several workers may add to the row of one thread */
	bool failed;
};

struct dw_threads_frame { };
struct dw_threads_worker { };

/* The state for a stream or a segment. */
struct dw_threads_pass {
	struct dw_pass *pass;
	struct dw_threads_sums *sums;
	struct dw_thread_row *rows; /* by thread, for this kind of stream */
	uint64_t busy_ticks, busy_since, records, ranges, first_ticks, last_ticks, gap_before;
	uint64_t hole_start;        /* records after this time are missing; valid with in_hole */
	uint32_t resumed;           /* number of ranges from before the segment that are still to be
	                             * pushed */
	uint64_t resumed_ticks;     /* begin of the segment */
	bool unusual;               /* the next record is the first of the thread or after a hole */
	bool any, in_hole;
	bool cut;                   /* ranges were open when all ranges were ended */
	bool covered;               /* with in_hole: a range covers the time until the next record */
};

/* False: out of memory. Call the reset function in any case. */
bool dw_threads_sums_init(struct dw_threads_sums *sums, struct dw_model *model);
void dw_threads_sums_reset(struct dw_threads_sums *sums);
/* Makes the product from the sums. False: out of memory. */
bool dw_threads_finish(struct dw_threads_sums *sums, struct dw_threads *threads);

/* The functions of the part. */
bool dw_threads_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from);
void dw_threads_flushed(void *pass, uint64_t ticks, enum dw_flush why);
void dw_threads_after_break(void *pass, uint64_t ticks, const struct dw_record *record);
void dw_threads_carried(void *pass);

/* Internal. */
void dw_threads_unusual(struct dw_threads_pass *count, uint64_t ticks);

DW_INLINE void dw_threads_record(void *pass, uint64_t ticks)
{
	struct dw_threads_pass *count = pass;

	count->records++;
	if (__builtin_expect(count->unusual, 0))
		dw_threads_unusual(count, ticks);
	count->last_ticks = ticks;
}

static inline void dw_threads_note(void *pass, uint64_t ticks, const struct dw_record *record)
{
	dw_threads_record(pass, ticks);
}

DW_INLINE void dw_threads_enter(void *pass, void *frame, const struct dw_here *here)
{
	struct dw_threads_pass *count = pass;

	count->ranges++;
	if (here->pass->depth == 1)
		count->busy_since = here->ticks;
	dw_threads_record(count, here->ticks);
}

DW_INLINE void dw_threads_leave(void *pass, void *frame, const struct dw_here *here)
{
	struct dw_threads_pass *count = pass;

	if (!here->pass->depth)
		count->busy_ticks += here->ticks - count->busy_since;
	if (here->how == DW_LEAVE_END)
		dw_threads_record(count, here->ticks);
	else
		count->cut = true;
}

static inline bool dw_threads_burst(void *pass, struct dw_burst *burst)
{
	return !((struct dw_threads_pass *)pass)->unusual;
}

static inline void dw_threads_burst_end(void *pass, struct dw_burst *burst)
{
	struct dw_threads_pass *count = pass;

	count->records += 2 * burst->ended;
	count->ranges += burst->ended;
	count->busy_ticks += burst->pass->depth ? 0 : burst->stack[0].child;
	count->last_ticks = burst->ticks;
}

static inline void dw_threads_inside(void *pass, uint64_t ticks, const struct dw_burst *burst)
{
	((struct dw_threads_pass *)pass)->last_ticks = burst->ticks;
}

static const struct dw_part dw_threads_part = {
	.begin = dw_threads_begin, .enter = dw_threads_enter, .leave = dw_threads_leave, .note = dw_threads_note,
	.flushed = dw_threads_flushed, .orphan = dw_threads_record, .after_break = dw_threads_after_break,
	.carried = dw_threads_carried, .burst = dw_threads_burst, .burst_end = dw_threads_burst_end, .inside = dw_threads_inside,
};
