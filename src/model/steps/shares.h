/*
 * Shares: divides the time of a thread that has steps.
 *
 * steps.c prepares one dw_pace for each such thread. dw_pace_walk() reads the records of a stream
 * once and assigns every tick of its threads to one share of one step, or to the time outside the
 * steps.
 */
#ifndef DW_MODEL_STEPS_SHARES_H
#define DW_MODEL_STEPS_SHARES_H

#include "model/core/model_data.h"
#include "model/core/share_names.h"
#include "model/steps/steps.h"

/* Time of a step in which the innermost range was of one row. */
struct dw_self {
	uint32_t row;
	uint64_t ticks;
};

struct dw_pace_step {
	uint64_t start_ticks, end_ticks; /* the steps of a pace ascend and do not overlap */
	uint64_t share_ticks[DW_SHARE_COUNT];
	size_t own_first;                /* index into dw_pace.owns: the names of the time in
	                                  * DW_SHARE_NAMED */
	uint32_t own_count;
	/* Whatever share the time has. By enum dw_whole: while such a range is open. */
	uint64_t whole_ticks[DW_WHOLE_COUNT];
	uint64_t operator_ticks, data_operator_ticks; /* in an operator; outside and in data loading */
	uint32_t operator_count, data_operator_count; /* operators that began in the step; the same */
	uint32_t optimizer_count;        /* of operator_count, in the optimizer */
	uint64_t helped_ticks;           /* in which backward waited for operators of other threads */
	bool sampled;                    /* `selfs` is to be collected */
	bool usual;                      /* sampled and not slow: its operators count in dw_pace.rows */
	struct dw_self *selfs;           /* malloc'ed, or NULL */
	uint32_t self_count;
};

/* What a thread's operators took in its usual steps, and its operators and named ranges between its
 * steps. */
struct dw_pace_row {
	uint64_t ticks, count;       /* self time and calls in the usual steps, not in data loading */
	uint64_t outside_ticks;      /* time in outside_ticks[OPERATORS] or [NAMED] of a pace */
};

enum { DW_BESIDE_START = DW_SHARE_COUNT, DW_BESIDE_AFTER, DW_BESIDE_SUMMED, DW_BESIDE_COUNT };

/* A thread with steps, and the state of its walk. */
struct dw_pace {
	uint32_t process, thread;
	size_t stream;                   /* index; the source's stream_count: it has no records */
	uint64_t start_ticks, end_ticks; /* begin and end of its wall time */
	struct dw_pace_step *steps;
	size_t count, first_step;        /* `first_step`: index of steps[0] among all steps */
	uint64_t beside_ticks[DW_BESIDE_COUNT], beside_counts[DW_BESIDE_COUNT];
	/* Between the first step and the last one, outside of steps: by enum dw_share. Evaluation and
	 * checkpoints come first, the time of other ranges is OPERATORS, NAMED, LAYERS or FUNCTIONS. */
	uint64_t outside_ticks[DW_SHARE_COUNT], outside_counts[DW_SHARE_COUNT];
	struct dw_pace_row *rows;        /* by row; malloc'ed */
	struct dw_self *owns;            /* grouped by step; malloc'ed */
	size_t own_count, own_capacity;
	/* Times in which threads of the process without steps communicated, and ran operators. */
	const struct dw_interval *communication, *operators;
	/* State of the walk. */
	uint64_t last;                   /* all time before this has been assigned */
	size_t next;                     /* index of the step that contains the current time or
	                                  * follows it */
	bool inside;
	int beside;                      /* the share outside steps that got the previous instant;
	                                  * -1: it was in a step */
	int outside;                     /* the same for outside_ticks */
};

/* Walks the stream of `paces`, which must be the same for all of them. -1: out of memory. */
int dw_pace_walk(struct dw_model *model, struct dw_pace *paces, size_t count);

/* What threads without steps did (other_threads.c). */
struct dw_helpers {
	const struct dw_interval *communication, *operators; /* ends with an interval that starts at
	                                                      * UINT64_MAX */
};
/* Returns an array by process, in the model's arena. `steps`: by thread, whether it has steps.
 * NULL: out of memory. */
struct dw_helpers *dw_helpers_find(struct dw_model *model, const bool *steps);

#endif
