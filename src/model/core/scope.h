/* The scope: which threads and which times count. */
#ifndef DW_MODEL_CORE_SCOPE_H
#define DW_MODEL_CORE_SCOPE_H

#include "model/core/model_data.h"

int dw_scope_resolve(struct dw_model *model, struct dwell_error *error);
/* Which threads need their tid to be told apart. -1: out of memory. */
int dw_scope_find_namesakes(struct dw_model *model);
static inline bool dw_scope_is_all(const struct dw_model *model)
{
	return !model->wanted_threads && !model->intervals;
}
/* Whether any record of the stream can be in scope. */
bool dw_scope_has_stream(const struct dw_model *model, const struct dw_source_stream *stream);
/* The process's wall time in scope. */
uint64_t dw_scope_wall_ns(const struct dw_model *model);

#endif
