/*
 * What a run's events and handlers took, as PyTorch-Ignite's profilers tell it.
 *
 * A part of <dwell/engine.h>, which includes it. An index names the iteration, counted from 1 as the
 * engine's state counts it; of EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED
 * the epoch.
 */
#ifndef DWELL_ENGINE_PROFILE_H
#define DWELL_ENGINE_PROFILE_H

#include <math.h>

#include <dwell/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of many times; zeroed: of none. */
struct dwell_time_stat {
	uint64_t count;
	double total_s, min_s, max_s, mean_s;
	double spread;                  /* squared distances from the mean, summed up */
	uint64_t min_index, max_index;  /* of the first that was so short, so long */
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
	stat->mean_s += above_s / (double)stat->count;
	stat->spread += above_s * (time_s - stat->mean_s);
}

/* The standard deviation of a sample (N - 1); NaN of fewer than two. */
static inline double dwell_time_stat_std_s(const struct dwell_time_stat *stat)
{
	return stat->count > 1 ? sqrt(stat->spread / (double)(stat->count - 1)) : NAN;
}

/* ---- results ----------------------------------------------------------------------- */

/* What events took: BasicTimeProfiler's. */
struct dwell_basic_results {
	struct dwell_time_stat processing;              /* the process function */
	struct dwell_time_stat dataflow;                /* fetches that gave a batch */
	struct dwell_time_stat events[DWELL_EVENT_COUNT]; /* firings, all handlers together */
	/* Names of handlers, ended by NULL; NULL: none. */
	const char *const *handlers[DWELL_EVENT_COUNT];
};

/* What each handler took: HandlersTimeProfiler's. */
struct dwell_handler_time {
	const char *handler, *event;
	struct dwell_time_stat stat;
};
struct dwell_handlers_results {
	struct dwell_time_stat processing, dataflow;
	const struct dwell_handler_time *handlers; /* by event, in the order of adding */
	size_t count;                              /* ... those that were never called too */
};

/* Print them as Ignite's print_results does. */
DWELL_API void dwell_basic_results_print(const struct dwell_basic_results *results, FILE *out);
DWELL_API void dwell_handlers_results_print(const struct dwell_handlers_results *results,
                                            FILE *out);

/* ---- a profiler ---------------------------------------------------------------------- */

/*
 * Both of Ignite's profilers in one object: it is attached to an engine, and its results
 * are those of the engine's last run (under way: so far). It adds up as the run goes and
 * needs no trace: a session may be off, bounded or on a schedule, and the results are
 * whole all the same. Memory grows with the handlers' names, not with iterations; what
 * write_basic and write_handlers need, a row an iteration, goes to a temporary file (24
 * bytes a time) if `keep_times`.
 *
 * Attached during a run it counts from there on. Handlers that are removed stay in the
 * results. An engine has one profiler at a time, a profiler one engine.
 */
struct dwell_profiler;

/* Errors: DWELL_E_STATE, the engine has one; DWELL_E_IO, no temporary file; DWELL_E_NOMEM. */
DWELL_API int dwell_profiler_attach(struct dwell_profiler **profiler,
                                    struct dwell_engine *engine, bool keep_times,
                                    struct dwell_error *error);
/* Takes it off its engine; the results stay. The engine may be gone. */
DWELL_API void dwell_profiler_detach(struct dwell_profiler *profiler);
/* Detaches and frees it; NULL is fine. Not in a run. */
DWELL_API void dwell_profiler_destroy(struct dwell_profiler *profiler);

/* Valid until the next of these calls. NULL: DWELL_E_STATE, nothing was run yet;
 * DWELL_E_NOMEM. */
DWELL_API const struct dwell_basic_results *
dwell_profiler_basic(struct dwell_profiler *profiler, struct dwell_error *error);
DWELL_API const struct dwell_handlers_results *
dwell_profiler_handlers(struct dwell_profiler *profiler, struct dwell_error *error);

/*
 * Write CSV as Ignite's write_results does: a row an iteration; a row for each handler's
 * n-th call. Errors: DWELL_E_STATE, nothing was run yet or times were not kept;
 * DWELL_E_IO; DWELL_E_NOSPACE; DWELL_E_NOMEM.
 */
DWELL_API int dwell_profiler_write_basic(struct dwell_profiler *profiler, const char *path,
                                         struct dwell_error *error);
DWELL_API int dwell_profiler_write_handlers(struct dwell_profiler *profiler, const char *path,
                                            struct dwell_error *error);

/* ---- of a loop that is not ours -------------------------------------------------------- */

/*
 * A profiler without an engine is told what happened by who drives the loop (dwell.ignite
 * does so for Ignite's own engines); its answers are the same. Events of enum dwell_event
 * have their numbers there. A run begins with start, which forgets the one before.
 */
DWELL_API int dwell_profiler_create(struct dwell_profiler **profiler, bool keep_times,
                                    struct dwell_error *error);
DWELL_API void dwell_profiler_start(struct dwell_profiler *profiler);

/* Its number, a new one for a name that is new; -1: out of memory. */
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
