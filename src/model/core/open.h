/* The ranges that are open at the end of a trace: where each thread of a live run is now. */
#pragma once

#include "model/core/model.h"

struct dw_open_range {
	uint32_t thread;       /* index into the source's threads */
	uint32_t symbol;
	uint64_t start_ns;
};

/* By thread, then begin: the outermost range of a thread first. Walks all records. The caller frees
 * the array. */
int dw_model_open_ranges(struct dw_model *model, struct dw_open_range **ranges, size_t *count,
                         struct dwell_error *error);
