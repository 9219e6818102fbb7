/* Which threads and times are in scope. */
#pragma once

#include "model/core/model_data.h"

int dw_scope_resolve(struct dw_model *model, struct dwell_error *error);
/* Finds the threads that share their name with another one. -1: out of memory. */
int dw_scope_find_namesakes(struct dw_model *model);
static inline bool dw_scope_is_all(const struct dw_model *model)
{
	return !model->wanted_threads && !model->intervals;
}
/* Whether the stream can have records in scope. */
bool dw_scope_has_stream(const struct dw_model *model, const struct dw_source_stream *stream);
/* The wall time in scope. With several processes: from the first start to the last end, or, if only
 * part of the time is in scope, the longest of the processes. */
uint64_t dw_scope_wall_ns(const struct dw_model *model);
