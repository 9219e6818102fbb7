/*
 * Profilers of a trainer's actions, compatible with Lightning's.
 *
 *     struct dwell_lightning_profiler *profiler = dwell_lightning_create("simple", NULL, &error);
 *     dwell_lightning_setup(profiler, "fit", -1, NULL, &error);
 *     {
 *         DWELL_LIGHTNING_ACTION(profiler, "training_step");     the rest of this block
 *         ...
 *     }
 *     dwell_lightning_describe(profiler, &error);        the report
 *     dwell_lightning_teardown(profiler, &error);
 *     dwell_lightning_destroy(profiler);
 *
 * An action is a named range of the trace (DWELL_CATEGORY_ACTION), a stage a profile of
 * its name, so that `dwell report --layout lightning` prints the same reports after the
 * program is gone, and all other views and exports see the actions too. Actions nest,
 * recur and run in several threads at once. A program may bring its own profiler: a
 * structure that begins with struct dwell_lightning_profiler, and a table of functions.
 *
 * This is libdwell-lightning (`pkg-config dwell-lightning`): a report reads the program's
 * own trace, which libdwell, small enough for any program to link, cannot.
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
 * What a profiler does. Each function may be NULL. `start` and `stop` are called in the
 * thread of the action, in addition to what the library records; the functions below call
 * the others. `error` is never NULL.
 */
struct dwell_lightning_methods {
	size_t size;      /* sizeof this structure */
	const char *name;
	int (*setup)(struct dwell_lightning_profiler *actions, struct dwell_error *error);
	void (*start)(struct dwell_lightning_profiler *actions, const char *action);
	void (*stop)(struct dwell_lightning_profiler *actions, const char *action);
	int (*summary)(struct dwell_lightning_profiler *actions, FILE *file, struct dwell_error *error);
	int (*teardown)(struct dwell_lightning_profiler *actions, struct dwell_error *error);
};

struct dwell_lightning_profiler {
	const struct dwell_lightning_methods *methods;
	bool records;         /* actions become ranges of the trace */
	int local_rank;       /* -1 if there is none */
	const char *stage;    /* between setup and teardown, else NULL */
	const char *dirpath;  /* where the report goes, if both are given; else NULL */
	const char *filename;
	struct dwell_lightning_own *own; /* the library's */
};

struct dwell_lightning_options {
	size_t size;             /* sizeof this structure */
	const char *dirpath;     /* NULL: the folder that dwell_lightning_setup() names */
	const char *filename;    /* of the report, without ".txt"; NULL: standard output */
	bool brief;              /* simple: without calls and shares, by mean */
	double line_restriction; /* advanced: rows for each action; below 1 a share of them; 0 and 1: all */
	bool record_shapes;      /* operators */
	bool profile_memory;     /* operators */
	unsigned row_limit;      /* operators; 0: 20 */
	const char *sort_by;     /* operators: a key of torch's; NULL: cpu_time_total */
	const char *record_functions; /* operators: further actions with a table: "NAME,NAME" */
	/*
	 * operators: further options of the stage's recording, its schedule and on_trace_ready;
	 * optional. Steps are the stage's own: in a fit the training steps. The report covers the
	 * last cycle. The options are copied; their name is not used.
	 */
	const struct dwell_profile_options *profile;
	unsigned port;           /* xla: the port that serves captures; 0 means 9012 */
};

#define DWELL_LIGHTNING_OPTIONS_INIT \
	{ sizeof(struct dwell_lightning_options), NULL, NULL, false, 0, false, false, 0, NULL, NULL, NULL, 0 }

/*
 * Creates a profiler by its name, in upper or lower case: "simple" (the time of each action),
 * "advanced" (the functions within each action: build with -finstrument-functions, see
 * probes/functions), "operators" or "pytorch", "xla" (serves captures from the first
 * training_step, backward, validation_step, test_step or predict_step on, see
 * dwell_serve_start(); nothing is recorded until a client asks, and there is no report), and
 * "none". If `options` is NULL, the defaults hold. Returns NULL with DWELL_E_NAME, whose
 * message lists the names, or DWELL_E_NOMEM.
 */
DWELL_API struct dwell_lightning_profiler *dwell_lightning_create(const char *name,
                                                     const struct dwell_lightning_options *options,
                                                     struct dwell_error *error);
/* Tears down first. A NULL argument is ignored. */
DWELL_API void dwell_lightning_destroy(struct dwell_lightning_profiler *actions);

/* For a profiler of your own: initialises its first member. The texts are copied;
 * dwell_lightning_reset() frees the library's copies. */
DWELL_API int dwell_lightning_init(struct dwell_lightning_profiler *actions,
                                 const struct dwell_lightning_methods *methods, const char *dirpath,
                                 const char *filename, struct dwell_error *error);
DWELL_API void dwell_lightning_reset(struct dwell_lightning_profiler *actions);

/*
 * Begins a stage: "fit", "validate", "test", "predict". Its report covers everything from
 * here on, in this thread and in threads without a profile of their own. The report goes to
 * `log_dir` if no other folder was given. Starts a session if none runs. Errors: DWELL_E_STATE
 * inside a stage, and the errors of dwell_start().
 */
DWELL_API int dwell_lightning_setup(struct dwell_lightning_profiler *actions, const char *stage,
                                  int local_rank, const char *log_dir, struct dwell_error *error);

/*
 * An action whose name is known at run time only. Actions may be stopped in any order,
 * regardless of the ranges that began within. dwell_lightning_stop() returns DWELL_E_STATE if
 * this thread has started no such action. Stopping an action that the end of its stage has
 * already closed has no effect.
 */
