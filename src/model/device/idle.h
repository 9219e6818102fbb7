/* Cuts the time of a device into pieces with one part each (times.h). Only for the files of this folder. */
#pragma once

#include "model/core/model_data.h"
#include "model/device/times.h"

struct dw_queue_wait;

/* What is known of a run's idle times. All zero is empty. */
struct dw_idle {
	const struct dw_model *model;
	const struct dw_device_work *work;
	uint32_t *syncs;        /* calls that wait for a device, by process and begin */
	size_t sync_count;
	size_t *process_syncs;  /* by process: index of its first one */
	uint64_t *sync_end;     /* by sync: the latest end of this one and earlier ones of its process */
	struct dw_queue_wait *waits; /* by queue and begin */
	size_t wait_count;
	bool *first;            /* by call: a first call, which took longer than a launch */
};

/* False: out of memory. Call the reset function in any case. */
bool dw_idle_begin(struct dw_idle *idle, const struct dw_model *model, const struct dw_device_work *work);
/* Makes the pieces of the segments of a device, by its index in the source. The caller frees pieces->at. False: out of memory. */
bool dw_idle_cut(const struct dw_idle *idle, uint32_t device, const struct dw_device_segment *segments, size_t count,
                 struct dw_device_pieces *pieces);
void dw_idle_reset(struct dw_idle *idle);
