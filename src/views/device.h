/* What the views of devices share. */
#ifndef DW_VIEWS_DEVICE_H
#define DW_VIEWS_DEVICE_H

#include "model/device/device.h"
#include "views/common.h"

/* What a view says that needs events of devices. */
#define DW_VIEW_NEEDS_DEVICE                      \
	.needs = "events of devices",                 \
	.remedy = "import a trace of a run on GPUs: dwell report FILE reads Kineto's JSON"

/* "NVIDIA A100 0", "device 0"; with ranks "rank 1 device 0". */
const char *dw_view_device_name(const struct dw_model *model, uint32_t device, char buffer[256]);
/* Notes on events without a call and on clocks. */
void dw_view_note_device(struct dwell_table *table, const struct dw_device_work *work);

#endif
