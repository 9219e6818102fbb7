/*
 * Reading traces: open one, run a view, print or export it.
 *
 * This is libdwell-read (`pkg-config dwell-read`); the command is built on it. A program that
 * wants its own results reads its own trace file in the same way. An object may be used by one
 * thread at a time; different objects may be used by different threads at once. What must point
 * to something and is NULL is an error, DWELL_E_ARGUMENT.
 */
#ifndef DWELL_TRACE_H
#define DWELL_TRACE_H

#include <stdio.h>

#include <dwell/dwell.h>
#include <dwell/probe.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dwell_trace;
struct dwell_table;

/* The part of a trace to look at. Zero-initialise it and set `size`. If no other field is set, or
 * instead of a scope NULL is given, it is the whole trace. */
struct dwell_scope {
	size_t size;         /* sizeof this structure */
	bool has_steps;      /* only these steps, counted from 0, both inclusive */
	uint64_t steps_from;
	uint64_t steps_to;
	const char *thread;  /* only the thread with this name or tid, or NULL */
	const char *profile; /* only the ranges of the profiles with this name or these ids ("3,4,5"), or NULL */
	uint32_t profile_id; /* the same by id, or 0 */
	const char *action;  /* only what begins inside this zone or action, or NULL */
	bool has_time;       /* only what begins in [from_ns, to_ns) since the start of the run, and steps
	                      * that begin and end there */
	uint64_t from_ns;
	uint64_t to_ns;
};

/*
 * Opens one or more traces of one run: finished, damaged or still being written. The files stay
 * mapped until dwell_trace_close(). The texts of `scope` are copied. Errors: DWELL_E_IO,
 * DWELL_E_NOT_TRACE, DWELL_E_VERSION, DWELL_E_CORRUPT, DWELL_E_NAME or DWELL_E_NO_DATA for a scope
 * that selects nothing, DWELL_E_NOMEM.
 */
DWELL_API int dwell_trace_open(struct dwell_trace **trace, const char *const *paths, size_t count,
                               const struct dwell_scope *scope, struct dwell_error *error);

/* Opens the trace at result->path, restricted to one cycle of a profile. May be called while
 * the program records. */
DWELL_API int dwell_trace_open_result(struct dwell_trace **trace,
                                      const struct dwell_profile_result *result,
                                      struct dwell_error *error);
/* Frees the trace and everything borrowed from it. NULL is ignored. */
DWELL_API void dwell_trace_close(struct dwell_trace *trace);

/* In dwell_view_options.limit: only a table's head and totals. */
#define DWELL_NO_ROWS (SIZE_MAX - 1)

/*
 * What to show of a view or a layout, and how. Zero-initialise it and set `size`. NULL, 0 and
 * false mean that an option is not given; a number counts if its has_ field is true. `limit` is
 * a number of rows: SIZE_MAX means all, DWELL_NO_ROWS none.
 */
/* [tools/generate view_options] from src/output/views/view_options.def: do not edit */
struct dwell_view_options {
	size_t size; /* sizeof this structure */

	/* ---- For views and layouts. */
	/* --sort COLUMN: sort rows by a column, by its label or as CSV names it */
	const char *sort;
	/* --limit N: show the first N rows, or all */
	size_t limit;
	/* --group-by WHAT: separate operators by shape, overload, stack:N (the N innermost frames), or
	 * by a list of these, as shape,stack:3; hot, waits: separate functions by line, thread, phase
	 * or range, or a list of these; python: only functions of Python; heap: thread */
	const char *group_by;
	/* --top-level: show only operators that no other operator called */
	bool top_level;
	/* --engine NAME: show this training engine (default: of nested ones the outermost) */
	const char *engine;
	/* --skip-iteration N: leave the run's first N iterations out of the view sequence and the
	 * layout singa (default: 0, in the layout what the program chose) */
	bool has_skip_iteration;
	uint64_t skip_iteration;
	/* --events: layers: show the operators within each layer */
	bool events;
	/* --paths LIST: layers: show only these layers and the layers below them, as
	 * Net.stem,Net.block.* */
	const char *paths;

	/* ---- For views; layouts refuse it. */
	/* --leaves: layers: show only layers that contain no other layer */
	bool leaves;
	/* --per-call: layers: a row for each call of a layer */
	bool per_call;

	/* ---- For layouts; views refuse it. */
	/* --header TEXT: print TEXT above the table, in layouts that have such a line */
	const char *header;
	/* --widths LIST: how wide columns of a layout may be, in characters: name=N,shapes=N,source=N
	 * */
	const char *widths;
	/* --verbosity LEVEL: layout singa: 1 forward and backward, 2 every operation, 3 the distributed
	 * ones (default: what the program chose, otherwise 2) */
	bool has_verbosity;
	uint64_t verbosity;
	/* --time-unit UNIT: print all times in one unit */
	const char *time_unit;

