/*
 * A training loop with events and handlers, compatible with PyTorch-Ignite's Engine.
 *
 *     static int train(struct dwell_ignite_engine *engine, void *batch, void *user) {...}
 *     static int log_loss(struct dwell_ignite_engine *engine, void *user) {...}
 *
 *     dwell_ignite_engine_create(&trainer, "trainer", train, model, &error);
 *     dwell_ignite_engine_on(trainer, "ITERATION_COMPLETED(every=100) | COMPLETED", log_loss,
 *                            NULL, &error);
 *     dwell_ignite_engine_run(trainer, &data, &limits, &error);
 *
 * This is libdwell-ignite (`pkg-config dwell-ignite`). An engine calls a process function for
 * every batch of a data source and fires events on the way. Handlers run in the order in which
 * they were added. Events, filters, order and times are those of Ignite. One run:
 *
 *     STARTED
 *       EPOCH_STARTED                                                 for each epoch
 *         GET_BATCH_STARTED  <fetch>  GET_BATCH_COMPLETED             for each iteration
 *         ITERATION_STARTED  <process function>  ITERATION_COMPLETED
 *       EPOCH_COMPLETED
 *     COMPLETED
 *
 * Engines nest: a handler of one engine may run another. An engine belongs to one thread at a
 * time; only terminate, terminate_epoch and interrupt may be called from other threads and from
 * signal handlers. Process functions, handlers and data sources must return: no longjmp() and no
 * C++ exception may pass through the engine. Only dwell_ignite_engine_print_state() and the
 * functions that take a FILE print; nothing exits. An iteration allocates no memory.
 *
 * While a session records, an engine leaves these in the trace. While none does, each costs a
 * load and a branch.
 *
 *     what                       category    name           detail
 *     a run                      ACTION      "run"          the engine
 *       inside another engine's  EVALUATION  "run"          the engine
 *     an epoch                   ACTION      "epoch"        the engine
 *     an event's firing          EVENT       the event      the engine
 *     a handler's call           HANDLER     the handler    ENGINE.EVENT (the last dot divides)
 *     the process function       ACTION      "processing"   the engine
 *     the fetch of a batch       DATA        "dataflow"     the engine
 *     a new pass                 DATA        "restart"      the engine
 *     iteration, epoch           COUNTER     ENGINE.iteration, ENGINE.epoch
 *
 * A `dataflow` range begins before the handlers of GET_BATCH_STARTED and ends before those of
 * GET_BATCH_COMPLETED. An `epoch` contains everything from EPOCH_STARTED to EPOCH_COMPLETED. A
 * range belongs to the iteration and the epoch that the engine's counters had last: the epoch is
 * counted before EPOCH_STARTED, the iteration before GET_BATCH_STARTED (so the fetch of
 * iteration 5 belongs to 5), and both are 0 at STARTED. The trace also names handlers that were
 * never called, in the order of events and of adding. If two handlers of one event have the same
 * name, the second is called "log #2".
 *
 * The iterations of an engine that runs inside no other engine are steps of the trace, unless
 * dwell_ignite_engine_set_steps() says otherwise. A step lasts from before GET_BATCH_STARTED to
 * after ITERATION_COMPLETED. While the length of the data is unknown, a step begins when its
 * batch has arrived, because the fetch may find the end of the data.
 *
 * dwell_ignite_profiler_attach() below sums up how long events and handlers took, without a
 * trace, and prints and writes the results as Ignite does.
 */
#ifndef DWELL_COMPAT_IGNITE_H
#define DWELL_COMPAT_IGNITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <dwell/dwell.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dwell_ignite_engine;

/* ---- events ------------------------------------------------------------------------------ */

/*
 * X(name, number, value): `value` is the field of the state that filters compare; NONE means
 * that the event takes no filter. GET_BATCH_* come before the iteration is counted: the first
 * fetch has value 0.
 */