DWELL_API void dwell_lightning_start(struct dwell_lightning_profiler *actions, const char *action);
DWELL_API int dwell_lightning_stop(struct dwell_lightning_profiler *actions, const char *action,
                                 struct dwell_error *error);

/* Writes the report so far. It is made from the trace. */
DWELL_API int dwell_lightning_summary(struct dwell_lightning_profiler *actions, FILE *file,
                                    struct dwell_error *error);

/* What the stage has recorded so far, or what the last one recorded, for
 * dwell_trace_open_result(). DWELL_E_NO_DATA before the first stage. */
DWELL_API int dwell_lightning_result(const struct dwell_lightning_profiler *actions,
                                   struct dwell_profile_result *result,
                                   struct dwell_error *error);

/*
 * Writes the report: appends it to DIRPATH/STAGE-FILENAME-RANK.txt if folder and file name
 * are given (and creates the folder), else prints it on standard output, on rank 0 only.
 * What is recorded afterwards does not belong to the stage any more.
 */
DWELL_API int dwell_lightning_describe(struct dwell_lightning_profiler *actions, struct dwell_error *error);

/*
 * Ends the stage. DWELL_E_STATE names an action that was left open: it is closed, and actions
 * of other threads are closed when those threads end. The stage ends even then.
 */
DWELL_API int dwell_lightning_teardown(struct dwell_lightning_profiler *actions, struct dwell_error *error);

/* Makes a file name such as "fit-perf-0-training_step.txt" from the parts that are given, with
 * unsafe characters replaced. `room` is the size of `name`; returns the name's length, as
 * snprintf() does. */
DWELL_API int dwell_lightning_filename(const struct dwell_lightning_profiler *actions, const char *action,
                                     const char *extension, char *name, size_t room);

/* ---- the scope ------------------------------------------------------------------------ */

struct dwell_lightning_scope {
	struct dwell_lightning_profiler *actions; /* if the profiler has functions to be called; else NULL */
	const char *name;
	unsigned began;
};

DWELL_INLINE struct dwell_lightning_scope dwell_lightning_enter(struct dwell_lightning_profiler *actions,
                                                          struct dwell_site *site)
{
	struct dwell_lightning_scope scope = { NULL, NULL, DWELL_NOT_BEGUN };

	if (!actions)
		return scope;
	if (DWELL_UNLIKELY(actions->methods->start || actions->methods->stop)) {
		scope.actions = actions;
		scope.name = site->name;
		if (actions->methods->start)
			actions->methods->start(actions, site->name);
	}
	if (actions->records)
		scope.began = dwell_begin(site);
	return scope;
}

DWELL_INLINE void dwell_lightning_leave(const struct dwell_lightning_scope *scope)
{
	dwell_end(scope->began);
	if (DWELL_UNLIKELY(scope->actions) && scope->actions->methods->stop)
		scope->actions->methods->stop(scope->actions, scope->name);
}

#ifdef __cplusplus
}
struct dwell_lightning_of_block {
	DWELL_UNSEEN dwell_lightning_of_block(struct dwell_lightning_profiler *profiler, struct dwell_site *site)
	    : scope(dwell_lightning_enter(profiler, site)) {}
	DWELL_UNSEEN ~dwell_lightning_of_block() { dwell_lightning_leave(&scope); }
	dwell_lightning_of_block(const dwell_lightning_of_block &) = delete;
	dwell_lightning_of_block &operator=(const dwell_lightning_of_block &) = delete;
	struct dwell_lightning_scope scope;
};
#define DWELL_LIGHTNING_ACTION_OPEN(actions, n)                                                  \
	const dwell_lightning_of_block DWELL_JOIN(dwell_lightning_action_, n)(actions, &DWELL_JOIN(dwell_site_, n))
#elif !defined(DWELL_DISABLE)
/* With the proof that it was entered: see struct dwell_block. */
struct dwell_lightning_block {
	struct dwell_block entered;
	struct dwell_lightning_scope scope;
};

DWELL_INLINE struct dwell_lightning_block dwell_lightning_block_enter(
    struct dwell_lightning_block *block, struct dwell_lightning_profiler *actions, struct dwell_site *site)
{
	struct dwell_lightning_block entered = { dwell_block_enter(&block->entered, 1),
		                                  dwell_lightning_enter(actions, site) };

	return entered;
}

DWELL_INLINE void dwell_lightning_block_leave(struct dwell_lightning_block *block)
{
	if (dwell_block_close(&block->entered))
		dwell_lightning_leave(&block->scope);
}

#define DWELL_LIGHTNING_ACTION_OPEN(actions, n)                                                  \
	struct dwell_lightning_block DWELL_JOIN(dwell_lightning_action_, n)                                 \
	    __attribute__((__cleanup__(dwell_lightning_block_leave), __unused__)) =               \
	        dwell_lightning_block_enter(&DWELL_JOIN(dwell_lightning_action_, n), actions,               \
	                                 &DWELL_JOIN(dwell_site_, n))
#endif

#ifdef DWELL_DISABLE
#define DWELL_LIGHTNING_ACTION(actions, name) DWELL_IGNORE_TWO(name, actions)
#else
/* The rest of the block is the action. If `actions` is NULL, nothing is recorded. */
#define DWELL_LIGHTNING_ACTION(actions, name) DWELL_LIGHTNING_ACTION_N(actions, name, __COUNTER__)
#define DWELL_LIGHTNING_ACTION_N(actions, name, n)                                               \
	DWELL_SITE(DWELL_JOIN(dwell_site_, n), DWELL_CATEGORY_ACTION, DWELL_LITERAL(name), NULL); \
	DWELL_LIGHTNING_ACTION_OPEN(actions, n)
#endif
#endif
