/*
 * The model: what happened, in the field's terms.
 *
 * Between a source (records) and a view (a question) stand a few products, each
 * computed once, when first asked for, by one pass over the chunks that the scope
 * touches, streams side by side on all cores. Memory grows with what the product
 * holds (names, tree nodes, steps), never with the number of records. Everything
 * is the model's and ends with dw_model_destroy().
 *
 * A model has one scope. dw_model_within() returns the model of another scope of the same run,
 * with the same symbols: it belongs to the first one, and equal scopes are the same model.
 *
 *   symbols   names merged by content over all files
 *   flat      calls, self, total, min, max, percentiles by (kind, symbol)
 *   tree      the same by call path and thread
 *   paths     more of them, without percentiles, for pictures; recorded stacks too
 *   steps     each step with its breakdown; what lies outside them
 *   threads   records, time covered, losses by thread
 *
 * Self excludes children of the same kind; total is inclusive time, of a call within
 * another one of the same row only that of the outer one.
 * Sums are kept in ticks and converted once, so that parts add up to the whole.
 */
#ifndef DW_MODEL_MODEL_H
#define DW_MODEL_MODEL_H

#include "base/arena.h"
#include "dwell/probe.h"
#include "read/source.h"

struct dw_scope {
	bool has_steps;
	uint64_t steps_from, steps_to; /* ranges count that begin inside one of these steps */
	const bool *steps_counted;     /* with has_steps: of those only these, by step of the
	                                * source; it outlives the model. NULL: all */
	bool step_threads;             /* ranges count of threads that step */
	const char *thread;            /* name or tid; NULL: all */
	/* Ranges count that begin while one of these profiles is open, in its thread or in
	 * one that has no profile of its own open then; in its process or a child. */
	const char *profile;           /* by name or id; NULL: all times */
	uint32_t profile_id;           /* by id alone; 0: all */
	/* Ranges count that begin in this window, by the run's time line; of the above with
	 * `thread` alone. */
	bool has_window;
	uint64_t from_ns, to_ns;
	/* Ranges count that begin within this action of their thread, or of their process
	 * where the thread has no actions at all. */
	const char *action;            /* NULL: all times */
};

#define DW_NOT_KEPT UINT64_MAX

/* Durations of many calls. Percentiles are exact up to 64 calls and within 1.6%
 * beyond (32 buckets an octave). */
struct dw_stat {
	uint64_t count;
	uint64_t total_ns, self_ns; /* total: of a row within itself, once: never more than the
	                             * time of the threads */
	uint64_t nested_ns;         /* with total_ns the sum of all durations */
	uint64_t min_ns, max_ns;
	uint64_t p50_ns, p99_ns; /* DW_NOT_KEPT: of more call paths than have them */
	uint64_t open;      /* of `count`, calls without an end: counted until their process's end */
	uint64_t cut;       /* of `count`, calls whose end was recycled: counted until there */
};

struct dw_flat_row {
	uint32_t symbol;    /* index into dw_model_symbols(): the first of those in the row */
	struct dw_stat stat;
};

struct dw_flat {
	struct dw_flat_row *rows; /* by self time, descending */
	size_t count;
	uint64_t wall_ns;         /* of the scope */
	uint64_t records;         /* of all categories */
	uint64_t ranges, open;    /* of all categories */
	uint64_t orphans;         /* ends whose begin was recycled or lost: counted nowhere else */
	uint64_t last_ns;         /* of the last record */
};

struct dw_tree_node {
	uint32_t symbol;
	uint32_t thread;    /* index into source threads; roots are threads: symbol == DW_NO_INDEX */
	uint32_t parent;    /* index or DW_NO_INDEX */
	uint32_t depth;
	struct dw_stat stat; /* self here excludes all children: what flame graphs draw */
};

struct dw_tree {
	struct dw_tree_node *nodes; /* depth first, siblings by total descending; a root has a
	                             * total only */
	size_t count;
};

/* Call paths without percentiles: small, and as many as a picture can have. */
enum dw_paths_of {
	DW_PATHS_CALLS,  /* of all ranges, as in the tree */
	DW_PATHS_STACKS, /* of operators, below the recorded stack of the outermost one */
	DW_PATHS_KINDS
};

struct dw_path {
	uint64_t total_ns, self_ns; /* a root has a total only */
	uint32_t count;
	uint32_t symbol;     /* index into dw_paths.symbols; of a root: into source threads */
	uint32_t depth;      /* 0: a root, which is a thread; a path's parent is the last one above */
};

struct dw_paths {
	struct dw_path *nodes; /* depth first, siblings by total descending */
	size_t count;
	const struct dw_symbol *symbols; /* those of the model; of stacks, functions too */
	bool has_stacks;       /* some operator has one; of DW_PATHS_STACKS */
};

/*
 * The exclusive breakdown, first match wins. The order is the precedence up to PYTHON. The
 * rest of the time is NAMED after phases and outermost ranges of the program; where there is
 * none it is that of OPERATORS, LAYERS or FUNCTIONS, and OTHER: in no range of the thread.
 */