	/* ---- For views; layouts refuse it. */
	/* --all: verdict: list every rule, with those that were not measured and what to record for
	 * them */
	bool all;
	/* --name PATTERN: show only rows of this name, as 'aten::conv*': * is any text, ? any character
	 * */
	const char *named;
	/* --min-duration TIME: show only rows of at least this time, as 10us or 1.5ms; a row's time is
	 * its total, in the view steps the step's duration, in sequence the mean */
	const char *min_duration;
	/* --merge-threads: threads: show the threads of a process that have one name as one row */
	bool merge_threads;

	/* ---- For views and layouts. */
	/* --ranges LIST: calls, layout torch: the rows beside operators, a list of named, steps and
	 * actions, or none (default: named,steps) */
	const char *ranges;
};
/* [tools/generate end] */

/*
 * Runs a view; dwell_view_name() lists them. The caller destroys the resulting table, which
 * stays valid after the trace is closed. (The table of an overview is a chain of several.)
 * Errors: DWELL_E_NAME, with the nearest name in the message; DWELL_E_NO_DATA, with what would
 * have to be recorded.
 */
DWELL_API int dwell_trace_view(struct dwell_trace *trace, const char *view,
                               const struct dwell_view_options *options,
                               struct dwell_table **table, struct dwell_error *error);
/* Frees a table with the tables chained to it. NULL is ignored. */
DWELL_API void dwell_table_destroy(struct dwell_table *table);

/*
 * Prints a summary of at most 64 KB: verdicts with their evidence, the parts of a step, what was not
 * measured, losses, the machine and versions. `format` is "json" for programs (doc/reference/machine-summary.md
 * describes the keys) or "md" for people. Errors: DWELL_E_NAME for another format, DWELL_E_IO,
 * DWELL_E_NOSPACE, DWELL_E_NOMEM.
 */
DWELL_API int dwell_trace_summary(struct dwell_trace *trace, const char *format, FILE *file,
                                  struct dwell_error *error);

struct dwell_print_options {
	size_t size;
	const char *format;   /* "text", "csv", "json", "md", "html" (a fragment); NULL means "text" */
	unsigned width;       /* of the terminal, in columns; 0 means not a terminal */
	bool color;           /* uses the terminal's colors */
	bool utf8;            /* the terminal or the file may contain more than ASCII */
	const char *time_unit; /* text and Markdown: "s", "ms", "us", "ns" throughout; NULL means what fits */
};

/* Prints tables one after the other; in JSON they are one document. Errors: DWELL_E_NAME for an
 * unknown format, DWELL_E_ARGUMENT for an unknown unit, DWELL_E_IO, DWELL_E_NOSPACE. */
DWELL_API int dwell_table_print(const struct dwell_table *const *tables, size_t count, FILE *file,
                                const struct dwell_print_options *options,
                                struct dwell_error *error);

/* Sentences about what is damaged in the trace and what was recovered, by index from 0; NULL past
 * the last one. The texts are valid until the trace is closed. */
DWELL_API const char *dwell_trace_repair(struct dwell_trace *trace, size_t index);

/*
 * Prints what another profiler would have printed ("torch", "torch:1.13"). It differs from the
 * original only where that is wrong. On success error->message holds a note about the output, or
 * "". Errors:
 * DWELL_E_NAME with the nearest name, DWELL_E_NO_DATA, DWELL_E_ARGUMENT, DWELL_E_IO.
 */
DWELL_API int dwell_trace_layout(struct dwell_trace *trace, const char *layout,
                                 const struct dwell_view_options *options, FILE *file,
                                 struct dwell_error *error);

struct dwell_export_options {
	size_t size;
	const char *metric; /* what a picture or a stack counts; NULL means time */
	const char *title;  /* of a picture; NULL means the program's name */
	const char *named;  /* only events of this name: * is any text, ? any character; NULL means all.
	                     * For the formats chrome, perfetto, speedscope and xplane. Steps stay. */
	const char *min_duration; /* only ranges of at least this time, as "10us"; NULL means all */
};

/* Writes the trace for another tool, compressed if `path` ends in .gz, and to standard output
 * if `path` is NULL or "-". `options` may be NULL. Errors: DWELL_E_IO, DWELL_E_NOSPACE,
 * DWELL_E_NAME, DWELL_E_ARGUMENT, DWELL_E_NO_DATA, DWELL_E_NOMEM. */
DWELL_API int dwell_trace_export(struct dwell_trace *trace, const char *format, const char *path,
                                 const struct dwell_export_options *options,
                                 struct dwell_error *error);

/* Single events, for programs that analyse a trace themselves. */
enum dwell_trace_event_type {
	DWELL_TRACE_RANGE = 0,
	DWELL_TRACE_MARK = 1,
	DWELL_TRACE_COUNTER = 2,
	DWELL_TRACE_ALLOC = 3,
	DWELL_TRACE_FREE = 4,
	DWELL_TRACE_ASYNC = 5,    /* a range that is not nested in the other ranges of its thread */
	DWELL_TRACE_FLOW_OUT = 6,
	DWELL_TRACE_FLOW_IN = 7,
	DWELL_TRACE_STEP = 8,     /* `value` is its number */
};

