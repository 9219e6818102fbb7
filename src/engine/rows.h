/*
 * The rows of Ignite's two files, out of single times.
 *
 * For write_results of this room's profiler and for the views that make the same of a
 * trace (linked into both, like print.c; no other room's header is needed). Memory grows
 * with the rows: they are made when a file is asked for, not while a run goes on.
 */
#ifndef DW_ENGINE_ROWS_H
#define DW_ENGINE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The columns of the basic file after epoch and iteration, in its order. */
#define DW_ITERATION_EVENTS(X)                                                            \
	X(STARTED) X(COMPLETED) X(EPOCH_STARTED) X(EPOCH_COMPLETED) X(ITERATION_STARTED)      \
	X(ITERATION_COMPLETED) X(GET_BATCH_STARTED) X(GET_BATCH_COMPLETED)
enum dw_iteration_column {
	DW_ITERATION_PROCESSING,
	DW_ITERATION_DATAFLOW,
#define X(event) DW_ITERATION_##event,
	DW_ITERATION_EVENTS(X)
#undef X
	DW_ITERATION_COLUMNS
};

struct dw_iteration {
	uint64_t epoch, iteration;
	uint32_t run;
	bool happened; /* not a fetch that found the end */
	double times_s[DW_ITERATION_COLUMNS];
};

/* Zeroed: none. */
struct dw_iterations {
	struct dw_iteration *rows;
	size_t count, capacity;
	/* The start of the run and epoch that rows to come are of. */
	uint32_t run;
	uint64_t epoch;
	double started_s, epoch_started_s;
};

struct dw_moment {
	uint32_t run;
	uint64_t epoch, iteration;
	double time_s;
};

/* The column of an event, -1: it has none. */
int dw_iteration_column(const char *event);
/* A time, in the order in which they ended. -1: out of memory. */
int dw_iterations_add(struct dw_iterations *all, enum dw_iteration_column column,
                      const struct dw_moment *moment);
void dw_iterations_reset(struct dw_iterations *all);

/* The calls of a handler, one after the other. Zeroed: none. */
struct dw_calls {
	double *times_s;
	size_t count, capacity;
};
int dw_calls_add(struct dw_calls *calls, double time_s); /* -1: out of memory */

#endif
