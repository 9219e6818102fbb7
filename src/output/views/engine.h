/* Shared parts of the views `events` and `handlers` (engine.c). */
#pragma once

#include "model/device/device.h"
#include "model/engine/engine.h"
#include "views/common.h"

#define DW_VIEW_ENGINE (DW_VIEW_CATEGORY(EVENT) | DW_VIEW_CATEGORY(HANDLER))

/* The columns of times, which follow the columns that identify a row. */
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

/* Further columns if the run has events of devices. */
#define DW_VIEW_ENGINE_DEVICE_COLUMNS                                                    \
	DW_COLUMN("device_ns", "device", NS, INT),                                  \
	DW_COLUMN("device_events", "device events", COUNT, INT, .wide_only = true)
#define DW_VIEW_ENGINE_DEVICE_COUNT 2
void dw_view_engine_device(struct dw_cell *cells, const struct dw_engine_row *row);

/* Names the table's engine above and below the table. */
void dw_view_engine_state(struct dwell_table *table, struct dw_model *model, const struct dw_engine *engine);

/* Whether the caller asks for all rows, as CSV and JSON do: then each single time is listed too. */
static inline bool dw_view_wants_times(const struct dwell_view_options *options)
{
	return options->limit != 0;
}