#define DW_SHARES(X)                                                                   \
	X(PROFILER, "profiler") X(COLLECTOR, "collector") X(DATA, "data")                  \
	X(COMMUNICATION, "communication") X(DEVICE, "device") X(CHECKPOINT, "checkpoint")  \
	X(EVALUATION, "evaluation") X(OPTIMIZER, "optimizer") X(BACKWARD, "backward")      \
	X(FORWARD, "forward") X(PYTHON, "python") X(OPERATORS, "operators")                \
	X(LAYERS, "layers") X(FUNCTIONS, "functions") X(NAMED, "named") X(OTHER, "other")
enum dw_share {
#define X(name, label) DW_SHARE_##name,
	DW_SHARES(X)
#undef X
	DW_SHARE_COUNT
};

/* Time under a name of the program's own. */
struct dw_step_part {
	uint32_t symbol;
	uint64_t ns;
};

struct dw_step {
	uint32_t thread;           /* index into source threads */
	uint64_t number;
	uint64_t start_ns, end_ns;
	uint64_t cpu_ns;
	bool open;                 /* it did not end: not in the percentiles */
	bool recorded;             /* its gate was open; else all of it is OTHER */
	bool whole;                /* no records of its process are missing in it */
	bool counted;              /* it is part of figures a step: recorded, whole and ended */
	uint64_t share_ns[DW_SHARE_COUNT]; /* sums to end_ns - start_ns exactly */
	const struct dw_step_part *parts;  /* sum to share_ns[DW_SHARE_NAMED] exactly */
	uint32_t part_count;
	/* what took longest beyond its median over all steps, for "why was it slow" */
	uint32_t slow_symbol;      /* DW_NO_INDEX: nothing stands out */
	uint64_t slow_extra_ns;
};

/* The name among dw_steps.besides of steps that the trace has as sums only. */
#define DW_STEPS_SUMMED "summarised steps"

struct dw_beside {             /* time of the step thread outside steps, named */
	const char *name;          /* "start-up", "evaluation", "checkpoint", "data", "other", "after the last step" */
	uint64_t ns;
	uint64_t count;
};

struct dw_steps {
	struct dw_step *steps;     /* of the step threads, by process, thread and start */
	size_t count;
	size_t open_count;         /* of `count`, those that did not end */
	struct dw_beside *besides;
	size_t beside_count;
	/* Over the counted steps; where none ended, those that did not count too. */
	uint64_t share_ns[DW_SHARE_COUNT];
	struct dw_step_part *parts;        /* of share_ns[DW_SHARE_NAMED], descending */
	size_t part_count;
	uint64_t recorded_ns;              /* what share_ns sums to */
	size_t recorded_count;
	uint64_t helped_ns;        /* of all steps: backward waited for operators of other threads */
	bool *counted;             /* by step of the source */
	size_t cut_count;          /* recorded steps in which records are missing */
	uint64_t steps_ns, wall_ns;        /* steps + besides = wall of the step threads; with a
	                                    * scope of steps there are no besides */
	uint64_t missing_ns;       /* of the wall: not recorded, or records are missing */
	/* Of the steps that ended; of all when none did. */
	uint64_t ended_ns;
	size_t ended_count;
	uint64_t p50_ns, p95_ns, p99_ns, mean_ns;
	uint32_t *threads;         /* the step threads: the first one of a process has most steps */
	size_t thread_count, process_count;
	/* Steps that the trace has as sums only, because the part of the file that holds
	 * steps one by one was full: they are in none of the above. */
	uint64_t summed_count, summed_ns, summed_from; /* `summed_from`: number of the first */
};

struct dw_thread_row {
	uint32_t thread;           /* index */
	bool nested;
	uint64_t records, ranges;
	uint64_t first_ns, last_ns;
	uint64_t busy_ns;          /* inside some range */
	uint64_t gap_ns;           /* recycled */
	uint64_t missing_ns;       /* records are missing, and no range is known to last on */
	uint64_t lost;
};

/* Half-open, ascending, apart; the last one starts at UINT64_MAX. */
struct dw_interval {
	uint64_t start_ticks, end_ticks;
};

struct dw_threads {
	struct dw_thread_row *rows;
	size_t count;
	/* Times in which records are missing: recycled, or lost for want of space. By index of
	 * the thread, and by index of the process over all its threads in scope. */
	const struct dw_interval **missing, **process_missing;
};

struct dw_model;

/* `scope` NULL: everything. The source must outlive the model; the texts of the scope are copied. */
int dw_model_create(struct dw_model **model, const struct dw_source *source,
                    const struct dw_scope *scope, struct dwell_error *error);
/* Of a model that dw_model_create() made; with it end those of dw_model_within(). */
void dw_model_destroy(struct dw_model *model);

/*
 * The same run in another scope, which is all of it and no change of the model's own scope.
 * *part is the model itself where the scopes are equal; otherwise it is made once, and valid
 * until `model` is destroyed or *part forgotten.
 */
