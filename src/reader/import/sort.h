/*
 * Sorts events by thread and time in bounded memory.
 *
 * The events of a Chrome trace are in no order. They are collected in a buffer of fixed size. When
 * the buffer is full, its events are sorted and appended to a temporary file without a name. Each
 * such part is a run. At the end the runs are merged. If no temporary file can be made, all events
 * stay in memory.
 *
 * Events are ordered by thread, then by start, then longer ranges first, then in the order in which
 * they were added.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DW_SORT_EVENTS ((size_t)1 << 20) /* of the buffer: 48 MB, and as much while it is sorted */

struct dw_sort_event {
	int64_t start_ns;
	uint64_t length_ns; /* of ranges; of others 0 */
	uint64_t value, more;
	uint32_t thread, op, extra, kind;
};

struct dw_sort_run;

struct dw_sort {
	struct dw_sort_event *events, *other; /* other: a second buffer, for sorting */
	size_t count, capacity;
	struct dw_sort_run *runs;
	size_t run_count, run_capacity;
	uint32_t thread_count;  /* more than the largest `thread` of an event */
	int fd;                 /* of the temporary file; -1: none yet */
	uint64_t file_bytes;
	bool failed;            /* out of memory, or the temporary file cannot be written */
	int error;              /* errno of the temporary file; 0: out of memory */
	/* while reading */
	size_t next;
	uint32_t *heap;         /* indices of runs, the one with the earliest event first */
	size_t heap_count;
};

void dw_sort_init(struct dw_sort *sort);
void dw_sort_reset(struct dw_sort *sort);
void dw_sort_add(struct dw_sort *sort, const struct dw_sort_event *event);
/* Call it after the last dw_sort_add() and before the first dw_sort_next(). */
void dw_sort_finish(struct dw_sort *sort);
/* The next event, valid until the next call. NULL: there are no more events, or sort->failed is
 * set. */
const struct dw_sort_event *dw_sort_next(struct dw_sort *sort);

/* Opens a temporary file without a name, in TMPDIR or /var/tmp. The caller closes it. -1 with errno
 * on failure. */
int dw_sort_temporary(void);