struct dwell_trace_frame {
	const char *function;
	const char *file;      /* or NULL */
	uint32_t line;         /* or 0 */
};

struct dwell_trace_event {
	uint32_t type;             /* enum dwell_trace_event_type */
	uint32_t category;         /* enum dwell_category, or a number that a later version wrote */
	const char *name;
	const char *detail;        /* overload of an operator, unit, device; or NULL */
	uint32_t pid, tid;
	uint32_t depth;            /* RANGE: the number of ranges around it */
	bool open;                 /* it never ended: end_ns is the end of its process */
	uint64_t start_ns, end_ns; /* since the start of the run */
	uint64_t handle;           /* ALLOC and FREE: the address; ASYNC and FLOW: the handle */
	uint64_t size_bytes;       /* ALLOC */
	double value;              /* COUNTER, STEP */
	uint64_t sequence_number;  /* of autograd; UINT64_MAX means none */
	uint32_t forward_tid;      /* the thread that ran the forward; 0 means none */
	uint32_t tensor_count;
	/* Arguments of an operator, or a layer's own parameters. Those with dtype DWELL_ARG_INT,
	 * DWELL_ARG_INTS, DWELL_ARG_BOOL or DWELL_ARG_BOOLS are integers. The first may be the call's FLOPs
	 * and bytes, of dtype DWELL_ARG_WORK. */
	const struct dwell_tensor *tensors;
	const struct dwell_trace_frame *stack; /* innermost first */
	uint32_t stack_depth;
	const char *args;          /* what the program recorded about this call, or NULL */
	/* Floating-point operations of an operator's call, by its name and arguments, or as the program gave them; -1:
	 * not known. Where a call and one around it have a count, both are counts of the same work. */
	int64_t flops;
};

/*
 * Calls `each` for every event in the trace's scope: one thread after the other, ranges when
 * they end, steps last. The event is valid during the call only. If `each` returns a value
 * other than 0, the iteration stops and returns that value. Errors: DWELL_E_NOMEM.
 */
DWELL_API int dwell_trace_events(struct dwell_trace *trace,
                                 int (*each)(const struct dwell_trace_event *event, void *context),
                                 void *context, struct dwell_error *error);

/*
 * Runs one statement of SQL on a trace, as `dwell query`: the tables are those of views, `ranges`, `steps`, `metadata` and
 * `losses`; ".schema" lists them. A statement that takes longer than `most_ms` ends with an error; 0: it may take any
 * time. On success error->message holds a note about the answer, or "". The caller destroys the table. Errors:
 * DWELL_E_ARGUMENT for bad SQL, with its place, and for what takes too much time or memory; DWELL_E_NO_DATA;
 * DWELL_E_UNSUPPORTED without SQLite.
 */
DWELL_API int dwell_trace_query(struct dwell_trace *trace, const char *sql, uint64_t most_ms,
                                struct dwell_table **table, struct dwell_error *error);

/*
 * Rows as columns in memory, which libraries of data frames take without a copy: the structures of Arrow's C data
 * interface, as arrow.apache.org specifies them. Their memory does not depend on the trace. Whoever gets them calls
 * release() of both.
 */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *schema);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};
#endif

/* The columns of a table, the first of a chain. Errors: DWELL_E_NOMEM. */
DWELL_API int dwell_table_columns(const struct dwell_table *table, struct ArrowSchema *schema,
                                  struct ArrowArray *columns, struct dwell_error *error);

/*
 * Calls `each` for the rows of a table of the trace, some thousands at a time: `ranges`, `steps`, `allocations`,
 * `samples`, `device_events`, and what else `dwell export --format sqlite` writes; of all tables, if `name` is NULL. A
 * table without rows is passed on once, empty. With `dictionaries`, columns of names have Arrow's dictionaries, each of these
 * rows alone. If `each` returns a value other than 0, the walk ends and returns that value. Errors: DWELL_E_NAME,
 * DWELL_E_NOMEM.
 */
DWELL_API int dwell_trace_columns(struct dwell_trace *trace, const char *name, bool dictionaries,
                                  int (*each)(const char *table, struct ArrowSchema *schema,
                                              struct ArrowArray *columns, void *context),
                                  void *context, struct dwell_error *error);

/* The name of the view, layout or export format at `index`, from 0; NULL past the end. The second
 * argument receives the question that a view answers, or a description; it may be NULL. The texts
 * are static. */
DWELL_API const char *dwell_view_name(size_t index, const char **question);
DWELL_API const char *dwell_layout_name(size_t index, const char **what);
DWELL_API const char *dwell_export_name(size_t index, const char **what);

#ifdef __cplusplus
}
#endif
#endif
