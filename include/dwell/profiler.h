/*
 * Profilers of a trainer's actions, as Lightning has them.
 *
 *     struct dwell_actions *profiler = dwell_actions_create("simple", NULL, &error);
 *     dwell_actions_setup(profiler, "fit", -1, NULL, &error);
 *     {
 *         DWELL_ACTION(profiler, "training_step");     the rest of this block
 *         ...
 *     }
 *     dwell_actions_describe(profiler, &error);        the report
 *     dwell_actions_teardown(profiler, &error);
 *     dwell_actions_destroy(profiler);
 *
 * An action is a named range of the trace (DWELL_CATEGORY_ACTION), a stage a profile of
 * its name, so that `dwell report --layout lightning` prints the same reports after the
 * program is gone, and all other views and exports see the actions too. Actions nest,
 * recur and run in several threads at once. A program may bring its own profiler: a
 * structure that begins with struct dwell_actions, and a table of functions.
 *
 * This is libdwell-profiler (`pkg-config dwell-profiler`): a report reads the program's
 * own trace, which libdwell, small enough for any program to link, cannot.
 */
#ifndef DWELL_PROFILER_H
#define DWELL_PROFILER_H

#include <stdio.h>

#include <dwell/dwell.h>
#include <dwell/probe.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dwell_actions;

/*
 * What a profiler does. Each may be NULL. `start` and `stop` are called in the thread of
 * the action, beside what the library records; the others by the functions below.
 * `error` is never NULL.
 */
struct dwell_actions_methods {
	size_t size;      /* sizeof this structure */
	const char *name;
	int (*setup)(struct dwell_actions *actions, struct dwell_error *error);
	void (*start)(struct dwell_actions *actions, const char *action);
	void (*stop)(struct dwell_actions *actions, const char *action);
	int (*summary)(struct dwell_actions *actions, FILE *file, struct dwell_error *error);
	int (*teardown)(struct dwell_actions *actions, struct dwell_error *error);
};

struct dwell_actions {
	const struct dwell_actions_methods *methods;
	bool records;         /* actions become ranges of the trace */
	int local_rank;       /* -1: none */
	const char *stage;    /* between setup and teardown, else NULL */
	const char *dirpath;  /* where the report goes, if both are given; else NULL */
	const char *filename;
	struct dwell_actions_own *own; /* the library's */
};

struct dwell_actions_options {
	size_t size;             /* sizeof this structure */
	const char *dirpath;     /* NULL: the folder that dwell_actions_setup() names */
	const char *filename;    /* of the report, without ".txt"; NULL: standard output */
	bool brief;              /* simple: without calls and shares, by mean */
	double line_restriction; /* advanced: rows an action; below 1: share of them; 0 and 1: all */
	bool record_shapes;      /* operators */
	bool profile_memory;     /* operators */
	unsigned row_limit;      /* operators; 0: 20 */
	const char *sort_by;     /* operators: a key of torch's; NULL: cpu_time_total */
	const char *record_functions; /* operators: further actions with a table: "NAME,NAME" */
	/*
	 * operators: what a stage records beyond these, its schedule and on_trace_ready; NULL:
	 * nothing. Steps are the stage's own: in a fit the training steps. The report is of the
	 * last cycle. Copied; its name is not used.
	 */
	const struct dwell_profile_options *profile;
	unsigned port;           /* xla: where captures are served; 0: 9012 */
};

#define DWELL_ACTIONS_OPTIONS_INIT \
	{ sizeof(struct dwell_actions_options), NULL, NULL, false, 0, false, false, 0, NULL, NULL, NULL, 0 }

/*
 * By name, whatever its case: "simple" (time an action), "advanced" (functions within
 * each action: build with -finstrument-functions, see probes/functions), "operators" or
 * "pytorch", "xla" (captures are served from the first training_step, backward,
 * validation_step, test_step or predict_step on, see dwell_serve_start(); nothing is
 * recorded until one asks, and there is no report), and "none". NULL with
 * DWELL_E_NAME, which lists them, or DWELL_E_NOMEM. options NULL: the defaults.
 */
DWELL_API struct dwell_actions *dwell_actions_create(const char *name,
                                                     const struct dwell_actions_options *options,
                                                     struct dwell_error *error);
/* Tears down first. NULL is nothing. */
DWELL_API void dwell_actions_destroy(struct dwell_actions *actions);

/* For a profiler of one's own: fills its first member. The texts are copied;
 * dwell_actions_reset() frees what the library holds. */
DWELL_API int dwell_actions_init(struct dwell_actions *actions,
                                 const struct dwell_actions_methods *methods, const char *dirpath,
                                 const char *filename, struct dwell_error *error);
