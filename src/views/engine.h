/* What the views `events` and `handlers` share (engine.c). */
#ifndef DW_VIEWS_ENGINE_H
#define DW_VIEWS_ENGINE_H

#include "model/engine/engine.h"
#include "views/common.h"

#define DW_VIEW_ENGINE (DW_VIEW_CATEGORY(EVENT) | DW_VIEW_CATEGORY(HANDLER))

/* After the columns that say what a row is. */
#define DW_VIEW_TIME_COLUMNS                                                             \
	DW_COLUMN("calls", "calls", COUNT, INT),                                    \
	DW_COLUMN("total_ns", "total", NS, INT),                                    \
	DW_COLUMN("min_ns", "min", NS, INT),                                        \
	DW_COLUMN("min_index", "at", NONE, INT),                                    \
	DW_COLUMN("max_ns", "max", NS, INT),                                        \
	DW_COLUMN("max_index", "at", NONE, INT),                                    \
	DW_COLUMN("mean_ns", "mean", NS, INT),                                      \
	DW_COLUMN("std_ns", "std", NS, INT)
#define DW_VIEW_TIME_COUNT 8
void dw_view_time(struct dw_cell *cells, const struct dw_time_stat *stat);

/* Says above and below the table which engine it is about. */
void dw_view_engine_state(struct dwell_table *table, struct dw_model *model,
                          const struct dw_engine *engine);

/* Whether every time is wanted too: all rows are, as CSV and JSON want them. */
static inline bool dw_view_wants_times(const struct dwell_view_options *options)
{
	return options->limit != 0;
}

#endif