#define DWELL_IGNITE_EVENTS(X)                                                           \
	X(EPOCH_STARTED, 0, EPOCH)                                                           \
	X(EPOCH_COMPLETED, 1, EPOCH)             /* not after terminate */                   \
	X(STARTED, 2, EPOCH)                                                                 \
	X(COMPLETED, 3, EPOCH)                   /* also after terminate */                  \
	X(ITERATION_STARTED, 4, ITERATION)                                                   \
	X(ITERATION_COMPLETED, 5, ITERATION)                                                 \
	X(EXCEPTION_RAISED, 6, NONE)             /* something failed: state->failure */      \
	X(GET_BATCH_STARTED, 7, ITERATION)                                                   \
	X(GET_BATCH_COMPLETED, 8, ITERATION)                                                 \
	X(DATALOADER_STOP_ITERATION, 9, NONE)    /* the data ended; a new pass follows */    \
	X(TERMINATE, 10, NONE)                                                               \
	X(TERMINATE_SINGLE_EPOCH, 11, NONE)      /* after state->epoch_iteration iterations */ \
	X(INTERRUPT, 12, NONE)

enum dwell_ignite_event {
#define DWELL_IGNITE_EVENT_ENUM(name, number, value) DWELL_IGNITE_EVENT_##name = number,
	DWELL_IGNITE_EVENTS(DWELL_IGNITE_EVENT_ENUM)
#undef DWELL_IGNITE_EVENT_ENUM
	DWELL_IGNITE_EVENT_COUNT /* the numbers of custom events start here */
};

/* ---- functions that the program provides --------------------------------------------------- */

/*
 * Each returns 0, or any other value if it failed: best a negative DWELL_E_*, or the result of
 * dwell_ignite_engine_fail(), which keeps a message. dwell_ignite_engine_run() describes what
 * follows a failure. `user` is the pointer that was given together with the function.
 */

/* One iteration. `batch` comes from the data source, and is NULL without one. Stores its result
 * in dwell_ignite_engine_state(engine)->output. */
typedef int dwell_ignite_process(struct dwell_ignite_engine *engine, void *batch, void *user);

/* A handler may call every function of this header on its own and on other engines, except
 * running or destroying the engine that calls it. */
typedef int dwell_ignite_handler(struct dwell_ignite_engine *engine, void *user);

/* Whether a handler shall run at `value`, which is the event's. `user` is the handler's. */
typedef bool dwell_ignite_event_filter(struct dwell_ignite_engine *engine, uint64_t value,
                                       void *user);

/*
 * Where batches come from. `next` stores a batch and returns 1; it returns 0 at the end of a
 * pass and a negative value if it failed. The engine does not look into a batch. The batch
 * belongs to the source and must stay valid until the next call of `next` or `restart`.
 */
struct dwell_ignite_data {
	const char *name;            /* for print_state; may be NULL */
	uint64_t length;             /* batches of a pass; 0 means not known */
	int (*next)(void *user, void **batch);
	/* Begins a pass, the first one too; returns 0, or a negative value if it failed. NULL means
	 * that there is only one pass. */
	int (*restart)(void *user);
	void *user;
};
#define DWELL_IGNITE_DATA_INIT { NULL, 0, NULL, NULL, NULL }

/* ---- state --------------------------------------------------------------------------------- */

struct dwell_ignite_state {
	uint64_t iteration;       /* of the run: from 1 in ITERATION_STARTED on, 0 before */
	uint64_t epoch;           /* from 1 in EPOCH_STARTED on, 0 before */
	uint64_t epoch_length;    /* iterations of an epoch; 0 means unknown until the data ends */
	uint64_t max_epochs;      /* 0 means not limited by epochs; may be changed during a run */
	uint64_t max_iters;       /* 0 means not limited by iterations; may be changed during a run */
	uint64_t epoch_iteration; /* iterations of this epoch so far */

	double output;            /* result of the process function as a number; NaN if none */
	void *output_object;      /* its result as anything else, or NULL */
	void *batch;              /* of the current iteration */
	/* Seconds; NaN before the first run and 0 at its start. While handlers of the event run,
	 * the times do not include these handlers; afterwards they do. The time between interrupt
	 * and resume is not counted. */
	struct {
		double epoch_completed_s; /* handlers of EPOCH_STARTED, and the iterations */
		double completed_s;       /* the run */
	} times;

	/* Only read these: */
	bool interrupted;           /* dwell_ignite_engine_resume() continues the run */
	bool terminated;            /* by dwell_ignite_engine_terminate() or at max_iters */
	bool exhausted;             /* the data ended inside an epoch and cannot be restarted */
	struct dwell_error failure; /* the last failure of this run; code 0 means none */
};

/* ---- an engine's life ---------------------------------------------------------------------- */

