/*
 * The hot part of the shares: what a part (part.h) does for each range of a thread with steps. Streams
 * without steps are walked in a round before: then it collects the times of other_threads.h.
 */
#pragma once

#include "model/core/part.h"
#include "model/steps/shares.h"

enum dw_share_class { DW_CLASS_NONE, DW_CLASS_PHASE, DW_CLASS_OWN, DW_CLASS_OPERATOR,
	DW_CLASS_LAYER, DW_CLASS_FUNCTION, DW_CLASSES };

#define DW_MOST_SELFS 4096u /* rows for each step; times of further rows are dropped */

struct dw_shares_frame {
	uint32_t row;
	uint8_t share;   /* DW_SHARE_COUNT: none */
	uint8_t class;
	uint8_t others;  /* see dw_others_enter() */
};

/* Ticks by row, and a list of the rows that have some. */
struct dw_row_ticks {
	uint64_t *ticks;
	uint32_t *rows, count;
};

/* The memory of a worker, reused for each stream. All zero is empty. */
struct dw_shares_worker {
	struct dw_row_ticks self, named; /* of the current step */
	struct dw_pace_row *rows;        /* of the piece, by row */
	uint32_t *touched;               /* the rows that have some */
	uint32_t touched_count;
};

/* Where time in a step is added while the same kinds of ranges are open. */
struct dw_division_plan {
	bool stale;              /* ranges or the step have changed: it is to be made again */
	bool operators;          /* to the operators' time, without those for data */
	bool usual, sampled;     /* to the innermost operator's row; to the innermost range's self time */
	bool closure;            /* an optimizer's step runs forward or backward */
	bool lazy;               /* neither of these: it is enough to add the time when the plan ends */
	bool backward;           /* what other threads do meanwhile has precedence over `share` */
	uint8_t share;
	uint32_t wholes;         /* bits of whole_ticks */
	uint32_t named;          /* row of the range that names the time; DW_NO_INDEX: none */
};

/* The state for a stream or a segment. */
struct dw_shares_pass {
	struct dw_shares *all;
	struct dw_shares_worker *worker;
	struct dw_pass *pass;
	size_t stream, frame_bytes, frame_offset;
	uint32_t thread;         /* the thread that `pace` belongs to */
	struct dw_pace *pace;    /* NULL: the thread has no steps */
	uint32_t resumed;        /* number of ranges from before the segment that are still to be
	                          * pushed */
	uint64_t resumed_ticks;  /* begin of the segment */
	bool python;
	bool collects;           /* the stream's threads without steps are to be collected */
	struct dw_others_pass others;

	uint32_t open[DW_SHARE_COUNT], classes_open[DW_CLASSES];
	uint32_t set;            /* bits of the open shares, because each record needs them */
	uint32_t step_depth;     /* ranges at places up to this one began before the step */
	uint32_t phase, own;     /* places of the outermost ones in the step; 0: none */
	uint32_t around;         /* place of the innermost named range up to step_depth; 0: none */
	uint32_t unnested;       /* place of the range that ends; 0: the innermost */
	const struct dw_interval *times[DW_OTHER_KINDS]; /* the pace's next intervals */

	uint64_t from, last;     /* the piece; all time of it before `last` has been assigned */
	uint64_t seen;           /* until then the plan is valid; `last`, or later if time is still to be added */
	uint64_t border;         /* no step begins or ends from `last` to before this time; 0: not known, or the thread has
	                          * no steps or is another */
	struct dw_division_plan plan;
	size_t next;             /* index of the step that contains `last` or follows it */
	bool inside;
	struct dw_out first, at; /* of the piece's first instant, and of the latest */
	struct dw_step_sums sums; /* of the current step */
	struct dw_out_sums out;  /* of the piece */
	bool failed;
};

/* The functions of the part. */
bool dw_shares_worker_init(void *worker, const void *sums);
void dw_shares_worker_reset(void *worker);
bool dw_shares_begin_round(void *sums, unsigned round);
bool dw_shares_wants(const void *sums, unsigned round, size_t stream);
bool dw_shares_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from);
void dw_shares_end(void *pass);
void dw_shares_carried(void *pass);
void dw_shares_flushed(void *pass, uint64_t ticks, enum dw_flush why);

/* Internal: see division.c. */
void dw_division_count_operator(struct dw_shares_pass *division, uint32_t row);
int dw_division_beside_share(const struct dw_pace *pace, uint32_t set, size_t next);
/* Index of the first step that ends after `ticks`. */
size_t dw_division_find_step(const struct dw_pace *pace, uint64_t ticks);
void dw_division_choose_pace(struct dw_shares_pass *division, uint64_t ticks);
void dw_division_advance(struct dw_shares_pass *division, uint64_t ticks);
void dw_division_give(struct dw_shares_pass *division, uint64_t to);
void dw_division_resume(struct dw_shares_pass *division);
void dw_division_find_names(struct dw_shares_pass *division);

