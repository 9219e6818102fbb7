/*
 * The profiler from inside: what the engine tells it on the way.
 *
 * Called by handlers.c and places.c where engine->profiler is not NULL. A reading of the
 * clock ends one handler and begins the next, so that a firing of N handlers takes N + 1.
 * The clock is the counter that the recorder uses, where the kernel trusts it too, else
 * CLOCK_MONOTONIC; sums are kept in its units and become seconds in results.
 */
#ifndef DW_ENGINE_PROFILE_H
#define DW_ENGINE_PROFILE_H

#include "base/time_stat.h"
#include "compat/ignite/engine.h"

struct dw_profile_handler {
	char *name;
	unsigned event; /* number */
	struct dw_time_stat stat;
};

struct dw_profile_event {
	char *name;
	struct dw_time_stat stat;
};

struct dwell_ignite_profiler {
	struct dwell_ignite_engine *engine; /* NULL: detached */
	struct dw_time_stat processing, dataflow;
	struct dw_profile_event *events; /* by number */
	unsigned event_count;
	struct dw_profile_handler *handlers; /* in the order of adding */
	unsigned handler_count, handler_capacity;
	bool ticks;      /* the clock's units; else ns */
	uint64_t base_ticks, base_ns; /* the same moment on both clocks */
	uint64_t fetch_start;
	uint64_t fetch_end; /* of this iteration */
	bool ran;
	bool no_memory; /* the results are not whole */
	FILE *times;    /* struct dw_profile_time, or NULL */
	/* What the last results point to. */
	struct dwell_ignite_basic_results basic;
	struct dwell_ignite_handlers_results by_handler;
	const char **names;
	struct dwell_ignite_handler_time *rows;
};

/* A time in the temporary file. */
struct dw_profile_time {
	uint32_t what; /* DW_PROFILE_* */
	uint32_t epoch;
	uint64_t iteration;
	double time; /* in the clock's units */
};
enum {
	DW_PROFILE_PROCESSING,
	DW_PROFILE_DATAFLOW,
	DW_PROFILE_EVENT,                /* + number */
	DW_PROFILE_HANDLER = 1u << 20,   /* + index */
};

/* A run starts: forgets what was, names events and handlers. */
void dw_profile_start(struct dwell_ignite_profiler *profiler);
void dw_profile_add_slot(struct dwell_ignite_profiler *profiler, const struct dw_event *event,
                         struct dw_slot *slot);
/* A time of the engine's iteration and epoch that are under way. */
void dw_profile_time(struct dwell_ignite_profiler *profiler, enum dwell_ignite_time_of of, int number,
                     uint64_t time);
/* What a unit of the clock is. */
double dw_profile_unit_s(const struct dwell_ignite_profiler *profiler);

static inline uint64_t dw_profile_now(const struct dwell_ignite_profiler *profiler)
{
	return profiler->ticks ? dwell_ticks() : dw_engine_now_ns();
}

#endif
