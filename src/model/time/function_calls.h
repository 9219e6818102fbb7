/*
 * Function calls: by function, and by caller and function. For the functions view, the pstats
 * layout and the .pstats export.
 */
#pragma once

#include "model/core/model.h"

struct dw_function_row {
	uint32_t symbol;      /* index into dw_model_symbols() */
	uint32_t caller;      /* index into dw_model_symbols(); only of an edge */
	uint64_t calls, primitive; /* primitive: not inside a call of the same function */
	uint64_t self_ns;
	uint64_t total_ns;    /* time of the primitive calls */
};

struct dw_function_calls {
	struct dw_function_row *rows;  /* by total, descending */
	size_t count;
	struct dw_function_row *edges; /* by symbol, then caller */
	size_t edge_count;
	uint64_t calls, primitive, self_ns, open; /* sums of the rows */
};

/* For the model's scope. NULL with `error`: out of memory. */
const struct dw_function_calls *dw_model_function_calls(struct dw_model *model, struct dwell_error *error);