DWELL_API void dwell_actions_reset(struct dwell_actions *actions);

/*
 * A stage begins: "fit", "validate", "test", "predict". Its report counts what comes
 * from here on, in this thread and in those that have no profile of their own. With a
 * `log_dir` the report goes there when no other folder was given. Without a session one
 * is started. DWELL_E_STATE in a stage already, and the errors of dwell_start().
 */
DWELL_API int dwell_actions_setup(struct dwell_actions *actions, const char *stage,
                                  int local_rank, const char *log_dir, struct dwell_error *error);

/*
 * An action by a name known at run time. Stops may come in any order, whatever ranges
 * have begun within. Stop: DWELL_E_STATE when this thread has no such action open.
 */
DWELL_API void dwell_actions_start(struct dwell_actions *actions, const char *action);
DWELL_API int dwell_actions_stop(struct dwell_actions *actions, const char *action,
                                 struct dwell_error *error);

/* The report so far; what is read is the trace. */
DWELL_API int dwell_actions_summary(struct dwell_actions *actions, FILE *file,
                                    struct dwell_error *error);

/* What the last stage recorded, for dwell_trace_open_result(), once it has been described or
 * torn down; DWELL_E_NO_DATA before. */
DWELL_API int dwell_actions_result(const struct dwell_actions *actions,
                                   struct dwell_profile_result *result,
                                   struct dwell_error *error);

/*
 * The report where it belongs: appended to DIRPATH/STAGE-FILENAME-RANK.txt when folder
 * and name are given; else to standard output, of rank 0 alone. The folder is made. What
 * comes after it is no longer the stage's.
 */
DWELL_API int dwell_actions_describe(struct dwell_actions *actions, struct dwell_error *error);

/*
 * The stage ends. DWELL_E_STATE names an action that was left open; it is closed, those
 * of other threads when these end. The stage has ended all the same.
 */
DWELL_API int dwell_actions_teardown(struct dwell_actions *actions, struct dwell_error *error);

/* "fit-perf-0-training_step.txt": what is given, unsafe characters replaced. The result
 * is its length, as of snprintf(). */
DWELL_API int dwell_actions_filename(const struct dwell_actions *actions, const char *action,
                                     const char *extension, char *name, size_t room);

/* ---- the scope ------------------------------------------------------------------------ */

struct dwell_action_scope {
	struct dwell_actions *actions; /* of a profiler that wants to know; else NULL */
	const char *name;
	unsigned began;
};

DWELL_INLINE struct dwell_action_scope dwell_action_enter(struct dwell_actions *actions,
                                                          struct dwell_site *site)
{
	struct dwell_action_scope scope = { NULL, NULL, DWELL_NOT_BEGUN };

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

DWELL_INLINE void dwell_action_leave(const struct dwell_action_scope *scope)
{
	dwell_end(scope->began);
	if (DWELL_UNLIKELY(scope->actions) && scope->actions->methods->stop)
		scope->actions->methods->stop(scope->actions, scope->name);
}

#ifdef __cplusplus
}
struct dwell_action_of_block {
	DWELL_UNSEEN dwell_action_of_block(struct dwell_actions *actions, struct dwell_site *site)
	    : scope(dwell_action_enter(actions, site)) {}
	DWELL_UNSEEN ~dwell_action_of_block() { dwell_action_leave(&scope); }
	dwell_action_of_block(const dwell_action_of_block &) = delete;
	dwell_action_of_block &operator=(const dwell_action_of_block &) = delete;
	struct dwell_action_scope scope;
};
#define DWELL_ACTION_OPEN(actions, n)                                                  \
	const dwell_action_of_block DWELL_JOIN(dwell_action_, n)(actions, &DWELL_JOIN(dwell_site_, n))
#else
#define DWELL_ACTION_OPEN(actions, n)                                                  \
	const struct dwell_action_scope DWELL_JOIN(dwell_action_, n)                           \
	    __attribute__((cleanup(dwell_action_leave), unused)) =                             \
	        dwell_action_enter(actions, &DWELL_JOIN(dwell_site_, n))
#endif

#ifdef DWELL_DISABLE
#define DWELL_ACTION(actions, name) ((void)0)
#else
/* The rest of the block is the action; `actions` NULL: nothing. */
#define DWELL_ACTION(actions, name) DWELL_ACTION_N(actions, name, __COUNTER__)
#define DWELL_ACTION_N(actions, name, n)                                               \
	DWELL_SITE(DWELL_JOIN(dwell_site_, n), DWELL_CATEGORY_ACTION, name, NULL);             \
	DWELL_ACTION_OPEN(actions, n)
#endif
#endif
