/*
 * Profilers of a trainer's actions, compatible with Lightning's.
 *
 *     struct dwell_lightning_profiler *profiler = dwell_lightning_create("simple", NULL, &error);
 *     dwell_lightning_setup(profiler, "fit", -1, NULL, &error);
 *     {
 *         DWELL_LIGHTNING_ACTION(profiler, "training_step");     the rest of this block
 *         ...
 *     }
 *     dwell_lightning_describe(profiler, &error);                the report
 *     dwell_lightning_teardown(profiler, &error);
 *     dwell_lightning_destroy(profiler);
 *
 * An action is a named range of the trace (DWELL_CATEGORY_ACTION), and a stage is a profile with
 * its name. So `dwell report --layout lightning` prints the same reports after the program has
 * ended, and all other views and exports show the actions too. Actions nest, recur and run in
 * several threads at once. A program may bring its own profiler: a structure that begins with
 * struct dwell_lightning_profiler, and a table of functions.
 *
 * This is libdwell-lightning (`pkg-config dwell-lightning`). It uses libdwell-read, because a
 * report reads the program's own trace. Actions may be started and stopped in any thread; the
 * other functions may be called by one thread at a time for a profiler.
 */
#ifndef DWELL_COMPAT_LIGHTNING_H
#define DWELL_COMPAT_LIGHTNING_H

#include <stdio.h>

#include <dwell/dwell.h>
#include <dwell/probe.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dwell_lightning_profiler;

/*
 * What a profiler does. Each function may be NULL. `start` and `stop` are called in the thread of
 * the action, in addition to what the library records; the functions below call the others.
 * `error` is never NULL. The table must live as long as the profiler.
 */
struct dwell_lightning_methods {
	size_t size;      /* sizeof this structure */
	const char *name;
	int (*setup)(struct dwell_lightning_profiler *profiler, struct dwell_error *error);
	void (*start)(struct dwell_lightning_profiler *profiler, const char *action);
	void (*stop)(struct dwell_lightning_profiler *profiler, const char *action);
	int (*summary)(struct dwell_lightning_profiler *profiler, FILE *file,
	               struct dwell_error *error);
	int (*teardown)(struct dwell_lightning_profiler *profiler, struct dwell_error *error);
};

/* Only read the fields of this structure. */
struct dwell_lightning_profiler {
	const struct dwell_lightning_methods *methods;
	bool records;         /* actions become ranges of the trace */
	int local_rank;       /* -1 if there is none */
	const char *stage;    /* between setup and teardown, otherwise NULL */
	const char *dirpath;  /* the report goes to this folder and file if both are given */
	const char *filename;
	struct dwell_lightning_own *own; /* the library's */
};

struct dwell_lightning_options {
	size_t size;             /* sizeof this structure */
	const char *dirpath;     /* NULL means the folder that dwell_lightning_setup() is given */
	const char *filename;    /* of the report, without ".txt"; NULL means standard output */
	bool brief;              /* simple: without calls and shares, sorted by mean */
	/* advanced: rows for each action; a value below 1 is a share of them; 0 and 1 mean all */
	double line_restriction;
	bool record_shapes;      /* operators */
	bool profile_memory;     /* operators */
	unsigned row_limit;      /* operators; 0 means 20 */
	const char *sort_by;     /* operators: a key of torch.profiler; NULL means cpu_time_total */
	const char *record_functions; /* operators: further actions with a table: "NAME,NAME" */
	/*
	 * operators: optional further options of the stage's recording, its schedule and
	 * on_trace_ready. Steps are the stage's own: in a fit the training steps. The report covers
	 * the last cycle. The options are copied; their name is not used.
	 */
	const struct dwell_profile_options *profile;
	unsigned port;           /* xla: the port that serves captures; 0 means 9012 */
};

#define DWELL_LIGHTNING_OPTIONS_INIT                                                     \
	{ sizeof(struct dwell_lightning_options), NULL, NULL, false, 0, false, false, 0, NULL, NULL, \
	  NULL, 0 }

