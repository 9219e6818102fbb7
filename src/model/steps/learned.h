/*
 * The iterations of a learning loop, decided by the reader from its updates and batches.
 *
 * While the program runs, PyTorch's probe must say at once what a step is, and cannot take it back: which of several
 * optimizers ends a step, and whether a batch begins one, is known only later. Here all updates are known:
 *
 *     an iteration begins with what leads to an update: a batch, zero_grad(), a call, a backward
 *     it ends with the last update before a batch is got, or before an optimizer steps that has stepped in it
 *
 * So several optimizers step once each in an iteration, also if one of them joins later or steps in some iterations
 * only. If one steps in a loop of the program within that of another one, all its steps there belong to the iteration
 * of the outer loop. The trace says in which loops optimizers step; where it does not and this matters, nothing is
 * decided.
 *
 * A step of the trace in which no optimizer steps is an iteration as it is.
 */
#pragma once

#include "model/core/model.h"

enum dw_learned_why {
	DW_LEARNED_DECIDED,
	DW_LEARNED_MARKED,     /* the program, its user or its framework says what its steps are */
	DW_LEARNED_NO_UPDATES, /* no optimizer updates parameters */
	DW_LEARNED_UNRECORDED, /* some of the events are not in the trace, or no iteration has all of its operators */
	DW_LEARNED_NAMELESS,  /* of an older trace, which does not say which optimizer steps, and steps have several updates
	                       */
	DW_LEARNED_AMBIGUOUS, /* one of several optimizers steps again and again: not known whether in a loop within another
	                         one */
};

struct dw_learned_loop {
	enum dw_learned_why why;
	size_t first, count; /* its iterations in dw_learned.steps; none, unless they are decided */
	size_t same;         /* of these, how many overlap one step of the trace that overlaps no other: decided alike */
};

struct dw_learned {
	struct dw_source_step *steps;
	size_t count;
	struct dw_learned_loop *loops; /* by index of dw_steps.loops */
	size_t loop_count;
};

/* "decided". */
const char *dw_learned_why_text(enum dw_learned_why why);

/* NULL with `error`: out of memory. */
const struct dw_learned *dw_model_learned(struct dw_model *model, struct dwell_error *error);

/*
 * Gives the source the iterations as its steps, of those loops in which they are others than the steps of the trace.
 * Call it before a model of the source is made. A trace that a program is still writing keeps its steps, and so do
 * older traces. One in which no second optimizer steps does, too, and needs no walk: there both are the same.
 */
int dw_learned_apply(struct dw_source *source, struct dwell_error *error);

/* For loop_phases_product.c, which has the updates of each loop. False: out of memory. */
struct dw_phase_loop;
struct dw_steps;
bool dw_learned_decide(struct dw_model *model, const struct dw_steps *steps, const struct dw_phase_loop *loops,
                       struct dw_learned *learned);
