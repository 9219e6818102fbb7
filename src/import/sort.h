/*
 * Events in order of thread and time, in bounded memory.
 *
 * The events of a Chrome trace are in no order. They are collected in a buffer of fixed size. When it
 * is full its events are sorted and appended to a temporary file without a name, as a run; in the end
 * the runs are merged. Without a temporary file everything stays in memory.
 *
 * The order is: thread, start, longer ranges first, order of being added.
 */
#ifndef DW_IMPORT_SORT_H
#define DW_IMPORT_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DW_SORT_EVENTS ((size_t)1 << 20) /* of the buffer: 48 MB, and as much while it is sorted */

struct dw_sort_event {
	int64_t start_ns;
	uint64_t length_ns; /* of ranges; of others 0 */
	uint64_t value, more;
	uint32_t thread, op;
	uint32_t extra, kind;
};

struct dw_sort_run;

struct dw_sort {
	struct dw_sort_event *events, *other; /* other: what sorting needs */
	size_t count, capacity;
	struct dw_sort_run *runs;
	size_t run_count, run_capacity;
	uint32_t thread_count;  /* threads of events are below it */
	int fd;                 /* of the temporary file; -1: none yet */
	uint64_t file_bytes;
	bool failed;            /* out of memory, or the temporary file cannot be written */
	int error;              /* errno of the latter; 0: out of memory */
	/* while reading */
	size_t next;
	uint32_t *heap;         /* indices of runs, the one with the earliest event first */
	size_t heap_count;
};

void dw_sort_init(struct dw_sort *sort);
void dw_sort_reset(struct dw_sort *sort);
void dw_sort_add(struct dw_sort *sort, const struct dw_sort_event *event);
/* After the last dw_sort_add(). */
void dw_sort_finish(struct dw_sort *sort);
/* The next event, valid until the next call; NULL: that was the last one, or `failed`. */
const struct dw_sort_event *dw_sort_next(struct dw_sort *sort);

/* A temporary file without a name, in TMPDIR or /var/tmp. -1 with errno. */
int dw_sort_temporary(void);

#endif
