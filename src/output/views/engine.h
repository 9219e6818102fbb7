/* Shared parts of the views `events` and `handlers` (engine.c). */
#pragma once

#include "model/device/device.h"
#include "model/engine/engine.h"
#include "views/columns.h"

#define DW_VIEW_ENGINE (DW_VIEW_CATEGORY(EVENT) | DW_VIEW_CATEGORY(HANDLER))

/* Times of an event or a handler. */
struct dw_view_times {
	struct dw_cell calls, total_ns, min_ns, min_index, max_ns, max_index, mean_ns, std_ns;
};
struct dw_view_times dw_view_times_of(const struct dw_time_stat *stat);
#define DW_VIEW_TIME_FIELDS(row, times)                                                                   \
	DW_FIELD_AS(row, times.calls, "calls", "calls", COUNT, INT, .total = DW_TOTAL_OWN),                    \
	DW_FIELD_AS(row, times.total_ns, "total_ns", "total", NS, INT, .total = DW_TOTAL_OWN),                 \
	DW_FIELD_AS(row, times.min_ns, "min_ns", "min", NS, INT),                                              \
	DW_FIELD_AS(row, times.min_index, "min_index", "at", NONE, INT),                                       \
	DW_FIELD_AS(row, times.max_ns, "max_ns", "max", NS, INT),                                              \
	DW_FIELD_AS(row, times.max_index, "max_index", "at", NONE, INT),                                       \
	DW_FIELD_AS(row, times.mean_ns, "mean_ns", "mean", NS, INT),                                           \
	DW_FIELD_AS(row, times.std_ns, "std_ns", "std", NS, INT)

/* Without numbers if no device worked for the row. */
struct dw_view_device dw_view_engine_device(const struct dw_engine_row *row);

/* Names the table's engine above and below the table. */
void dw_view_engine_state(struct dwell_table *table, struct dw_model *model, const struct dw_engine *engine);

/* Whether the caller asks for all rows, as CSV and JSON do: then each single time is listed too. */
static inline bool dw_view_wants_times(const struct dwell_view_options *options)
{
	return options->limit != 0;
}
