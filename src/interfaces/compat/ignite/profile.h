/*
 * The structures of the profiler, and the functions with which the engine reports to it.
 *
 * Called by handlers.c and places.c if engine->profiler is not NULL. One clock reading ends a
 * handler and begins the next, so that a firing of N handlers needs N + 1 readings. The clock is
 * the counter that the recorder uses if the kernel uses it too, otherwise CLOCK_MONOTONIC. Sums
 * are in units of the clock; results are in seconds.
 */
#pragma once

#include "base/system/clock.h"
#include "base/time_stat.h"
#include "compat/ignite/engine.h"

struct dw_profile_handler {
	char *name;
	unsigned event; /* number of its event */
	struct dw_time_stat stat;
};

struct dw_profile_event {
	char *name;
	struct dw_time_stat stat;
};

struct dwell_ignite_profiler {
	struct dwell_ignite_engine *engine; /* NULL if it is detached */
	struct dw_time_stat processing, dataflow;
	struct dw_profile_event *events; /* by number of the event */
	unsigned event_count;
	struct dw_profile_handler *handlers; /* in the order of adding */
	unsigned handler_count;
	size_t handler_capacity;
	bool ticks;      /* the clock counts ticks; otherwise ns */
	uint64_t base_ticks, base_ns; /* the same moment on both clocks */
	uint64_t fetch_start; /* the clock at the begin of the current fetch; 0 means none */
	uint64_t fetch_end;   /* the clock at its end; 0 means none */
	bool ran;
	bool no_memory; /* memory ran out: the results are incomplete */
	FILE *times;    /* temporary file of struct dw_profile_time, or NULL */
	/* The last results that were returned; owned. */
	struct dwell_ignite_basic_results basic;
	struct dwell_ignite_handlers_results by_handler;
	const char **names;
	struct dwell_ignite_handler_time *rows;
};

/* A duration in the temporary file. */
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

/* Begins a run: discards earlier results, names the events and handlers. */
void dw_profile_start(struct dwell_ignite_profiler *profiler);
void dw_profile_add_slot(struct dwell_ignite_profiler *profiler, const struct dw_event *event, struct dw_slot *slot);
/* Adds a duration of the engine's current iteration and epoch. */
void dw_profile_time(struct dwell_ignite_profiler *profiler, enum dwell_ignite_time_of of, int number, uint64_t time);
/* The unit of the clock in seconds. */
double dw_profile_unit_s(const struct dwell_ignite_profiler *profiler);

static inline uint64_t dw_profile_now(const struct dwell_ignite_profiler *profiler)
{
	return profiler->ticks ? dwell_ticks() : dw_clock_monotonic_ns();
}