/*
 * Creates an engine. `name` distinguishes engines in traces and messages; it is copied, and NULL
 * stands for "engine". Errors: DWELL_E_NOMEM; DWELL_E_ARGUMENT without a process function.
 */
DWELL_API int dwell_ignite_engine_create(struct dwell_ignite_engine **engine, const char *name,
                                         dwell_ignite_process *process, void *user,
                                         struct dwell_error *error);

/* Frees the engine and its handlers, but not while it runs. NULL is ignored. */
DWELL_API void dwell_ignite_engine_destroy(struct dwell_ignite_engine *engine);

/* Both results belong to the engine and are valid as long as it lives. */
DWELL_API const char *dwell_ignite_engine_name(const struct dwell_ignite_engine *engine);
DWELL_API struct dwell_ignite_state *
dwell_ignite_engine_state(struct dwell_ignite_engine *engine);

/* Prints the state as Ignite does: "State:", then one line for each field. */
DWELL_API void dwell_ignite_engine_print_state(const struct dwell_ignite_engine *engine,
                                               FILE *out);

/* Results by name ("accuracy"), which stay from run to run. The name is copied. A metric that
 * was never set is NaN. Errors: DWELL_E_NOMEM. */
DWELL_API int dwell_ignite_engine_set_metric(struct dwell_ignite_engine *engine, const char *name,
                                             double value, struct dwell_error *error);
DWELL_API double dwell_ignite_engine_metric(const struct dwell_ignite_engine *engine,
                                            const char *name);

/* Whether iterations are steps of the trace while the engine runs inside no other engine. The
 * default is true. */
DWELL_API void dwell_ignite_engine_set_steps(struct dwell_ignite_engine *engine, bool steps);

/* ---- handlers ------------------------------------------------------------------------------ */

/*
 * Adds a handler for the events that `when` names. Events are separated by '|', and each may
 * have a filter:
 *
 *     "STARTED"                               every firing
 *     "ITERATION_STARTED(every=3)"            values 3, 6, 9, ...
 *     "ITERATION_STARTED(once=4)"             value 4; once=[2, 7]: 2 and 7
 *     "ITERATION_STARTED(after=4, before=9)"  5 to 8; after and before may also stand alone
 *     "ITERATION_STARTED(every=3, after=4)"   5, 8, 11, ...: counted from after + 1
 *     "ITERATION_STARTED(event_filter)"       whenever `filter` returns true
 *     "EPOCH_COMPLETED(every=2) | COMPLETED"  both
 *
 * `name` appears in reports and messages; it is copied, and NULL stands for "handler". `filter`
 * belongs to event_filter and is NULL without it. `handle` receives a number for
 * dwell_ignite_engine_remove(); it is never 0 and never given twice by an engine. `handle` may
 * be NULL. A handler that is added while its event fires runs last in that firing.
 *
 * On an error nothing is added: DWELL_E_NAME if there is no such event; DWELL_E_ARGUMENT if the
 * filter is malformed, mixes every, once and event_filter, or the event takes none;
 * DWELL_E_NOMEM.
 */
DWELL_API int dwell_ignite_engine_add(struct dwell_ignite_engine *engine, const char *when,
                                      const char *name, dwell_ignite_handler *handler,
                                      dwell_ignite_event_filter *filter, void *user,
                                      uint64_t *handle, struct dwell_error *error);