/*
 * Creates a profiler by its name, in upper or lower case:
 *
 *     simple      the time of each action
 *     advanced    the functions inside each action; build with -finstrument-functions, see
 *                 probes/functions
 *     operators   the operators of the stage; also called "pytorch"
 *     xla         serves captures, see dwell_serve_start(), from the first training_step,
 *                 backward, validation_step, test_step or predict_step on; nothing is recorded
 *                 until a client asks, and there is no report
 *     none        nothing
 *
 * If `options` is NULL, the defaults hold. The texts are copied. Returns NULL on failure:
 * DWELL_E_NAME, with the names in the message; DWELL_E_ARGUMENT; DWELL_E_NOMEM.
 */
DWELL_API struct dwell_lightning_profiler *
dwell_lightning_create(const char *name, const struct dwell_lightning_options *options,
                       struct dwell_error *error);
/* Ends the stage and frees the profiler. NULL is ignored. */
DWELL_API void dwell_lightning_destroy(struct dwell_lightning_profiler *profiler);

/* For a profiler of the program's own: initialises its first member. The texts are copied, and
 * dwell_lightning_reset() ends the stage and frees the copies. Errors: DWELL_E_ARGUMENT for a
 * table of another size, DWELL_E_NOMEM. */
DWELL_API int dwell_lightning_init(struct dwell_lightning_profiler *profiler,
                                   const struct dwell_lightning_methods *methods,
                                   const char *dirpath, const char *filename,
                                   struct dwell_error *error);
DWELL_API void dwell_lightning_reset(struct dwell_lightning_profiler *profiler);

/*
 * Begins a stage: "fit", "validate", "test" or "predict". Its report covers what is recorded from
 * now on, in this thread and in threads without a profile of their own. `local_rank` is -1 if there
 * are no ranks. The report goes to `log_dir` if no other folder was given. Starts a session if none
 * runs. Errors: DWELL_E_STATE inside a stage, DWELL_E_NOMEM, and those of dwell_start().
 */
DWELL_API int dwell_lightning_setup(struct dwell_lightning_profiler *profiler, const char *stage,
                                    int local_rank, const char *log_dir,
                                    struct dwell_error *error);

/*
 * Begin and end an action whose name is known at run time only. Actions may be stopped in any
 * order, regardless of the ranges that began inside them, and in the thread that started them.
 * dwell_lightning_stop() returns DWELL_E_STATE if this thread has started no such action.
 * Stopping an action that the end of its stage has already closed has no effect.
 */
DWELL_API void dwell_lightning_start(struct dwell_lightning_profiler *profiler, const char *action);
DWELL_API int dwell_lightning_stop(struct dwell_lightning_profiler *profiler, const char *action,
                                   struct dwell_error *error);

/* Writes the report so far, made from the trace. Errors are those of dwell_trace_open() and
 * dwell_trace_layout(). */
DWELL_API int dwell_lightning_summary(struct dwell_lightning_profiler *profiler, FILE *file,
                                      struct dwell_error *error);

/* Stores what the stage has recorded so far, or what the last one recorded, for
 * dwell_trace_open_result(). Errors: DWELL_E_NO_DATA before the first stage. */
DWELL_API int dwell_lightning_result(const struct dwell_lightning_profiler *profiler,
                                     struct dwell_profile_result *result,
                                     struct dwell_error *error);

/*
 * Writes the report: appends it to DIRPATH/STAGE-FILENAME-RANK.txt if folder and file name are
 * given (and creates the folder), otherwise prints it on standard output, on rank 0 only. What is
 * recorded afterwards no longer belongs to the stage. Errors: DWELL_E_IO, and those of
 * dwell_lightning_summary().
 */
DWELL_API int dwell_lightning_describe(struct dwell_lightning_profiler *profiler,
                                       struct dwell_error *error);

/*
 * Ends the stage. DWELL_E_STATE names an action that was left open: it is closed, and actions of
 * other threads are closed when those threads end. The stage ends even then.
 */
DWELL_API int dwell_lightning_teardown(struct dwell_lightning_profiler *profiler,
                                       struct dwell_error *error);

/* Makes a file name such as "fit-perf-0-training_step.txt" from the parts that are given, with
 * unsafe characters replaced. `size` is the size of the buffer `name`; returns the length of the
 * whole file name, as snprintf() does. */
DWELL_API int dwell_lightning_filename(const struct dwell_lightning_profiler *profiler,
                                       const char *action, const char *extension, char *name,
                                       size_t size);

