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
	bool sampled;                    /* `selfs` is to be collected */
	struct dw_self *selfs;           /* malloc'ed, or NULL */
	uint32_t self_count;
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
	struct dw_self *owns;            /* grouped by step; malloc'ed */
	size_t own_count, own_capacity;
	/* Times in which threads of the process without steps communicated, and ran operators. */
	const struct dw_interval *communication, *operators;
	uint64_t helped_ticks;           /* time in steps in which backward waited for such an
	                                  * operator */
	/* State of the walk. */
	uint64_t last;                   /* all time before this has been assigned */
	size_t next;                     /* index of the step that contains the current time or
	                                  * follows it */
	bool inside;
	int beside;                      /* the share outside steps that got the previous instant;
	                                  * -1: it was in a step */
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
