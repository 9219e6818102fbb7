/*
 * Shares: divides the time of the threads that have steps.
 *
 * steps_product.c prepares one dw_pace for each such thread. A walk over the streams (division.h)
 * assigns every tick of these threads to one share of one step, or to the time outside the steps.
 * Segments of a stream may be walked in any order and in parallel: each adds sums and a piece, the
 * time that it has divided. dw_shares_finish() divides the time between the pieces, in which
 * nothing was open.
 */
#pragma once

#include "model/core/model_data.h"
#include "model/steps/other_threads.h"
#include "model/steps/steps.h"

/* Time of a step in which the innermost range was of one row. */
struct dw_self {
	uint32_t row;
	uint64_t ticks;
};

/* Time of a step under a name of the program. */
struct dw_own {
	uint64_t ticks;
	uint32_t row;
	uint32_t order; /* of the entries of a piece */
	size_t step;    /* index into the pace's steps */
	uint64_t from;  /* where the piece begins */
};

/* What is added up for a step. */
struct dw_step_sums {
	uint64_t share_ticks[DW_SHARE_COUNT];
	/* Whatever share the time has. By enum dw_whole: while such a range is open. */
	uint64_t whole_ticks[DW_WHOLE_COUNT];
	uint64_t operator_ticks; /* in an operator, outside data loading */
	uint64_t operator_count; /* of these, those that began in the step */
	uint64_t called_count;                        /* of operator_count, not in another one and not in backward */
	uint64_t optimizer_count;                     /* of operator_count, in the optimizer */
	bool closure;                                 /* the optimizer ran forward or backward */
	uint64_t helped_ticks;                        /* in which backward waited for operators of other threads */
};

struct dw_pace_step {
	uint64_t start_ticks, end_ticks; /* the steps of a pace ascend and do not overlap */
	struct dw_step_sums sums;
	size_t own_first; /* index into dw_pace.owns: the names of the time in
	                   * DW_SHARE_NAMED */
	uint32_t own_count;
	uint64_t before_ticks; /* communication between the step before it and this one */
	bool sampled;          /* `selfs` is to be collected */
	bool reduced;          /* recorded without operators and layers */
	bool usual;            /* sampled and steady: its operators count in dw_pace.rows */
	uint8_t class;         /* of the iteration that it begins: enum dw_iteration_class */
	struct dw_self *selfs; /* malloc'ed, or NULL */
	uint32_t self_count;
};

/* What a thread's operators took in its usual steps, and its operators and named ranges between its
 * steps. */
struct dw_pace_row {
	uint64_t ticks, count; /* self time and calls in the usual steps, not in data loading */
	uint64_t moved_ticks;  /* self time of operators there that copied or cleared memory for it */
	/* Time in outside_ticks[OPERATORS] or [NAMED] of a pace, by the class of the iteration. */
	uint64_t outside_ticks[DW_ITERATION_CLASSES];
	uint64_t outside_count; /* calls of operators in outside_ticks[OPERATORS] */
	bool touched;           /* of a worker's: it may have some of these */
};

enum { DW_BESIDE_START = DW_SHARE_COUNT, DW_BESIDE_AFTER, DW_BESIDE_SUMMED, DW_BESIDE_COUNT };

/* Instead of a share outside steps; see struct dw_pace_piece. */
enum { DW_OUT_IN_STEP = -1, DW_OUT_NOTHING = -2 };

/* The time outside steps, divided in two ways. */
struct dw_out_sums {
	uint64_t beside_ticks[DW_BESIDE_COUNT], beside_counts[DW_BESIDE_COUNT];
	/* Between the first step and the last one: by enum dw_share. Evaluation and checkpoints come
	 * first, the time of other ranges is OPERATORS, NAMED, LAYERS or FUNCTIONS. */
	uint64_t outside_ticks[DW_ITERATION_CLASSES][DW_SHARE_COUNT], outside_counts[DW_SHARE_COUNT];
	uint64_t reduced_ticks[DW_ITERATION_CLASSES]; /* before reduced steps: OTHER, or operators that were not recorded */
};

/* The shares of an instant in both divisions. DW_OUT_IN_STEP: the instant is in a step, or before
 * the first or after the last one (`outside`). */
struct dw_out {
	int beside, outside;
};

/* A time of a thread that a segment has divided. */
struct dw_pace_piece {
	uint64_t from, to;
	struct dw_out first, last; /* of its first and its last instant */
};

/* A thread with steps. */
struct dw_pace {
	uint32_t process, thread;
	size_t stream;                   /* index; the source's stream_count: it has no records */
	uint64_t start_ticks, end_ticks; /* begin and end of its wall time */
	struct dw_pace_step *steps;
	size_t count, first_step; /* `first_step`: index of steps[0] among all steps */
	struct dw_out_sums out;
	struct dw_pace_row *rows; /* by row; malloc'ed */
	struct dw_own *owns;      /* grouped by step when finished; malloc'ed */
	size_t own_count, own_capacity;
	struct dw_pace_piece *pieces; /* malloc'ed */
	size_t piece_count, piece_capacity;
};

/* What a range of a row is for the division. */
struct dw_row_kind {
	uint8_t share; /* enum dw_share; DW_SHARE_COUNT: none */
	uint8_t class; /* enum dw_share_class */
	bool moves;    /* an operator that only copies or clears memory */
	bool plain;    /* another operator without a share of its own */
	bool named;    /* a phase or a range of the program without a share of its own: its name is a part of the step */
};

/* The class of the iteration between whose step and steps[next] a time lies. */
static inline unsigned dw_pace_class(const struct dw_pace *pace, size_t next)
{
	return pace->steps[next - 1].class;
}

/* What all walkers share. */
struct dw_shares {
	struct dw_model *model;
	struct dw_pace *paces;
	size_t count;
	uint32_t *by_thread;       /* index of the thread's pace; DW_NO_INDEX: it has no steps */
	bool *steps;               /* by thread: it has steps */
	bool *stream_steps;        /* by stream: threads with steps write into it */
	struct dw_row_kind *kinds; /* by row */
	bool *plain, *named;       /* by row: the same as in `kinds`, without phases */
	struct dw_others_sums others;
	const struct dw_others *times; /* by process; NULL: the streams without steps are to be walked first */
	bool alone;                    /* the walk is for the steps alone */
	bool walked_mixed;             /* so are the streams that threads with and without steps hand on to each other */
	pthread_mutex_t lock;          /* for the paces */
	bool failed;
};

/* False: out of memory. Call the reset function in any case; `paces` remains the caller's. */
bool dw_shares_init(struct dw_shares *shares, struct dw_model *model, struct dw_pace *paces, size_t count);
void dw_shares_reset(struct dw_shares *shares);
/* Walks what is needed of all streams, for the steps alone: the pieces, or NULL for whole streams. */
bool dw_shares_walk(struct dw_shares *shares, const struct dw_segments *pieces);
/* Call it when all streams have been walked. False: out of memory. */
bool dw_shares_finish(struct dw_shares *shares);
