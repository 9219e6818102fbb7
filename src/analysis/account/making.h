/* What is known of an account while it is made. Only for this folder. */
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

static inline bool dw_making_is_python(const struct dw_making *making)
{
	const struct dw_source *source = making->source;

	return source->processes[source->threads[making->to->thread].process].flags & DW_PROCESS_PYTHON;
}
