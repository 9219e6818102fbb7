/* What the views of devices share. */
#pragma once

#include "model/device/sums.h"
#include "views/columns.h"

/* What a view says that needs events of devices. */
#define DW_VIEW_NEEDS_DEVICE                      \
	.needs = "events of devices",                 \
	.remedy = "import a trace of a run on GPUs: dwell report FILE reads Kineto's JSON"

/* The name of an event as text shows it: a kernel's C++ signature is shortened. */
#define DW_VIEW_KERNEL_NAME 73u /* bytes, with the NUL */
void dw_view_kernel_name(const struct dw_device_name *of, char to[DW_VIEW_KERNEL_NAME]);
/* "NVIDIA A100 0", "device 0"; with ranks "rank 1 device 0". */
const char *dw_view_device_name(const struct dw_model *model, uint32_t device, char buffer[256]);
/* Says how much of the time devices were recorded, if that was in bursts. */
void dw_view_head_bursts(struct dwell_table *table, const struct dw_device_work *work);
/* dw_view_choose() with a sentence if the work of devices was recorded in bursts. */
struct dwell_table *dw_view_choose_device(struct dw_model *model, const char *view, const struct dw_column *columns,
                                          size_t count, unsigned has, struct dwell_error *error);
#define DW_VIEW_CHOOSE_DEVICE(model, view, columns, has, error) \
	dw_view_choose_device(model, view, columns, sizeof(columns) / sizeof *(columns), has, error)
/* Notes on events without a call and on clocks. */
void dw_view_note_device(struct dwell_table *table, const struct dw_device_work *work);
