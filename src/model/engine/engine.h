/*
 * Engines: what the events and handlers of a training loop took (include/dwell/compat/ignite.h
 * says what an engine leaves in a trace).
 *
 * Called by the views `events` and `handlers` and by Ignite's layout. A time counts when
 * its range has ended; a fetch counts when it gave a batch. Memory is that of names.
 */
#ifndef DW_MODEL_ENGINE_ENGINE_H
#define DW_MODEL_ENGINE_ENGINE_H

#include <dwell/compat/ignite.h>

#include "base/time_stat.h"
#include "model/core/model.h"

/* How to get events into a trace. */
#define DW_ENGINE_REMEDY "build the loop on <dwell/compat/ignite.h>, or attach a profiler of dwell.ignite"

/* What one time is about, an index into dw_engine.rows: these, then the events,
 * then the handlers. */
enum { DW_ENGINE_PROCESSING, DW_ENGINE_DATAFLOW, DW_ENGINE_EVENTS };

struct dw_engine_row {
	const char *event;   /* "STARTED"; of processing and dataflow NULL */
	const char *handler; /* NULL: the event's firings, all their handlers together */
	bool by_epoch;       /* indices are epochs, not iterations */
	struct dw_time_stat stat; /* seconds */
};

struct dw_engine {
	const char *name;
	/* Processing, dataflow, events as the dictionary has them, and handlers by event in
	 * the order of their adding, never called ones too. */
	struct dw_engine_row *rows;
	size_t event_count, handler_count;
	uint64_t runs, nested_runs; /* nested: in another engine's */
	uint64_t run_ns;            /* of those that are not */
	uint64_t open;              /* times that did not end: not counted */
};

static inline const struct dw_engine_row *dw_engine_handlers(const struct dw_engine *engine)
{
	return engine->rows + DW_ENGINE_EVENTS + engine->event_count;
}

enum dw_engine_runs { DW_ENGINE_ALL_RUNS, DW_ENGINE_LAST_RUN };

/*
 * The engine of this name, or the outermost (of several the one that ran longest).
 * NULL with `error`: DWELL_E_NAME with the nearest; DWELL_E_NO_DATA without engines.
 */
const struct dw_engine *dw_model_engine(struct dw_model *model, const char *name,
                                        enum dw_engine_runs runs, struct dwell_error *error);

/* The names of all engines, outermost first; of *count. NULL: out of memory. */
const char *const *dw_model_engine_names(struct dw_model *model, size_t *count);

struct dw_engine_time {
	uint32_t row;     /* of the engine's rows */
	uint32_t run;     /* differs from run to run */
	uint64_t epoch, iteration;
	uint64_t ns;
};

/* Calls `each` for every time of the engine, in the order in which they ended;
 * not 0 stops and is returned. */
int dw_model_engine_times(struct dw_model *model, const struct dw_engine *engine,
                          int (*each)(void *context, const struct dw_engine_time *time),
                          void *context, struct dwell_error *error);

#endif
