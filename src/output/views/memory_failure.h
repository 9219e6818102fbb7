/* What is said of a run in which memory ran out; see struct dw_memory_failure. */
#pragma once

#include "model/memory/memory.h"
#include "views/common.h"

extern const struct dw_column_list dw_view_memory_failure_columns;

/* The pool whose failure is reported: the last one. NULL: memory did not run out. */
const struct dw_memory_pool *dw_view_memory_failure(const struct dw_memory *memory);
/* Says it above a table, with what held the memory, if memory ran out. */
void dw_view_head_memory_failure(struct dwell_table *table, struct dw_model *model);
/* What held it. Only if there is a failure. */
struct dwell_table *dw_view_memory_failure_table(struct dw_model *model, const struct dw_memory *memory, struct dwell_error *error);
