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

#ifdef __cplusplus
}
#endif
#endif
