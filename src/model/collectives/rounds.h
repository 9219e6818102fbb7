/*
 * Rounds: what a rank does from one collective to the next, where no step is marked.
 *
 * All ranks of a group have the same collectives, numbered. So a round of one rank is compared with the round of that number
 * of the others, as a step is. It begins when the rank leaves a collective, and ends when it leaves the next one. If a program
 * repeats a sequence of collectives, as a sum and a barrier, a round has all of them.
 *
 * Of each process those of one group and one thread count: the group with the most, and the thread that has most of those. Of a
 * process with messages alone, as the workers of a parameter server and the stages of a pipeline, those between two ranks count.
 */
#pragma once

#include "model/core/model.h"

struct dw_rounds {
	struct dw_model *model; /* of the same run and scope; its steps are the rounds. NULL: there are none */
	uint32_t *widths;       /* by process of the run: collectives of a round; 0: it has no rounds */
};

/* Valid as long as `model`. NULL with `error`: out of memory. A run with marked steps in several processes has no rounds. */
const struct dw_rounds *dw_model_rounds(struct dw_model *model, struct dwell_error *error);