int dw_model_within(struct dw_model *model, const struct dw_scope *scope, struct dw_model **part,
                    struct dwell_error *error);
/* For callers that go through very many scopes: frees what dw_model_within() made now. A model
 * of dw_model_create() is left as it is. */
void dw_model_forget(struct dw_model *part);

const struct dw_source *dw_model_source(const struct dw_model *model);
/* As views call it and --thread takes it: "resnet18", of several processes "rank 0 python",
 * of several threads of that name "worker [4713]". */
void dw_model_thread_name(const struct dw_model *model, uint32_t thread, char *room, size_t size);
/* Whether another thread of its process has its name: then the tid tells them apart. */
bool dw_model_has_namesake(const struct dw_model *model, uint32_t thread);
const struct dw_scope *dw_model_scope(const struct dw_model *model);
/* Whether only part of the time is in scope; and whether a step is. */
bool dw_model_is_partial(const struct dw_model *model);
bool dw_model_has_step(const struct dw_model *model, const struct dw_source_step *step);

/* Merged names; *count of them (count may be NULL). */
const struct dw_symbol *dw_model_symbols(struct dw_model *model, size_t *count);

/* What was torn and what was recovered, as sentences with their numbers (the
 * source's own repairs lack those: they would need a pass). NULL: out of memory. */
const char *const *dw_model_repairs(struct dw_model *model, size_t *count);

/* What people ask to keep apart beside the name. */
struct dw_grouping {
	bool shapes;           /* of the arguments */
	bool overload;         /* the detail of an operator */
	uint32_t stack_frames; /* so many of the innermost frames; 0: none */
};
/* Reads "shape,overload,stack:5"; NULL and "" group by nothing. Errors: DWELL_E_NAME,
 * DWELL_E_ARGUMENT. */
int dw_grouping_parse(const char *text, struct dw_grouping *group, struct dwell_error *error);

/* What makes two calls the same: a row is all calls of one name and category,
 * or of one symbol (shapes and call site apart). */
enum dw_by { DW_BY_NAME, DW_BY_SYMBOL };
const struct dw_flat *dw_model_flat_by(struct dw_model *model, uint32_t categories, enum dw_by by,
                                       struct dwell_error *error);

/* The products: NULL with `error` filled when out of memory. Not thread-safe.
 * `categories` is a mask of 1 << enum dwell_category. The flat one is by name. */
const struct dw_flat *dw_model_flat(struct dw_model *model, uint32_t categories,
                                    struct dwell_error *error);
const struct dw_tree *dw_model_tree(struct dw_model *model, struct dwell_error *error);
const struct dw_paths *dw_model_paths(struct dw_model *model, enum dw_paths_of of,
                                      struct dwell_error *error);
const struct dw_steps *dw_model_steps(struct dw_model *model, struct dwell_error *error);
const struct dw_threads *dw_model_threads(struct dw_model *model, struct dwell_error *error);

/* Which categories occur at all, as a mask; marks, counters and allocations too. */
uint32_t dw_model_categories(struct dw_model *model);

/* Share of the scope's time (of the step threads, else of all threads) that was recorded. */
double dw_model_coverage(struct dw_model *model);

/* ---- events in order, for exporters --------------------------------------- */

struct dw_event {
	enum { DW_EVENT_RANGE, DW_EVENT_MARK, DW_EVENT_COUNTER, DW_EVENT_ALLOC, DW_EVENT_FREE,
	       DW_EVENT_ASYNC, DW_EVENT_FLOW_OUT, DW_EVENT_FLOW_IN } type;
	uint32_t symbol;
	uint32_t thread;       /* index */
	uint64_t start_ns, end_ns;
	uint64_t handle;       /* async, flow; the address of ALLOC and FREE */
	uint64_t size_bytes;   /* ALLOC */
	double value;          /* COUNTER */
	const char *args;      /* RANGE: from ARGS, or NULL */
	uint64_t sequence;     /* RANGE: from LINK; UINT64_MAX: none */
	uint32_t forward_thread;
	/* RANGE: where the program called it, an id in stacks of its file (the file of the
	 * thread's process); ranges within have it from the outermost. 0: not recorded. */
	uint32_t stack;
	bool nested;           /* of a signal handler's stream: it interrupted `thread` */
	bool open;             /* RANGE, ASYNC: it never ended */
	uint32_t depth;        /* RANGE: how many ranges it lies in */
};

/* Signal handlers write streams of their own, whose events lie in time within their threads'. */
enum dw_event_streams { DW_EVENTS_ALL, DW_EVENTS_OF_THREADS, DW_EVENTS_OF_HANDLERS };

/* Calls `each` for every event of the scope in these streams, stream after stream, ranges when
 * they end; stops at the first non-zero result and returns it. */
int dw_model_events_of(struct dw_model *model, enum dw_event_streams which,
                       int (*each)(void *context, const struct dw_event *event), void *context,
                       struct dwell_error *error);
/* The same for all streams. */
int dw_model_events(struct dw_model *model, int (*each)(void *context, const struct dw_event *event),
                    void *context, struct dwell_error *error);

#endif
