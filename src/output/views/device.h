/* What the views of devices share. */
#pragma once

#include "model/device/sums.h"
#include "views/common.h"

/* What a view says that needs events of devices. */
#define DW_VIEW_NEEDS_DEVICE                      \
	.needs = "events of devices",                 \
	.remedy = "import a trace of a run on GPUs: dwell report FILE reads Kineto's JSON"

/* The name of an event as text shows it: a kernel's C++ signature is shortened. */
#define DW_VIEW_KERNEL_NAME 73u /* bytes, with the NUL */
void dw_view_kernel_name(const struct dw_device_name *of, char to[DW_VIEW_KERNEL_NAME]);
/* "NVIDIA A100 0", "device 0"; with ranks "rank 1 device 0". */
const char *dw_view_device_name(const struct dw_model *model, uint32_t device, char buffer[256]);
/*
 * Columns of device time for views of the host: `device_ns` (self), `device_total_ns` and
 * `device_events`. dw_view_device_columns() copies the `count` columns of a view to `to` and adds
 * these if the run has events of devices: without such events the table is as before. Returns the
 * number of columns. The cells of the added columns follow the view's own.
 */
#define DW_VIEW_DEVICE_COUNT 3
size_t dw_view_device_columns(const struct dw_model *model, const struct dw_column *columns,
                              size_t count, struct dw_column *to);
/* Like dw_view_table(), with these columns. */
struct dwell_table *dw_view_table_with_device(struct dw_model *model, const char *view,
                                              const struct dw_column *columns, size_t count, struct dwell_error *error);
/* Fills these cells. `sum` NULL, or a sum without events: leaves them empty. */
void dw_view_device_cells(struct dw_cell *cells, const struct dw_device_sum *sum);
/* The cells of a row of totals: device time and events of all calls in scope. Returns false if out of
 * memory. */
bool dw_view_device_totals(struct dw_model *model, struct dw_cell *cells);

/* Says how much of the time devices were recorded, if that was in bursts. */
void dw_view_head_bursts(struct dwell_table *table, const struct dw_device_work *work);
/* Notes on events without a call and on clocks. */
void dw_view_note_device(struct dwell_table *table, const struct dw_device_work *work);
