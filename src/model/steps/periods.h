/*
 * Periods: what a run repeats, where no steps are marked.
 *
 * Found in what the trace has of one thread or of one stream of a device: a sequence of events, each with a name, a
 * begin and an end. In this order:
 *
 *     1. ranges that the program named, of the busiest thread: phases, zones, annotations
 *     2. what else that thread calls: functions, layers, compiled functions, operators
 *     3. the same of the threads that are less busy
 *     4. ranges on a device, as XLA's modules, then the kernels of the stream of a device that worked most
 *
 * Of nested ranges only the outermost count that recur: a range that occurs less than DW_PERIOD_LEAST times on its
 * level is replaced by the ranges in it (periods_collect.c). periods_find.c says what makes a sequence a period.
 * Functions that are known by samples alone cannot be counted, so they are not used. Asynchronous ranges belong to no
 * thread: neither are they.
 *
 * The scope of the model does not matter. Of a thread with more than DW_PERIOD_EVENTS such events, the first ones
 * count: then what comes later is in no iteration.
 */
#pragma once

#include "model/core/model.h"

/* The iterations of a run in which no step is marked: what one thread repeats. */
struct dw_period {
	uint32_t thread;  /* whose iterations these are; of kernels, the busiest thread of their process */
	const char *name; /* what begins each: a range, an operator, a kernel, a function; for people */
	struct dw_source_step *steps; /* in order; each lasts to the next begin, the last one as long as its own work */
	size_t count;
	bool meant; /* it is known what the names mean: phases, calls of compiled functions, requests */
};

/* The only thread that has records outside of signal handlers. DW_NO_INDEX: there are several, or devices worked: then
 * it counts how busy they were, and to know that takes a walk. */
uint32_t dw_period_only_thread(const struct dw_source *source);
/* count 0: nothing repeats. NULL with `error`: out of memory. Computed once for a run. */
const struct dw_period *dw_model_period(struct dw_model *model, struct dwell_error *error);
/* The period of one thread in what begins between two times. What began before and goes on counts as what is in it. The period is in
 * the model's memory. False: out of memory. */
bool dw_model_period_between(struct dw_model *model, uint32_t thread, uint64_t from_ns, uint64_t to_ns, struct dw_period *period);
