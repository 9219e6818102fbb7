/* What distinguishes the rows of calls of one name, as the user requests it. */
#pragma once

#include "dwell/dwell.h"

struct dw_grouping {
	bool shapes;           /* shapes and element types of the arguments */
	bool sizes;            /* with `shapes`: only shapes, as PyTorch; users cannot request it */
	bool overload;         /* the detail of an operator */
	uint32_t stack_frames; /* how many innermost frames; 0: none */
	bool annotations;      /* the detail of a phase and of data loading; users cannot request it */
};
/* Parses "shape,overload,stack:5"; NULL and "" set nothing. Errors: DWELL_E_NAME,
 * DWELL_E_ARGUMENT. */
int dw_grouping_parse(const char *text, struct dw_grouping *group, struct dwell_error *error);
