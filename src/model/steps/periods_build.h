/*
 * How a period is found, for the files periods*.c.
 *
 *     periods_names.c     which symbols are the same name, and what kind of name it is
 *     periods_events.c    events, in little memory
 *     periods_collect.c   the events of a thread or of a stream of a device
 *     periods_find.c      the period in a sequence of events
 *     periods.c           the product
 */
#pragma once

#include "model/core/model_data.h"
#include "model/steps/periods_events.h"

/* What recurs less often is no iteration: of so few repetitions nobody can tell a usual one from a slow one. */
#define DW_PERIOD_LEAST 5u

enum dw_period_kind {
	DW_PERIOD_HIDDEN,   /* the profiler's own time, a garbage collection, a call of a driver: happens anywhere */
	DW_PERIOD_OPERATOR, /* an operator, a kernel: many make an iteration */
	DW_PERIOD_FUNCTION, /* a function, a layer, a graph of kernels: one can be an iteration */
	DW_PERIOD_TASK,     /* a request, or what a thread of a pool gets to do: an iteration of this thread */
	DW_PERIOD_RANGE,    /* what the program named itself: the same, and surrounds functions */
	DW_PERIOD_DATA,     /* loading data: a part of each iteration, unless ranges have more time */
	DW_PERIOD_COMPILED, /* a compiled function, which only starts the work of a device: its own time says little */
	DW_PERIOD_PHASE,    /* forward, backward, the optimizer: a part of each iteration by what it means */
	DW_PERIOD_ITERATION, /* what a library calls once an iteration: each has one */
};

/* By symbol. */
struct dw_period_names {
	uint8_t *kinds; /* enum dw_period_kind */
	uint32_t *keys; /* the symbol that stands for all of the same name */
	/* How often each range occurs whose name has a number; of others 0. dw_period_busy() counts. */
	uint32_t *counts;
	bool *numbered, any_numbered;
	bool any_named; /* there are ranges that the program named */
	bool any_meant; /* there are names of which it is known that they make iterations: see struct dw_period */
	uint32_t count;
	uint64_t from_ns, to_ns; /* what begins in this time is searched */
};

/* False: out of memory. Call the reset function in any case. */
bool dw_period_names_init(struct dw_period_names *names, const struct dw_model *model);
/* After they have been counted: unites ranges that differ in a number alone. False: out of memory. */
bool dw_period_names_unite(struct dw_period_names *names, const struct dw_model *model);
void dw_period_names_reset(struct dw_period_names *names);
/* The name for people: "step #" of "step 1", "step 2" and so on. NULL: out of memory. */
const char *dw_period_name(const struct dw_period_names *names, struct dw_model *model, uint32_t key);

/* The time in which each thread is in a range, in ticks of its file. Counts in `names`. False: out of memory. */
bool dw_period_busy(const struct dw_model *model, struct dw_period_names *names, uint64_t *by_thread);
/* The outermost events of a thread that recur: of ranges that the program named, and of all ranges. False: out of
 * memory. The caller resets the events in any case. */
bool dw_period_collect(const struct dw_model *model, const struct dw_period_names *names, uint32_t thread,
                       struct dw_period_events *named, struct dw_period_events *all);
/* The kernels of the stream of a device that computed most, and of the ranges on a device of that process, as XLA's
 * modules, those of the line with most time. `*process` is DW_NO_INDEX if there are neither. Graphs become functions in
 * `names`, and ranges what they are. */
bool dw_period_collect_device(const struct dw_model *model, struct dw_period_names *names,
                              struct dw_period_events *kernels, struct dw_period_events *ranges, uint32_t *process);

struct dw_period_found {
	uint32_t *begins; /* indexes of events, ascending; malloc'ed */
	size_t count;   /* 0: no period */
	size_t last;    /* index of the event with whose end the last iteration ends */
	bool parts;     /* it is one by what its names mean: phases, compiled functions, loading data */
};

/* `busy` has all work of the thread, of which `events` may be a part. False: out of memory. */
bool dw_period_find(const struct dw_period_names *names, const struct dw_period_events *events,
                    const struct dw_period_events *busy, struct dw_period_found *found);
