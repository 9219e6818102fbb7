/*
 * How long a run's events and handlers took, as PyTorch-Ignite's profilers report it.
 *
 * A part of <dwell/engine.h>, which includes it. An index is the iteration, counted from 1 as
 * in the engine's state; for EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED it is the
 * epoch.
 */
#ifndef DWELL_ENGINE_PROFILE_H
#define DWELL_ENGINE_PROFILE_H

#include <math.h>

#include <dwell/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Summary of many durations; zero-initialise it. */
struct dwell_time_stat {
	uint64_t count;
	double total_s, min_s, max_s, mean_s;
	double spread;                  /* squared distances from the mean, summed up */
	uint64_t min_index, max_index;  /* index of the first occurrence of the minimum and maximum */
};

static inline void dwell_time_stat_add(struct dwell_time_stat *stat, double time_s,
                                       uint64_t index)
{
	double above_s = time_s - stat->mean_s;

	if (stat->count++ == 0 || time_s < stat->min_s) {
		stat->min_s = time_s;
		stat->min_index = index;
	}
	if (stat->count == 1 || time_s > stat->max_s) {
		stat->max_s = time_s;
		stat->max_index = index;
	}
	stat->total_s += time_s;
	stat->mean_s += above_s / DWELL_CAST(double, stat->count);
	stat->spread += above_s * (time_s - stat->mean_s);
}

/* The standard deviation of a sample (N - 1); NaN for fewer than two durations. */
static inline double dwell_time_stat_std_s(const struct dwell_time_stat *stat)
{
	return stat->count > 1 ? sqrt(stat->spread / DWELL_CAST(double, stat->count - 1)) : NAN;
}

/* ---- results ----------------------------------------------------------------------- */

/* How long events took: the results of BasicTimeProfiler. */
struct dwell_basic_results {
	struct dwell_time_stat processing;              /* the process function */
	struct dwell_time_stat dataflow;                /* fetches that gave a batch */
	struct dwell_time_stat events[DWELL_EVENT_COUNT]; /* firings, all handlers together */
	/* Lists of handlers' names, each ended by NULL; NULL if an event has none. */
	const char *const *handlers[DWELL_EVENT_COUNT];
};

/* How long each handler took: the results of HandlersTimeProfiler. */
struct dwell_handler_time {
	const char *handler, *event;
	struct dwell_time_stat stat;
};
struct dwell_handlers_results {
	struct dwell_time_stat processing, dataflow;
	const struct dwell_handler_time *handlers; /* by event, in the order in which they were added */
	size_t count;                              /* includes handlers that were never called */
};

/* Print them as Ignite's print_results does. */
DWELL_API void dwell_basic_results_print(const struct dwell_basic_results *results, FILE *out);
DWELL_API void dwell_handlers_results_print(const struct dwell_handlers_results *results,
                                            FILE *out);

/* ---- a profiler ---------------------------------------------------------------------- */

/*
 * Both of Ignite's profilers in one object. It is attached to an engine; its results cover
 * the engine's last run, or the current run so far. It sums up while the run goes on and
 * needs no trace: the results are complete whether or not a session records, is bounded or
 * follows a schedule. Memory grows with the number of handlers, not with iterations. With
 * `keep_times` the rows of dwell_profiler_write_basic() and dwell_profiler_write_handlers(),
 * one for each iteration, go to a temporary file in /tmp (24 bytes a duration).
 *
 * If it is attached during a run, it counts from then on. Handlers that are removed stay in
 * the results. An engine has one profiler at a time, and a profiler one engine.
 */
struct dwell_profiler;

/* Errors: DWELL_E_STATE if the engine has a profiler, DWELL_E_IO if the temporary file cannot be
 * created, DWELL_E_NOMEM. */
DWELL_API int dwell_profiler_attach(struct dwell_profiler **profiler,
                                    struct dwell_engine *engine, bool keep_times,
                                    struct dwell_error *error);
/* Detaches the profiler from its engine and keeps the results. The engine may be destroyed. */
DWELL_API void dwell_profiler_detach(struct dwell_profiler *profiler);
/* Detaches and frees it; a NULL argument is ignored. Not during a run. */
DWELL_API void dwell_profiler_destroy(struct dwell_profiler *profiler);

/* The results, valid until the next call of these functions. On failure NULL: DWELL_E_STATE if
 * nothing was run yet, or DWELL_E_NOMEM. */
DWELL_API const struct dwell_basic_results *
dwell_profiler_basic(struct dwell_profiler *profiler, struct dwell_error *error);
DWELL_API const struct dwell_handlers_results *
dwell_profiler_handlers(struct dwell_profiler *profiler, struct dwell_error *error);

/*
 * Write CSV as Ignite's write_results does: one row for each iteration, or one row for the
 * n-th call of every handler. Errors: DWELL_E_STATE if nothing was run yet or times were not
 * kept, DWELL_E_IO, DWELL_E_NOSPACE, DWELL_E_NOMEM.
 */
DWELL_API int dwell_profiler_write_basic(struct dwell_profiler *profiler, const char *path,
                                         struct dwell_error *error);
DWELL_API int dwell_profiler_write_handlers(struct dwell_profiler *profiler, const char *path,
                                            struct dwell_error *error);

/* ---- a profiler for another loop ------------------------------------------------------- */

/*
 * Without an engine, the caller that drives the loop reports events to the profiler, as
 * dwell.ignite does for Ignite's own engines. The results are the same. Events of enum
 * dwell_event have the numbers of that enum. dwell_profiler_start() begins a run and discards
 * the results of the previous one.
 */
DWELL_API int dwell_profiler_create(struct dwell_profiler **profiler, bool keep_times,
                                    struct dwell_error *error);
DWELL_API void dwell_profiler_start(struct dwell_profiler *profiler);

/* The number of the event or handler with this name, a new number for a new name; -1 if memory
 * is exhausted. */
DWELL_API int dwell_profiler_event(struct dwell_profiler *profiler, const char *name);
DWELL_API int dwell_profiler_handler(struct dwell_profiler *profiler, int event,
                                     const char *name);

enum dwell_time_of {
	DWELL_TIME_OF_PROCESSING,
	DWELL_TIME_OF_DATAFLOW,
	DWELL_TIME_OF_EVENT,   /* `number` says of which */
	DWELL_TIME_OF_HANDLER,
};
DWELL_API void dwell_profiler_add(struct dwell_profiler *profiler, enum dwell_time_of of,
                                  int number, uint64_t epoch, uint64_t iteration, uint64_t ns);

#ifdef __cplusplus
}
#endif
#endif
