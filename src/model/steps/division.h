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
	struct dw_row_kind kind;
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

/* Where time in a step is added while the same kinds of ranges are open. What the innermost ranges get is added at each
 * record, the rest when the plan ends. */
struct dw_division_plan {
	bool stale;              /* ranges or the step have changed: it is to be made again */
	bool operators;          /* to the operators' time, without those for data */
	bool usual, sampled;     /* to the innermost operator's row; to the innermost range's self time */
	bool closure;            /* an optimizer's step runs forward or backward */
	bool backward;           /* what other threads do meanwhile has precedence over `share` */
	uint8_t share;
	uint32_t wholes;         /* bits of whole_ticks */
	uint32_t named;          /* row of the range that names the time; DW_NO_INDEX: none */
};

/* What an operator that begins now counts as. */
struct dw_division_calls {
	bool stale;      /* ranges or the step have changed */
	bool in_step;    /* a call in a step, outside data loading */
	bool called;     /* not in backward */
	bool optimizer;
	bool usual;      /* of its row, too */
	bool outside;    /* a call of its row between steps */
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
	struct dw_division_plan plans[2]; /* while no operator is open, and while one is: operators come and go, the rest stays */
	struct dw_division_plan *plan;    /* that of now */
	struct dw_division_calls calls;
	/* Before this time no step ends, and it is known what to do when plain operators begin and end. `inner` gets the time: what the
	 * innermost operator has, or `nobody`. */
	uint64_t quick, *inner, nobody;
	uint64_t outermost;      /* ranges of the burst that were in no other range of it */
	bool burst_names;        /* its ranges are named by the program */
	bool burst_gives;        /* its time counts under these names: no range around the burst claims it */
	const struct dw_row_kind *kinds;
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
void dw_shares_burst_end(void *pass, struct dw_burst *burst);
void dw_shares_inside(void *pass, uint64_t ticks, const struct dw_burst *burst);

/* Internal: see division.c. */
void dw_division_choose_calls(struct dw_shares_pass *division);
void dw_division_quicken(struct dw_shares_pass *division);
struct dw_pace_row *dw_division_touch(const struct dw_shares_pass *division, uint32_t row);
void dw_division_give_mover(struct dw_shares_pass *division, uint64_t ticks);
bool dw_division_burst_names(struct dw_shares_pass *division, struct dw_burst *burst);
void dw_division_give_name(const struct dw_shares_pass *division, uint32_t row, uint64_t ticks);
void dw_division_give_row(const struct dw_shares_pass *division, uint32_t row, uint64_t ticks);
void dw_division_give_self(struct dw_shares_pass *division, uint64_t ticks);
void dw_division_catch_up(struct dw_shares_pass *division);
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

/* Ranges or the step have changed: what was decided for them no longer holds. */
DW_INLINE void dw_division_change(struct dw_shares_pass *division)
{
	division->plans[0].stale = division->plans[1].stale = division->calls.stale = true;
	division->quick = 0;
}

/* A range begins (`by` is 1) or ends (-1). */
DW_INLINE void dw_division_count(struct dw_shares_pass *division, const struct dw_shares_frame *frame, uint32_t by)
{
	const struct dw_row_kind kind = frame->kind;

	if (kind.share < DW_SHARE_COUNT) {
		division->open[kind.share] += by;
		division->set &= ~(1u << kind.share);
		division->set |= (uint32_t)(division->open[kind.share] > 0) << kind.share;
		dw_division_change(division);
	}
	if ((division->classes_open[kind.class] += by) != (by == 1))
		return;
	/* From none to one, or from one to none. */
	if (kind.class != DW_CLASS_OPERATOR) {
		dw_division_change(division);
		return;
	}
	dw_division_catch_up(division);
	division->plan = &division->plans[by == 1];
}

DW_INLINE bool dw_division_is_named(const struct dw_shares_frame *frame)
{
	return frame->kind.named;
}

/* What the worker counts of a row in this piece. */
DW_INLINE struct dw_pace_row *dw_division_row(const struct dw_shares_pass *division, uint32_t row)
{
	struct dw_pace_row *at = &division->worker->rows[row];

	return __builtin_expect(at->touched, 1) ? at : dw_division_touch(division, row);
}

/* The plan is valid up to `ticks`. The innermost open operator and range get this time as their self time. */
DW_INLINE void dw_division_see(struct dw_shares_pass *division, uint64_t ticks)
{
	if (division->plan->usual) {
		const struct dw_shares_frame *frame =
			(const void *)((const char *)dw_pass_at(division->pass, division->frame_bytes, division->pass->depth) +
		                   division->frame_offset);

		if (__builtin_expect(frame->kind.class == DW_CLASS_OPERATOR && !frame->kind.moves, 1))
			dw_division_row(division, frame->row)->ticks += ticks - division->seen;
		else
			dw_division_give_mover(division, ticks - division->seen);
	}
	if (__builtin_expect(division->plan->sampled, 0))
		dw_division_give_self(division, ticks - division->seen);
	division->seen = ticks;
}

/* An operator begins. */
DW_INLINE void dw_division_count_operator(struct dw_shares_pass *division, uint32_t row)
{
	if (__builtin_expect(division->calls.stale, 0))
		dw_division_choose_calls(division);
	if (division->calls.in_step) {
		division->sums.operator_count++;
		division->sums.called_count += division->calls.called && division->classes_open[DW_CLASS_OPERATOR] == 1;
		division->sums.optimizer_count += division->calls.optimizer;
		if (division->calls.usual)
			dw_division_row(division, row)->count++;
	} else if (division->calls.outside) {
		dw_division_row(division, row)->outside_count++;
	}
}

/* Before the stack changes, assigns the time up to now to the ranges that are open. */
DW_INLINE void dw_shares_settle(void *pass, uint64_t ticks)
{
	struct dw_shares_pass *division = pass;

	if (__builtin_expect(ticks < division->quick, 1)) {
		*division->inner += ticks - division->seen;
		if (__builtin_expect(division->plan->sampled, 0))
			dw_division_give_self(division, ticks - division->seen);
		division->seen = ticks;
	} else if (__builtin_expect(ticks >= division->border, 0)) {
		if (dw_division_has_pace(division, ticks) && !division->resumed)
			dw_division_advance(division, ticks);
	} else if (!division->plan->stale) {
		dw_division_see(division, ticks);
	} else if (ticks > division->last) {
		dw_division_give(division, ticks);
	}
}

/* A range begins, and it may change what the time is for. */
DW_INLINE void dw_division_enter(struct dw_shares_pass *division, struct dw_shares_frame *frame, const struct dw_here *here)
{
	dw_division_count(division, frame, 1);
	if (__builtin_expect(division->resumed, 0)) {
		dw_division_resume(division);
	} else if (dw_division_is_named(frame)) {
		uint32_t *at = frame->kind.class == DW_CLASS_PHASE ? &division->phase : &division->own;

		*at = *at ? *at : here->pass->depth;
		dw_division_change(division);
	} else if (frame->kind.class == DW_CLASS_OPERATOR) {
		dw_division_count_operator(division, here->row);
	}
	dw_division_quicken(division);
}

/* An operator begins where none is open, or the last one ends. */
DW_INLINE void dw_division_cross(struct dw_shares_pass *division, bool open)
{
	dw_division_catch_up(division);
	division->plan = &division->plans[open];
	if (__builtin_expect(division->plan->stale, 0))
		division->quick = 0;
}

DW_INLINE void dw_shares_enter(void *pass, void *place, const struct dw_here *here)
{
	struct dw_shares_pass *division = pass;
	struct dw_shares_frame *frame = place;
	uint32_t row = here->row;

	*frame = (struct dw_shares_frame){ row, division->kinds[row], 0 };
	if (__builtin_expect(here->ticks < division->quick && frame->kind.plain, 1)) {
		if (!division->classes_open[DW_CLASS_OPERATOR]++) {
			dw_division_cross(division, true);
			division->sums.called_count += division->calls.called;
		}
		division->sums.operator_count++;
		division->sums.optimizer_count += division->calls.optimizer;
		if (division->calls.usual) {
			struct dw_pace_row *at = dw_division_row(division, row);

			at->count++;
			division->inner = &at->ticks;
		}
	} else if (division->pace) {
		dw_division_enter(division, frame, here);
	} else if (division->collects) {
		frame->others = dw_others_enter(&division->others, here->pass, here->ticks, row);
	}
}

static inline void dw_shares_unnest(void *pass, uint32_t place)
{
	struct dw_shares_pass *division = pass;

	division->unnested = place;
}

/* To be called when the frame that was at `place` has been removed from the stack. */
DW_INLINE void dw_division_end_name(struct dw_shares_pass *division, const struct dw_shares_frame *frame, uint32_t place)
{
	bool before = place <= division->step_depth;

	if (__builtin_expect(!before && place > division->pass->depth && !dw_division_is_named(frame), 1))
		return;
	division->step_depth -= before;
	if (place <= division->pass->depth || (before && division->around)) {
		dw_division_find_names(division);
		return;
	}
	if (place != division->phase && place != division->own)
		return;
	dw_division_change(division);
	if (division->phase == place)
		division->phase = 0;
	if (division->own == place)
		division->own = 0;
}

DW_INLINE void dw_shares_leave(void *pass, void *own, const struct dw_here *here)
{
	struct dw_shares_pass *division = pass;
	const struct dw_shares_frame *frame = own, *around = (const void *)((const char *)own - division->frame_bytes);
	uint32_t place;

	if (__builtin_expect(here->ticks < division->quick && frame->kind.plain && here->pass->depth >= division->step_depth &&
	                         !division->unnested && here->how == DW_LEAVE_END, 1)) {
		if (!--division->classes_open[DW_CLASS_OPERATOR]) {
			dw_division_cross(division, false);
			division->inner = &division->nobody;
		} else if (division->calls.usual && around->kind.plain) {
			division->inner = &dw_division_row(division, around->row)->ticks;
		} else if (division->calls.usual) {
			division->quick = 0;
		}
		return;
	}
	place = division->unnested ? division->unnested : here->pass->depth + 1;
	division->unnested = 0;
	if (!division->pace) {
		if (division->collects)
			dw_others_leave(&division->others, frame->others, here->ticks);
		return;
	}
	dw_division_count(division, frame, (uint32_t)-1);
	if (here->how == DW_LEAVE_END)
		dw_division_end_name(division, frame, place);
	dw_division_quicken(division);
}

/* Whether a burst of plain operators or of named ranges may begin: only if no cached plan of the division is out of date. */
static inline bool dw_shares_burst(void *pass, struct dw_burst *burst)
{
	struct dw_shares_pass *division = pass;
	const struct dw_division_plan *plan = division->plan, *open = &division->plans[1];

	division->outermost = 0;
	division->burst_names = division->all->named[burst->row];
	if (division->burst_names)
		return dw_division_burst_names(division, burst);
	if (burst->ticks >= division->quick || plan->stale || plan->backward || open->stale || open->backward)
		return false;
	dw_shares_settle(division, burst->ticks);
	burst->until = division->quick;
	burst->plain = division->all->plain;
	return true;
}

DW_INLINE void dw_shares_ended(void *pass, const struct dw_burst_range *range)
{
	struct dw_shares_pass *division = pass;

	division->outermost += range->depth == 1;
	if (division->burst_names) {
		if (range->depth == 1 && division->burst_gives)
			dw_division_give_name(division, range->row, range->duration);
	} else if (division->calls.usual) {
		struct dw_pace_row *at = dw_division_row(division, range->row);

		at->count++;
		at->ticks += range->self;
	}
	if (division->plan->sampled)
		dw_division_give_row(division, range->row, range->self);
}

static const struct dw_part dw_shares_part = {
	.worker_init = dw_shares_worker_init, .worker_reset = dw_shares_worker_reset,
	.rounds = 2, .begin_round = dw_shares_begin_round, .wants = dw_shares_wants,
	.begin = dw_shares_begin, .end = dw_shares_end, .enter = dw_shares_enter, .leave = dw_shares_leave,
	.settle = dw_shares_settle, .unnest = dw_shares_unnest, .flushed = dw_shares_flushed, .carried = dw_shares_carried,
	.burst = dw_shares_burst, .ended = dw_shares_ended, .burst_end = dw_shares_burst_end, .inside = dw_shares_inside,
};
