/* Functions that compute parts of device times (times.h). Only for the files of this folder. */
#pragma once

#include "model/core/model_data.h"
#include "model/device/times.h"

/* Computes the segments of a device from its events that have a class. `in_scope`: only from those
 * in scope. The caller frees *segments. False: out of memory. */
bool dw_device_sweep(const struct dw_device_work *work, const struct dw_model *model,
                     uint32_t device, bool in_scope, struct dw_device_segment **segments, size_t *count);
/* queues.c: fills times->queues. False: out of memory. */
bool dw_device_queue_times(struct dw_model *model, const struct dw_device_work *work, struct dw_device_times *times);
