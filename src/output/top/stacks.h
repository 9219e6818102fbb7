/* The stacks of a process's threads, with the step and the ranges that each thread is in. */
#pragma once

#include "process/process.h"
#include "table/table.h"

/* What a trace of the process says about one of its threads. */
struct dw_top_inside {
	uint32_t pid, tid;
	char text[200];        /* "step 412 > backward > all_reduce, for 3.2 s" */
	char name[64];         /* as Python names threads; "": the trace has none */
};

struct dw_top_insides {
	struct dw_top_inside *threads;
	size_t count, capacity;
};

/* Reads where each thread is, from the trace that its process writes. */
int dw_top_insides_read(struct dw_top_insides *insides, const char *trace, struct dwell_error *error);
/* Gives the threads of a process the names that the trace has. */
void dw_top_insides_name(const struct dw_top_insides *insides, struct dw_process *process);
void dw_top_insides_reset(struct dw_top_insides *insides);

/* Prints the threads of a process; threads with the same stack once. Without `all`, frames of the
 * interpreter between frames of Python, and of the start of a thread, are left out. */
void dw_top_stacks_print(const struct dw_process *process, const struct dw_top_insides *insides, bool all, FILE *file);
/* Adds a row for each frame. */
struct dwell_table *dw_top_stacks_table(void);
void dw_top_stacks_add(struct dwell_table *table, const struct dw_process *process,
                       const struct dw_top_insides *insides);