/* ---- the scope ------------------------------------------------------------------------ */

struct dwell_lightning_scope {
	struct dwell_lightning_profiler *profiler; /* NULL if it has no functions to call */
	const char *name;
	unsigned began;
};

DWELL_INLINE struct dwell_lightning_scope
dwell_lightning_enter(struct dwell_lightning_profiler *profiler, struct dwell_site *site)
{
	struct dwell_lightning_scope scope = { NULL, NULL, DWELL_NOT_BEGUN };

	if (!profiler)
		return scope;
	if (DWELL_UNLIKELY(profiler->methods->start || profiler->methods->stop)) {
		scope.profiler = profiler;
		scope.name = site->name;
		if (profiler->methods->start)
			profiler->methods->start(profiler, site->name);
	}
	if (profiler->records)
		scope.began = dwell_begin(site);
	return scope;
}

DWELL_INLINE void dwell_lightning_leave(const struct dwell_lightning_scope *scope)
{
	dwell_end(scope->began);
	if (DWELL_UNLIKELY(scope->profiler) && scope->profiler->methods->stop)
		scope->profiler->methods->stop(scope->profiler, scope->name);
}

#ifdef __cplusplus
}
struct dwell_lightning_of_block {
	DWELL_UNSEEN dwell_lightning_of_block(struct dwell_lightning_profiler *profiler,
	                                      struct dwell_site *site)
	    : scope(dwell_lightning_enter(profiler, site)) {}
	DWELL_UNSEEN ~dwell_lightning_of_block() { dwell_lightning_leave(&scope); }
	dwell_lightning_of_block(const dwell_lightning_of_block &) = delete;
	dwell_lightning_of_block &operator=(const dwell_lightning_of_block &) = delete;
	struct dwell_lightning_scope scope;
};
#define DWELL_LIGHTNING_ACTION_OPEN(profiler, n)                                         \
	const dwell_lightning_of_block DWELL_JOIN(dwell_lightning_action_, n)(                   \
	    profiler, &DWELL_JOIN(dwell_site_, n))
#elif !defined(DWELL_DISABLE)
/* `entered` proves that the scope was entered: see struct dwell_block. */
struct dwell_lightning_block {
	struct dwell_block entered;
	struct dwell_lightning_scope scope;
};

DWELL_INLINE struct dwell_lightning_block
dwell_lightning_block_enter(struct dwell_lightning_block *block,
                            struct dwell_lightning_profiler *profiler, struct dwell_site *site)
{
	struct dwell_lightning_block entered = { dwell_block_enter(&block->entered, 1),
		                                     dwell_lightning_enter(profiler, site) };

	return entered;
}

DWELL_INLINE void dwell_lightning_block_leave(struct dwell_lightning_block *block)
{
	if (dwell_block_close(&block->entered))
		dwell_lightning_leave(&block->scope);
}

#define DWELL_LIGHTNING_ACTION_OPEN(profiler, n)                                         \
	struct dwell_lightning_block DWELL_JOIN(dwell_lightning_action_, n)                      \
	    __attribute__((__cleanup__(dwell_lightning_block_leave), __unused__)) =              \
	        dwell_lightning_block_enter(&DWELL_JOIN(dwell_lightning_action_, n), profiler,   \
	                                    &DWELL_JOIN(dwell_site_, n))
#endif

#ifdef DWELL_DISABLE
#define DWELL_LIGHTNING_ACTION(profiler, name) DWELL_IGNORE_TWO(name, profiler)
#else
/* The rest of the block is the action; `name` is a literal. If `profiler` is NULL, nothing is
 * recorded. */
#define DWELL_LIGHTNING_ACTION(profiler, name) DWELL_LIGHTNING_ACTION_N(profiler, name, __COUNTER__)
#define DWELL_LIGHTNING_ACTION_N(profiler, name, n)                                      \
	DWELL_CHECK_LITERAL(name);                                                               \
	DWELL_SITE(DWELL_JOIN(dwell_site_, n), DWELL_CATEGORY_ACTION, name, NULL);               \
	DWELL_LIGHTNING_ACTION_OPEN(profiler, n)
#endif
#endif
