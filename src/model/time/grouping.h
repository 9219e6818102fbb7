/* What makes calls of one name different rows, as users ask for it. */
#ifndef DW_MODEL_TIME_GROUPING_H
#define DW_MODEL_TIME_GROUPING_H

#include "dwell/dwell.h"

#include <stdbool.h>
#include <stdint.h>

/* What people ask to keep apart beside the name. */
struct dw_grouping {
	bool shapes;           /* of the arguments */
	bool overload;         /* the detail of an operator */
	uint32_t stack_frames; /* so many of the innermost frames; 0: none */
};
/* Reads "shape,overload,stack:5"; NULL and "" group by nothing. Errors: DWELL_E_NAME,
 * DWELL_E_ARGUMENT. */
int dw_grouping_parse(const char *text, struct dw_grouping *group, struct dwell_error *error);

#endif
