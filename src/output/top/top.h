/*
 * What `dwell top` and `dwell stacks` show: a state of a running program, and how it looks on a terminal.
 *
 *   find    the trace that a process writes
 *   look    one state of the trace: figures of its last seconds, and a view of them
 *   screen  a state as lines of a given width and height; the only part that knows the layout
 *   stacks  the stacks of all threads of a process, as text or as a table
 *
 * The terminal itself and the loop are in src/interfaces/cli. Every look reads the trace anew, within the time
 * of its window. The profiled program does nothing for it and does not notice it.
 */
#pragma once

#include "views/views.h"

/* ---- find ---------------------------------------------------------------------------------- */

/* The path of the trace that the process or one of its descendants writes. Errors:
 * DWELL_E_NO_DATA, DWELL_E_IO; the message says what to do. */
int dw_top_find(uint32_t pid, char *path, size_t size, struct dwell_error *error);
/* The name of the process that `dwell run` has beside itself, which is of no interest to anybody who looks at the program. */
#define DW_TOP_WITNESS "dwell-witness"

/* The process and all its descendants, parents first. The caller frees the array. */
int dw_top_find_processes(uint32_t pid, uint32_t **pids, size_t *count, struct dwell_error *error);

/* ---- look ---------------------------------------------------------------------------------- */

struct dw_top_request {
	const char *path;
	const struct dw_view *view;
	const char *sort;      /* a column's name; NULL: the view's own order */
	const char *filter;    /* rows that contain this text, in any case; "": all */
	const char *thread;    /* only this one, by name or tid; NULL: all */
	uint64_t window_ns;    /* the last part of the run, longer if fewer than three steps ended in
	                        * it; 0: all of the run */
};

/* What the kernel says about the processes of a run that live on this machine. */
struct dw_top_use {
	uint64_t cpu_ns;       /* used since they began */
	uint64_t resident_bytes;
	size_t processes, threads;
};

#define DW_TOP_MOST_PARTS 12

struct dw_top_part {
	char name[32];
	double share;          /* of the loop */
};

struct dw_top_look {
	char program[64];      /* "train.py" */
	char where[128];       /* "pid 4711", "rank 2 of 8, pid 4711, 3 processes" */
	bool live;             /* a process writes the trace */
	bool begins;           /* none but `dwell run` has written yet */
	uint64_t size_bytes;   /* of the trace */
	uint64_t run_ns;       /* from its begin to now, or to its last record if it has ended */
	uint64_t silent_ns;    /* live: since the last record */
	uint64_t last_ns;      /* of the last record, on the run's time line */
	char inside[200];      /* while it is silent: "train_step > backward > all_reduce"; or "" */
	uint64_t window_ns;    /* that the figures are of */
	uint64_t machine_ns;   /* the machine's monotonic clock at this look */
	struct dw_top_use use; /* live */
	double cpus;           /* in use since the look before, at the first look since the start; negative: not known */

	uint64_t step_count;   /* since the start */
	uint64_t window_steps; /* that ended in the window */
	uint64_t since_step_ns; /* live: since the last of them ended; 0: not known */
	double steps_per_s;    /* 0: not known */
	double mean_ns;          /* of these; 0: not known */
	uint64_t p50_ns, p95_ns; /* the same */
	struct dw_top_part parts[DW_TOP_MOST_PARTS]; /* of the loop: they sum to 1 */
	size_t part_count;

	uint64_t lost;         /* records */
	const char *lost_cause; /* of most of them */
	char unrecorded[96];   /* "MPI, CUDA": libraries that the program uses and the trace does not have; or "" */
	struct dwell_table *table; /* NULL: `message` says why */
	struct dwell_table *rows;  /* the part of it that is shown */
	char message[512];     /* if there are no rows */
};

/*
 * Reads the trace. `before` is the look before this one at the same trace, or NULL. On error nothing
 * needs to be reset. A view that the trace has no data for is no error: `table` is NULL then.
 */
int dw_top_look(const struct dw_top_request *request, const struct dw_top_look *before,
                struct dw_top_look *look, struct dwell_error *error);
void dw_top_look_reset(struct dw_top_look *look);

/* ---- screen -------------------------------------------------------------------------------- */

struct dw_top_screen {
	unsigned columns, rows; /* of the terminal; 0 columns: none, and nothing is cut */
	bool color, utf8;
	bool help;              /* the keys instead of the table */
	bool paused;
	size_t first, selected; /* rows of the table */
	const char *sort, *filter, *thread; /* as in the request */
	const char *view;
	const char *prompt;     /* what the user types, with its label, or a message; NULL: the keys */
	const char *state;      /* "the trace was deleted"; NULL: as the look says */
};

/* Writes at most `rows` lines, with line ends between them. Changes `first` and `selected` so that the
 * selected row exists and is visible. */
void dw_top_draw(struct dw_top_screen *screen, const struct dw_top_look *look, FILE *file);
/* Rows of the table that are visible at this height. */
size_t dw_top_visible(const struct dw_top_screen *screen);