DW_INLINE bool dw_division_has_pace(struct dw_shares_pass *division, uint64_t ticks)
{
	if (__builtin_expect(division->pass->walk.thread != division->thread, 0))
		dw_division_choose_pace(division, ticks);
	return division->pace != NULL;
}

DW_INLINE void dw_division_count(struct dw_shares_pass *division, const struct dw_shares_frame *frame, uint32_t by)
{
	if (frame->share < DW_SHARE_COUNT) {
		division->open[frame->share] += by;
		division->set &= ~(1u << frame->share);
		division->set |= (uint32_t)(division->open[frame->share] > 0) << frame->share;
		division->plan.stale = true;
	}
	division->classes_open[frame->class] += by;
	/* From none to one, or from one to none. */
	division->plan.stale |= division->classes_open[frame->class] == (by == 1);
}

DW_INLINE bool dw_division_is_named(const struct dw_shares_frame *frame)
{
	return frame->share == DW_SHARE_COUNT && (frame->class == DW_CLASS_PHASE || frame->class == DW_CLASS_OWN);
}

/* Before the stack changes, assigns the time up to now to the ranges that are open. */
DW_INLINE void dw_shares_settle(void *pass, uint64_t ticks)
{
	struct dw_shares_pass *division = pass;

	if (__builtin_expect(ticks >= division->border, 0)) {
		if (dw_division_has_pace(division, ticks) && !division->resumed)
			dw_division_advance(division, ticks);
	} else if (division->plan.lazy && !division->plan.stale) {
		division->seen = ticks;
	} else if (ticks > division->last) {
		dw_division_give(division, ticks);
	}
}

DW_INLINE void dw_shares_enter(void *pass, void *place, const struct dw_here *here)
{
	struct dw_shares_pass *division = pass;
	struct dw_shares_frame *frame = place;
	uint32_t row = here->row;

	*frame = (struct dw_shares_frame){ row, DW_SHARE_COUNT, DW_CLASS_NONE, 0 };
	if (!division->pace) {
		if (division->collects)
			frame->others = dw_others_enter(&division->others, here->pass, here->ticks, row);
		return;
	}
	frame->share = division->all->shares[row];
	frame->class = division->all->classes[row];
	dw_division_count(division, frame, 1);
	if (__builtin_expect(division->resumed, 0)) {
		dw_division_resume(division);
	} else if (dw_division_is_named(frame)) {
		uint32_t *at = frame->class == DW_CLASS_PHASE ? &division->phase : &division->own;

		*at = *at ? *at : here->pass->depth;
		division->plan.stale = true;
	} else if (frame->class == DW_CLASS_OPERATOR) {
		dw_division_count_operator(division, row);
	}
}

static inline void dw_shares_unnest(void *pass, uint32_t place)
{
	struct dw_shares_pass *division = pass;

	division->unnested = place;
}

/* To be called when the frame that was at `place` has been removed from the stack. */
DW_INLINE void dw_division_end_name(struct dw_shares_pass *division, uint32_t place)
{
	bool before = place <= division->step_depth;

	division->step_depth -= before;
	if (place <= division->pass->depth || (before && division->around)) {
		dw_division_find_names(division);
		return;
	}
	division->plan.stale |= place == division->phase || place == division->own;
	if (division->phase == place)
		division->phase = 0;
	if (division->own == place)
		division->own = 0;
}

DW_INLINE void dw_shares_leave(void *pass, void *own, const struct dw_here *here)
{
	struct dw_shares_pass *division = pass;
	const struct dw_shares_frame *frame = own;
	uint32_t place = division->unnested ? division->unnested : here->pass->depth + 1;

	division->unnested = 0;
	if (!division->pace) {
		if (division->collects)
			dw_others_leave(&division->others, frame->others, here->ticks);
		return;
	}
	dw_division_count(division, frame, (uint32_t)-1);
	if (here->how == DW_LEAVE_END)
		dw_division_end_name(division, place);
}

static const struct dw_part dw_shares_part = {
	.worker_init = dw_shares_worker_init, .worker_reset = dw_shares_worker_reset,
	.rounds = 2, .begin_round = dw_shares_begin_round, .wants = dw_shares_wants,
	.begin = dw_shares_begin, .end = dw_shares_end, .enter = dw_shares_enter, .leave = dw_shares_leave,
	.settle = dw_shares_settle, .unnest = dw_shares_unnest, .flushed = dw_shares_flushed, .carried = dw_shares_carried,
};
