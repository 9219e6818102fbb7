/*
 * The rows of Ignite's two CSV files, made from single times.
 *
 * The caller adds the times in the order in which they ended and reads the rows at the end.
 * Memory grows with the rows, so rows are made when a file is written, not during a run.
 */
#pragma once

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
	bool happened; /* false: a fetch that found the end of the data */
	double times_s[DW_ITERATION_COLUMNS];
};

/* Zero-initialise it; dw_iterations_reset() frees the rows. */
struct dw_iterations {
	struct dw_iteration *rows;
	size_t count, capacity;
	/* The current run and epoch, and the durations of STARTED and EPOCH_STARTED. */
	uint32_t run;
	uint64_t epoch;
	double started_s, epoch_started_s;
};

struct dw_moment {
	uint32_t run;
	uint64_t epoch, iteration;
	double time_s;
};

/* The column of an event, or -1 if it has none. */
int dw_iteration_column(const char *event);
/* Adds one time. Returns 0, or -1 if out of memory. */
int dw_iterations_add(struct dw_iterations *all, enum dw_iteration_column column, const struct dw_moment *moment);
void dw_iterations_reset(struct dw_iterations *all);

/* The times of a handler's calls, in order. Zero-initialise it; the caller frees times_s. */
struct dw_calls {
	double *times_s;
	size_t count, capacity;
};
/* Returns 0, or -1 if out of memory. */
int dw_calls_add(struct dw_calls *calls, double time_s);
