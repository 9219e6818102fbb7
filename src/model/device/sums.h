/*
 * Device sums: the device time that parts of the program caused.
 *
 * The device time of a call is the sum of the durations of its events that have a class; it belongs
 * to the ranges around the call (dw_device_next_owner()). `self` is the time of the calls for which
 * a range is the innermost of its kind; `total` is that of all calls in it. A call counts once for
 * a row, also if several ranges of the row are around it. Events of one device overlap, so device
 * times of rows can add up to more than wall time. Only calls in scope count.
 *
 * A trace without events of devices has none of these products: ask dw_model_has_device() first.
 */
#pragma once

#include "model/device/device.h"
#include "model/steps/steps.h"
#include "model/time/calls.h"

struct dw_device_sum {
	uint64_t self_ns, total_ns;
	uint64_t self_events, total_events; /* number of the events */
};

/* By row (dw_model_symbol_row()), for ranges of these categories (1 << category). NULL with `error`
 * if memory ran out, here and below. */
const struct dw_device_sum *dw_model_device_by_row(struct dw_model *model, uint32_t categories,
                                                   struct dwell_error *error);

/* By index of the rows of dw_model_calls() with the same request. The row of the steps has the total
 * of the calls that were made for a thread while it was in a step. With `all_ranges` as in
 * torch.profiler's table: waits are included, events without an operator belong to no row, and a
 * thread's events only to ranges of that thread. */
const struct dw_device_sum *dw_model_device_by_call(struct dw_model *model, const struct dw_calls_ask *ask,
                                                    struct dwell_error *error);

/* Whether torch.profiler counts events of this kind as a device's time: work and waits. */
bool dw_device_is_torch_event(uint32_t kind);

/* ---- device time by time of the call ----------------------------------------------------------- */

struct dw_device_amount {
	uint64_t ns, events;
};

enum dw_device_whose {
	DW_DEVICE_OF_THREAD,  /* calls of the thread */
	DW_DEVICE_FOR_THREAD, /* calls that were made for the thread, also by other threads */
	DW_DEVICE_WHERE_MADE, /* as OF_THREAD, but what a graph launches at the time and in the thread in which its nodes were made */
};

/* A call with device time in scope, and the sums of the calls before it in its list. */
struct dw_device_moment {
	uint64_t start_ns, before_ns, before_events;
	uint32_t thread;  /* the one that it is listed for */
	uint32_t call;    /* index */
};
/* The calls of a thread, by begin; *count is their number. */
const struct dw_device_moment *dw_model_device_moments(struct dw_model *model,
                                                       enum dw_device_whose whose, uint32_t thread,
                                                       size_t *count, struct dwell_error *error);

/* Of the calls that began from from_ns on and before to_ns. Takes a time that grows with the
 * logarithm of the number of calls. False with `error`: out of memory. */
bool dw_model_device_between(struct dw_model *model, enum dw_device_whose whose, uint32_t thread,
                             uint64_t from_ns, uint64_t to_ns, struct dw_device_amount *amount,
                             struct dwell_error *error);
