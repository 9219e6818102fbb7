/*
 * Engines: the times of the events and handlers of a training loop. include/dwell/compat/ignite.h
 * describes the records that an engine writes.
 *
 * Called by the views `events` and `handlers` and by Ignite's layout. A time counts if its range
 * has ended; a fetch counts if it got a batch. Memory grows with the number of names.
 */
#pragma once

#include <dwell/compat/ignite.h>

#include "base/time_stat.h"
#include "model/core/model.h"

/* Tells users how to record events. */
#define DW_ENGINE_REMEDY "build the loop on <dwell/compat/ignite.h>, or attach a profiler of dwell.ignite"

/* Indices into dw_engine.rows. The events follow these two, then the handlers. */
enum { DW_ENGINE_PROCESSING, DW_ENGINE_DATAFLOW, DW_ENGINE_EVENTS };

struct dw_engine_row {
	const char *event;   /* "STARTED"; NULL: processing or dataflow */
	const char *handler; /* NULL: firings of the event, with all handlers */
	bool by_epoch;       /* indices are epochs, not iterations */
	struct dw_time_stat stat; /* seconds */
	uint64_t device_ns, device_events; /* work of devices that was called meanwhile, also by other
	                                    * threads for this one; only with DW_ENGINE_ALL_RUNS */
};

struct dw_engine {
	const char *name;
	/* Processing, dataflow, events, and handlers by event. Ignite's events come first, in its
	 * order. Other events, and the handlers of an event, are in the order of the dictionary, which
	 * is that of their registration. Handlers that were never called have rows too. */
	struct dw_engine_row *rows;
	size_t event_count, handler_count;
	uint64_t runs, nested_runs; /* nested: in a run of another engine */
	uint64_t run_ns;            /* time of the runs that are not nested */
	uint64_t open;              /* number of times that did not end and do not count */
};

static inline const struct dw_engine_row *dw_engine_handlers(const struct dw_engine *engine)
{
	return engine->rows + DW_ENGINE_EVENTS + engine->event_count;
}

enum dw_engine_runs { DW_ENGINE_ALL_RUNS, DW_ENGINE_LAST_RUN };

/*
 * The engine of this name; without a name, the engine with the longest time of runs that are not
 * nested. Returns NULL on errors: DWELL_E_NAME, with the nearest name; DWELL_E_NO_DATA if the trace
 * has no engines; DWELL_E_NOMEM.
 */
const struct dw_engine *dw_model_engine(struct dw_model *model, const char *name,
                                        enum dw_engine_runs runs, struct dwell_error *error);

/* The names of all engines, longest runs first; *count is their number. NULL when out of memory. */
const char *const *dw_model_engine_names(struct dw_model *model, size_t *count);

struct dw_engine_time {
	uint32_t row;     /* index into the engine's rows */
	uint32_t run;     /* a number that differs between runs */
	uint64_t epoch, iteration, ns;
	uint32_t thread;  /* index into the source's threads */
	uint64_t start_ticks;
};

/* Calls `each` for every time of the engine until it returns a value other than 0: stream by
 * stream, in the order in which the times ended. Returns that value, 0, or an error. */
int dw_model_engine_times(struct dw_model *model, const struct dw_engine *engine,
                          int (*each)(void *context, const struct dw_engine_time *time),
                          void *context, struct dwell_error *error);
