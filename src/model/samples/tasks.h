/*
 * Tasks: pieces of work that threads do one after the other, such as requests of a server.
 *
 * Short threads that do one each, such as the thread that a server starts for a request, and ranges that are known to be
 * tasks (DW_DETAIL_TASK, DW_DETAIL_REQUEST), as what the threads of a pool get to do. The latter are of one kind if they
 * have one name. A coroutine that is a task is an asynchronous range, and takes turns in a thread (DW_DETAIL_TURN): what it
 * does is what is done in these.
 *
 * Threads of a process are of one kind if their names are the same but for numbers. A kind counts if its threads follow one
 * another: there are more than twice as many of them as live at any moment. Threads of a pool begin and end together, so they are no tasks.
 *
 * A thread's time is that from its first record to its end. In Python the first record is at its begin. The CPU time of threads
 * is the kernel's, that of ranges and waits are from samples.
 */
#pragma once

#include "model/samples/samples.h"

/* What a task waits for. */
enum dw_task_wait { DW_TASK_GIL, DW_TASK_THREADS, DW_TASK_FILES, DW_TASK_SLEEPS, DW_TASK_OTHERS, DW_TASK_WAITS };

struct dw_task_kind {
	uint32_t process, first; /* `first` is for tasks.c */
	uint32_t symbol;         /* of ranges; DW_NO_INDEX: threads */
	uint32_t turns;          /* of coroutines: the symbol of their turns; DW_NO_INDEX: others */
	bool request;            /* the program or a probe says that they are requests */
	char name[96];  /* "Thread-# (process_request_thread)" */
	uint64_t *ns;   /* how long each lived, ascending */
	size_t count, at_once;
	uint64_t sum_ns, cpu_ns, wait_ns[DW_TASK_WAITS];
};

struct dw_tasks {
	struct dw_task_kind *kinds; /* by sum_ns, descending */
	size_t count;
	uint32_t *of;               /* by thread: its kind, of short threads; DW_NO_INDEX: none */
	uint64_t *ns;
};

/* Of the threads in scope; with a window, of those that begin in it. False: out of memory. Call dw_tasks_reset() in any case. */
bool dw_tasks_make(struct dw_tasks *tasks, struct dw_model *model);
void dw_tasks_reset(struct dw_tasks *tasks);

/* Whether a sample is of tasks of this kind, which is an index of `kinds`. */
bool dw_task_has(const struct dw_tasks *tasks, const struct dw_model *model, uint32_t kind, const struct dw_sample_row *row);

/* Of samples of waits. */
enum dw_task_wait dw_task_wait_of(const struct dw_sample_row *row);
static inline uint64_t dw_task_quantile(const struct dw_task_kind *kind, double q)
{
	size_t at = (size_t)(q * (double)kind->count);

	return kind->ns[at < kind->count ? at : kind->count - 1];
}