/* The same with fewer arguments; the handler is named after its function. */
#define dwell_ignite_engine_on(engine, when, handler, user, error) \
	dwell_ignite_engine_add(engine, when, #handler, handler, NULL, user, NULL, error)

/*
 * Removes a handler from all its events. It is not called again, not even by an event that is
 * firing now. Errors: DWELL_E_STATE if it was removed before; DWELL_E_ARGUMENT if the engine
 * never gave this handle.
 */
DWELL_API int dwell_ignite_engine_remove(struct dwell_ignite_engine *engine, uint64_t handle,
                                         struct dwell_error *error);

/* Whether the function is a handler of the event, or of any event if `event` is NULL. */
DWELL_API bool dwell_ignite_engine_has_handler(const struct dwell_ignite_engine *engine,
                                               const char *event, dwell_ignite_handler *handler);

/* ---- custom events ------------------------------------------------------------------------- */

/*
 * Makes `name` an event of the engine: letters, digits, '_', '-' and ':'. The name is copied.
 * `event` receives its number. Filters compare *value, which is read when the event is fired and
 * must live as long as the engine; if `value` is NULL, the event takes no filter. A name that is
 * registered again keeps its number, and a `value` that is given then replaces the old one.
 * Errors: DWELL_E_ARGUMENT, DWELL_E_NOMEM.
 */
DWELL_API int dwell_ignite_engine_register_event(struct dwell_ignite_engine *engine,
                                                 const char *name, const uint64_t *value,
                                                 int *event, struct dwell_error *error);

/* The name of an event, valid as long as the engine lives; NULL if the engine has no such
 * event. */
DWELL_API const char *dwell_ignite_engine_event_name(const struct dwell_ignite_engine *engine,
                                                     int event);

/*
 * Runs the handlers of an event, during a run or outside. If a handler fails, the handlers after
 * it do not run, and its result is returned. A process function or handler that returns this
 * result passes the message on. Errors otherwise: DWELL_E_NAME if there is no such event.
 */
DWELL_API int dwell_ignite_engine_fire(struct dwell_ignite_engine *engine, int event,
                                       struct dwell_error *error);

/* ---- running ------------------------------------------------------------------------------- */

struct dwell_ignite_limits {
	size_t size;           /* sizeof this structure */
	uint64_t max_epochs;   /* 0 means 1, or as many as max_iters needs */
	uint64_t max_iters;    /* 0 means no limit; not together with max_epochs */
	uint64_t epoch_length; /* 0 means the data's length, or what the first pass finds */
};
#define DWELL_IGNITE_LIMITS_INIT { sizeof(struct dwell_ignite_limits), 0, 0, 0 }

/*
 * Runs from the start until the limits are reached, or until terminate or interrupt. A run that
 * was interrupted before is forgotten. `data` must live until the run ends, and after interrupt
 * until the run was resumed. If `data` is NULL, the process function gets no batches, and
 * epoch_length or max_iters must be given. If `limits` is NULL, the run has one epoch. Where the
 * data ends inside an epoch, DATALOADER_STOP_ITERATION is fired and a new pass begins.
 *
 * When the process function, a handler or the data source fails, EXCEPTION_RAISED is fired with
 * the cause in state->failure. If it has handlers, the failure counts as handled: a failure
 * inside an iteration ends the epoch (EPOCH_COMPLETED is fired and the next epoch begins), and a
 * failure elsewhere ends the run without COMPLETED and returns 0. If it has no handlers, or if
 * one of them fails (it may return state->failure.code), the run ends at once and returns the
 * failure: its negative code, or DWELL_E_STATE for a positive one, with a message that names the
 * handler and its event.
 *
 * With these errors nothing was run: DWELL_E_STATE if the engine runs already;
 * DWELL_E_ARGUMENT. DWELL_E_NO_DATA is a failure during the run: a pass had no batch.
 */
DWELL_API int dwell_ignite_engine_run(struct dwell_ignite_engine *engine,
                                      const struct dwell_ignite_data *data,
                                      const struct dwell_ignite_limits *limits,
                                      struct dwell_error *error);

/* Continues where interrupt left the run, and returns as dwell_ignite_engine_run() does. Errors
 * otherwise: DWELL_E_STATE if the engine runs, or was not interrupted. */
DWELL_API int dwell_ignite_engine_resume(struct dwell_ignite_engine *engine,
                                         struct dwell_error *error);

/*
 * Requests. The engine follows a request after the handlers of the event that is firing now. It
 * follows a request of the process function after the handlers of ITERATION_COMPLETED. Errors:
 * DWELL_E_STATE if the engine does not run. The functions are async-signal-safe if `error` is NULL.
 *
 * terminate ends the run with TERMINATE and, unless `skip_completed`, COMPLETED.
 * terminate_epoch ends the epoch with TERMINATE_SINGLE_EPOCH and, unless `skip_epoch_completed`,
 * EPOCH_COMPLETED; the next epoch begins a new pass. It also returns DWELL_E_STATE while the
 * engine is in no iteration.
 * interrupt fires INTERRUPT and makes run return 0; see state->interrupted.
 */
DWELL_API int dwell_ignite_engine_terminate(struct dwell_ignite_engine *engine,
                                            bool skip_completed, struct dwell_error *error);
DWELL_API int dwell_ignite_engine_terminate_epoch(struct dwell_ignite_engine *engine,
                                                  bool skip_epoch_completed,
                                                  struct dwell_error *error);
DWELL_API int dwell_ignite_engine_interrupt(struct dwell_ignite_engine *engine,
                                            struct dwell_error *error);

/* Keeps a message for a failure. The process function, handler or data source that calls it must
 * return its result, which is `code`, or DWELL_E_STATE if `code` is 0. */
DWELL_API int dwell_ignite_engine_fail(struct dwell_ignite_engine *engine, int code,
                                       const char *format, ...)
    __attribute__((__format__(__printf__, 3, 4)));

/* ---- a timer ------------------------------------------------------------------------------- */

/*
 * Measures time between events, in the caller's memory. A timer runs after init and after reset.
 * Pause stops it, resume continues it, and step counts a step. Its value is the time in which it
 * ran; with `average` this time is divided by the number of steps (by 1 if there are none). A timer
 * may be used by one thread at a time.
 */
struct dwell_ignite_timer {
	bool average;
	bool running;
	uint64_t total_ns; /* up to the last pause */
	uint64_t start_ns; /* begin of the time since then; the monotonic clock */
	uint64_t step_count;
};

DWELL_API void dwell_ignite_timer_init(struct dwell_ignite_timer *timer, bool average);
DWELL_API void dwell_ignite_timer_reset(struct dwell_ignite_timer *timer);
DWELL_API void dwell_ignite_timer_pause(struct dwell_ignite_timer *timer);
DWELL_API void dwell_ignite_timer_resume(struct dwell_ignite_timer *timer);
DWELL_API void dwell_ignite_timer_step(struct dwell_ignite_timer *timer);
DWELL_API double dwell_ignite_timer_value_s(const struct dwell_ignite_timer *timer);

/*
 * Lets events control the timer. Each of the four texts is a `when` of dwell_ignite_engine_add():
 * `start_when` resets the timer (NULL stands for "STARTED"), `pause_when` pauses it (NULL stands
 * for "COMPLETED"), `resume_when` resumes it and `step_when` counts a step (NULL means never). The
 * timer must live as long as the engine. On an error nothing is attached; errors are those of
 * dwell_ignite_engine_add().
 */
DWELL_API int dwell_ignite_timer_attach(struct dwell_ignite_timer *timer,
                                        struct dwell_ignite_engine *engine,
                                        const char *start_when, const char *pause_when,
                                        const char *resume_when, const char *step_when,
                                        struct dwell_error *error);

/* ---- how long events and handlers took ------------------------------------------------------ */

/*
 * Summary of many durations. An index is the iteration, counted from 1 as in the engine's
 * state; for EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED it is the epoch.
 */
struct dwell_ignite_time_stat {
	uint64_t count;
	double total_s, min_s, max_s, mean_s;
	double std_s;                  /* of a sample (N - 1); NaN for fewer than two durations */
	uint64_t min_index, max_index; /* of the first occurrence of the minimum and maximum */
};

/* How long events took: the results of BasicTimeProfiler. */
struct dwell_ignite_basic_results {
	struct dwell_ignite_time_stat processing; /* the process function */
	struct dwell_ignite_time_stat dataflow;   /* fetches that gave a batch */
	/* Firings, all handlers of an event together. */
	struct dwell_ignite_time_stat events[DWELL_IGNITE_EVENT_COUNT];
	/* Lists of handlers' names, each ended by NULL; NULL if an event has none. */
	const char *const *handlers[DWELL_IGNITE_EVENT_COUNT];
};

/* How long each handler took: the results of HandlersTimeProfiler. */
struct dwell_ignite_handler_time {
	const char *handler, *event;
	struct dwell_ignite_time_stat stat;
};
struct dwell_ignite_handlers_results {
	struct dwell_ignite_time_stat processing, dataflow;
	/* By event, then in the order in which they were added. */
	const struct dwell_ignite_handler_time *handlers;
	size_t count; /* includes handlers that were never called */
};

/* Print the results as Ignite's print_results does. */
DWELL_API void
dwell_ignite_basic_results_print(const struct dwell_ignite_basic_results *results, FILE *out);
DWELL_API void
dwell_ignite_handlers_results_print(const struct dwell_ignite_handlers_results *results,
                                    FILE *out);

/*
 * Both of Ignite's profilers in one object. It is attached to an engine. Its results cover the
 * engine's last run, or the current run so far. It adds up durations during the run and needs no
 * trace: the results are complete even if no session records, or if a session is bounded or follows
 * a schedule. Memory grows with the number of handlers, and not with iterations. With `keep_times`,
 * each duration is also stored in a temporary file in /tmp (24 bytes), for
 * dwell_ignite_profiler_write_basic() and dwell_ignite_profiler_write_handlers().
 *
 * If it is attached during a run, it counts from then on. Handlers that are removed stay in the
 * results. An engine has at most one profiler at a time, and a profiler one engine. A profiler
 * is used in the thread of its engine.
 */
struct dwell_ignite_profiler;

/* Errors: DWELL_E_STATE if the engine has a profiler, DWELL_E_IO if the temporary file cannot be
 * created, DWELL_E_NOMEM. */
DWELL_API int dwell_ignite_profiler_attach(struct dwell_ignite_profiler **profiler,
                                           struct dwell_ignite_engine *engine, bool keep_times,
                                           struct dwell_error *error);
/* Detaches the profiler from its engine and keeps the results. Destroying the engine detaches it
 * too. */
DWELL_API void dwell_ignite_profiler_detach(struct dwell_ignite_profiler *profiler);
/* Detaches the profiler and frees it, but not during a run. NULL is ignored. */
DWELL_API void dwell_ignite_profiler_destroy(struct dwell_ignite_profiler *profiler);

/* The results. They belong to the profiler and are valid until the same function is called
 * again or the profiler is destroyed. NULL on failure: DWELL_E_STATE if no engine has run yet,
 * or DWELL_E_NOMEM. */
DWELL_API const struct dwell_ignite_basic_results *
dwell_ignite_profiler_basic(struct dwell_ignite_profiler *profiler, struct dwell_error *error);
DWELL_API const struct dwell_ignite_handlers_results *
dwell_ignite_profiler_handlers(struct dwell_ignite_profiler *profiler, struct dwell_error *error);

/*
 * Write CSV as Ignite's write_results does: one row for each iteration, or one row for the
 * n-th call of every handler. Errors: DWELL_E_STATE if no engine has run yet, or if the
 * profiler was attached without keep_times, DWELL_E_IO, DWELL_E_NOSPACE, DWELL_E_NOMEM.
 */
DWELL_API int dwell_ignite_profiler_write_basic(struct dwell_ignite_profiler *profiler,
                                                const char *path, struct dwell_error *error);
DWELL_API int dwell_ignite_profiler_write_handlers(struct dwell_ignite_profiler *profiler,
                                                   const char *path, struct dwell_error *error);

/* ---- a profiler for another loop -------------------------------------------------------------- */

/*
 * Without an engine, the caller that drives the loop reports durations to the profiler, as
 * dwell.ignite does for Ignite's own engines. The results are the same. Events of enum
 * dwell_ignite_event have the numbers of that enum.
 */

/* Errors: DWELL_E_IO if the temporary file cannot be created, DWELL_E_NOMEM. */
DWELL_API int dwell_ignite_profiler_create(struct dwell_ignite_profiler **profiler,
                                           bool keep_times, struct dwell_error *error);
/* Begins a run and discards the results of the previous one. */
DWELL_API void dwell_ignite_profiler_start(struct dwell_ignite_profiler *profiler);

/* The number of the event, or of the event's handler, with this name; a name that is new gets a
 * new number. The name is copied. -1 if memory is exhausted. */
DWELL_API int dwell_ignite_profiler_event(struct dwell_ignite_profiler *profiler,
                                          const char *name);
DWELL_API int dwell_ignite_profiler_handler(struct dwell_ignite_profiler *profiler, int event,
                                            const char *name);

enum dwell_ignite_time_of {
	DWELL_IGNITE_TIME_OF_PROCESSING,
	DWELL_IGNITE_TIME_OF_DATAFLOW,
	DWELL_IGNITE_TIME_OF_EVENT,   /* `number` is the event's */
	DWELL_IGNITE_TIME_OF_HANDLER, /* `number` is the handler's */
};
/* Reports one duration of `ns` nanoseconds in the given epoch and iteration. An unknown `number`
 * is ignored. */
DWELL_API void dwell_ignite_profiler_add(struct dwell_ignite_profiler *profiler,
                                         enum dwell_ignite_time_of of, int number, uint64_t epoch,
                                         uint64_t iteration, uint64_t ns);

#ifdef __cplusplus
}
#endif
#endif
