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
 * only. What cannot be told: if one of two optimizers steps several times for each step of the other, whether these
 * are an inner loop; without a loader they are iterations here.
 *
 * Beside the steps of the trace, which everything else uses.
 */
#pragma once

#include "model/core/model.h"

enum dw_learned_why {
	DW_LEARNED_DECIDED,
	DW_LEARNED_MARKED,     /* the program, its user or its framework says what its steps are */
	DW_LEARNED_NO_UPDATES, /* no optimizer updates parameters, or not in all steps: a scaler may have skipped it */
	DW_LEARNED_UNRECORDED, /* some of the events are not in the trace */
	DW_LEARNED_NAMELESS,   /* of an older trace, which does not say which optimizer steps, and steps have several updates */
};

struct dw_learned_loop {
	enum dw_learned_why why;
	size_t first, count;   /* its iterations in dw_learned.steps; none, unless they are decided */
	size_t same;           /* of these, how many overlap one step of the trace that overlaps no other: decided alike */
};

struct dw_learned {
	struct dw_source_step *steps;
	size_t count;
	struct dw_learned_loop *loops; /* by index of dw_steps.loops */
	size_t loop_count;
};

/* NULL with `error`: out of memory. */
const struct dw_learned *dw_model_learned(struct dw_model *model, struct dwell_error *error);

/* For loop_phases_product.c, which has the updates of each loop. False: out of memory. */
struct dw_phase_loop;
struct dw_steps;
bool dw_learned_decide(struct dw_model *model, const struct dw_steps *steps, const struct dw_phase_loop *loops,
                       struct dw_learned *learned);
