/* An account while it is made: of the loop (make.c), and of the time before and after it (ends.c). Only for this
 * folder. */
#pragma once

#include "account/cells.h"
#include "account/parts.h"
#include "account/team.h"
#include "model/steps/steps.h"

struct dw_making {
	struct dw_model *model;
	const struct dw_source *source;
	struct dw_account *to;
	struct dw_account_parts parts;
	struct dw_cells cells;
	struct dw_team work;
	uint32_t *first, *next; /* the cells of each part, by part, and by cell; DW_NO_INDEX ends */
	const struct dw_samples *samples, *waits, *team; /* of CPU time, of waits, and of the other threads */
	struct dw_account_margins margins[DW_ITERATION_CLASSES];
	double faults_ns; /* for which the thread ran in page faults */
	double faults;    /* the same as a part of what touches memory */
	bool native;      /* stacks have native frames, and not those of Python alone */
	uint32_t wheres;  /* bits of enum dw_sample_where: whose samples count */
	bool failed;
};

/* The loop of the account. NULL: there is none. */
const struct dw_loop *dw_making_loop(const struct dw_steps *steps);
bool dw_making_is_python(const struct dw_making *making);
/* Sets `making` for an account of the thread's time, without its parts and states. False: out of memory. */
bool dw_making_begin(struct dw_making *making, struct dw_model *model, struct dw_account *to, uint32_t thread,
                     double wall_ns, uint32_t wheres);
/* Divides the account's parts and states into cells. */
void dw_making_divide(struct dw_making *making);
/* Frees what the making took. In any case; false: memory ran out at some point. */
bool dw_making_end(struct dw_making *making);
