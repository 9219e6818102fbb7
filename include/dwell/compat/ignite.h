/*
 * A training loop with events and handlers, each of them a range in the trace.
 *
 *     static int train(struct dwell_ignite_engine *engine, void *batch, void *user) {...}
 *     static int log_loss(struct dwell_ignite_engine *engine, void *user) {...}
 *
 *     dwell_ignite_engine_create(&trainer, "trainer", train, model, &error);
 *     dwell_ignite_engine_on(trainer, "ITERATION_COMPLETED(every=100) | COMPLETED", log_loss, NULL,
 *                     &error);
 *     dwell_ignite_engine_run(trainer, &data, &limits, &error);
 *
 * An engine calls a process function for every batch of a data source and fires
 * events on the way; handlers run in the order in which they were added. Events,
 * filters, order and times are those of PyTorch-Ignite. One run:
 *
 *     STARTED
 *       EPOCH_STARTED                                                 for each epoch
 *         GET_BATCH_STARTED  <fetch>  GET_BATCH_COMPLETED             for each iteration
 *         ITERATION_STARTED  <process function>  ITERATION_COMPLETED
 *       EPOCH_COMPLETED
 *     COMPLETED
 *
 * Engines nest: a handler of one may run another. An engine belongs to one thread
 * at a time; only terminate, terminate_epoch and interrupt may be called from other
 * threads and from signal handlers. Process functions, handlers and data sources
 * must return: no longjmp and no C++ exception through the engine. Nothing here
 * prints (but dwell_ignite_engine_print_state) or exits; an iteration allocates nothing.
 *
 * In the trace, when recorded (else each costs a load and a branch):
 *
 *     what                 category    name           detail
 *     a run                ACTION      "run"          the engine
 *       in another's       EVALUATION  "run"          the engine
 *     an epoch             ACTION      "epoch"        the engine
 *     a firing             EVENT       the event      the engine
 *     a handler's call     HANDLER     the handler    ENGINE.EVENT (the last dot divides)
 *     process function     ACTION      "processing"   the engine
 *     fetch of a batch     DATA        "dataflow"     the engine
 *     a new pass           DATA        "restart"      the engine
 *     iteration, epoch     COUNTER     ENGINE.iteration, ENGINE.epoch
 *
 * `dataflow` goes from before GET_BATCH_STARTED's handlers to before
 * GET_BATCH_COMPLETED's. An `epoch` holds all from EPOCH_STARTED to EPOCH_COMPLETED.
 * A range belongs to the iteration and epoch that its engine's counters gave last:
 * the epoch is counted before EPOCH_STARTED, the iteration before
 * GET_BATCH_STARTED (so the fetch of iteration 5 bears 5), both are 0 at STARTED.
 * Handlers there when a run starts, and those added later, are in the trace's
 * dictionary in the order of events and of their adding, called or not. Two of one
 * name on one event are told apart: "log", "log #2".
 *
 * Without a trace a profiler tells what a run took, in figures, as Ignite prints them and
 * as the files it writes: dwell_ignite_profiler_attach() in <dwell/compat/ignite.h>.
 *
 * Iterations of an engine that runs in no other engine are steps too (see
 * dwell_ignite_engine_set_steps): from before GET_BATCH_STARTED to after
 * ITERATION_COMPLETED. While the length of the data is unknown a step begins when
 * its batch is there, because the fetch may find the end.
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

/* ---- events ---------------------------------------------------------------- */

/*
 * X(name, number, value): `value` is the field of the state that filters compare,
 * NONE: the event takes no filter. GET_BATCH_* come before the iteration is
 * counted: the first fetch has value 0.
 */
#define DWELL_IGNITE_EVENTS(X)                                                                  \
	X(EPOCH_STARTED, 0, EPOCH)                                                           \
	X(EPOCH_COMPLETED, 1, EPOCH)             /* not after terminate */                   \
	X(STARTED, 2, EPOCH)                                                                 \
	X(COMPLETED, 3, EPOCH)                   /* after terminate too */                   \
	X(ITERATION_STARTED, 4, ITERATION)                                                   \
	X(ITERATION_COMPLETED, 5, ITERATION)                                                 \
	X(EXCEPTION_RAISED, 6, NONE)             /* something failed: state->failure */      \
	X(GET_BATCH_STARTED, 7, ITERATION)                                                   \
	X(GET_BATCH_COMPLETED, 8, ITERATION)                                                 \
	X(DATALOADER_STOP_ITERATION, 9, NONE)    /* the data ended; a new pass follows */    \
	X(TERMINATE, 10, NONE)                                                               \
	X(TERMINATE_SINGLE_EPOCH, 11, NONE)      /* state->epoch_iteration were done */      \
	X(INTERRUPT, 12, NONE)

enum dwell_ignite_event {
#define DWELL_IGNITE_EVENT_ENUM(name, number, value) DWELL_IGNITE_EVENT_##name = number,
	DWELL_IGNITE_EVENTS(DWELL_IGNITE_EVENT_ENUM)
#undef DWELL_IGNITE_EVENT_ENUM
	DWELL_IGNITE_EVENT_COUNT /* the numbers of custom events start here */
};

/* ---- what you write -------------------------------------------------------- */

/*
 * All return 0, or anything else for "failed": best a negative DWELL_E*, or what
 * dwell_ignite_engine_fail() returns, which keeps a message. What fails ends the run, see
 * dwell_ignite_engine_run(). `user` is the pointer given with the function.
 */

/* One iteration. `batch` is the data source's (NULL without one). Sets
 * dwell_ignite_engine_state(engine)->output. */
typedef int dwell_ignite_process(struct dwell_ignite_engine *engine, void *batch, void *user);

/* May use everything below on its own and other engines, but not run or destroy
 * the engine that calls it. */
typedef int dwell_ignite_handler(struct dwell_ignite_engine *engine, void *user);

/* Whether a handler is to run at `value`, the event's; `user` is the handler's. */
typedef bool dwell_ignite_event_filter(struct dwell_ignite_engine *engine, uint64_t value, void *user);

/*
 * Where batches come from. `next` stores a batch and returns 1; 0: this pass is
 * over; negative: failed. A batch is the source's and is not looked at; it must be
 * there until the next call of `next` or `restart`.
 */
struct dwell_ignite_data {
	const char *name;            /* what it is, for print_state; may be NULL */
	uint64_t length;             /* batches of a pass, 0: not known */
	int (*next)(void *user, void **batch);
	int (*restart)(void *user);  /* starts a pass, the first too; 0 or negative: failed.
	                                NULL: there is one pass only */
	void *user;
};
#define DWELL_IGNITE_DATA_INIT { NULL, 0, NULL, NULL, NULL }

/* ---- state ----------------------------------------------------------------- */

struct dwell_ignite_state {
	uint64_t iteration;       /* of the run, from 1 in ITERATION_STARTED; 0 before */
	uint64_t epoch;           /* from 1 in EPOCH_STARTED; 0 before */
	uint64_t epoch_length;    /* iterations an epoch; 0: unknown until the data ends */
	uint64_t max_epochs;      /* 0: not limited by epochs; may be changed in a run */
	uint64_t max_iters;       /* 0: not limited by iterations; may be changed in a run */
	uint64_t epoch_iteration; /* iterations of this epoch so far */

	double output;            /* the process function's, as a number; NaN: none */
	void *output_object;      /* the process function's, as anything else; NULL: none */
	void *batch;              /* the iteration's */
	struct {
		/* Seconds. NaN before the first run, 0 at its start. In the handlers of the
		 * event they do not hold these handlers, afterwards they do. The time between
		 * interrupt and resume is not counted. */
		double epoch_completed_s; /* EPOCH_STARTED's handlers and the iterations */
		double completed_s;       /* the run */
	} times;

	/* To read: */
	bool interrupted;           /* dwell_ignite_engine_resume() goes on */
	bool terminated;            /* by dwell_ignite_engine_terminate() or at max_iters */
	bool exhausted;             /* the data ended before the epoch was full, for good */
	struct dwell_error failure; /* the last failure of this run; code 0: none */
};

/* ---- making an engine ------------------------------------------------------ */

/*
 * Makes an engine. The name (copied; NULL: "engine") tells engines apart in traces
 * and messages. Errors: DWELL_E_NOMEM; DWELL_E_ARGUMENT without a process function.
 */
DWELL_API int dwell_ignite_engine_create(struct dwell_ignite_engine **engine, const char *name,
                                  dwell_ignite_process *process, void *user,
                                  struct dwell_error *error);

/* Frees it and its handlers; NULL is fine. Not while it runs. */
DWELL_API void dwell_ignite_engine_destroy(struct dwell_ignite_engine *engine);

/* Both live as long as the engine. */
DWELL_API const char *dwell_ignite_engine_name(const struct dwell_ignite_engine *engine);
DWELL_API struct dwell_ignite_state *dwell_ignite_engine_state(struct dwell_ignite_engine *engine);

/* Writes the state as Ignite prints it: "State:", then a line for each field. */
DWELL_API void dwell_ignite_engine_print_state(const struct dwell_ignite_engine *engine, FILE *out);

/* Results by name ("accuracy"), kept from run to run. Getting one that was never
 * set is NaN. Errors: DWELL_E_NOMEM. */
DWELL_API int dwell_ignite_engine_set_metric(struct dwell_ignite_engine *engine, const char *name,
                                      double value, struct dwell_error *error);
DWELL_API double dwell_ignite_engine_metric(const struct dwell_ignite_engine *engine, const char *name);

/* Whether iterations are steps when it runs in no other engine; at first true. */
DWELL_API void dwell_ignite_engine_set_steps(struct dwell_ignite_engine *engine, bool steps);

/* ---- handlers -------------------------------------------------------------- */

/*
 * Adds a handler for the events that `when` names, joined with '|', each perhaps
 * with a filter:
 *
 *     "STARTED"                               every firing
 *     "ITERATION_STARTED(every=3)"            values 3, 6, 9, ...
 *     "ITERATION_STARTED(once=4)"             value 4; once=[2, 7]: 2 and 7
 *     "ITERATION_STARTED(after=4, before=9)"  5 to 8; either alone will do
 *     "ITERATION_STARTED(every=3, after=4)"   5, 8, 11, ...: counted from after + 1
 *     "ITERATION_STARTED(event_filter)"       where `filter` says so
 *     "EPOCH_COMPLETED(every=2) | COMPLETED"  both
 *
 * `name` (copied; NULL: "handler") stands in reports and messages. `filter` is for
 * event_filter, else NULL. `handle` (may be NULL) is set to a number, never 0 and
 * never given twice by an engine. A handler added in a firing of its event runs in
 * that firing, as the last.
 * Errors, nothing is added then: DWELL_E_NAME, no such event; DWELL_E_ARGUMENT, the
 * filter is wrong, mixes every, once and event_filter, or the event takes none;
 * DWELL_E_NOMEM.
 */
DWELL_API int dwell_ignite_engine_add(struct dwell_ignite_engine *engine, const char *when, const char *name,
                               dwell_ignite_handler *handler, dwell_ignite_event_filter *filter, void *user,
                               uint64_t *handle, struct dwell_error *error);

/* The same in short; the handler bears the function's name. */
#define dwell_ignite_engine_on(engine, when, handler, user, error) \
	dwell_ignite_engine_add(engine, when, #handler, handler, NULL, user, NULL, error)

/*
 * Removes a handler from all its events; it is not called again, not even in a
 * firing under way. Errors: DWELL_E_STATE, it was removed before;
 * DWELL_E_ARGUMENT, the engine never gave this handle.
 */
DWELL_API int dwell_ignite_engine_remove(struct dwell_ignite_engine *engine, uint64_t handle,
                                  struct dwell_error *error);

/* Whether the function is a handler of the event (NULL: of any). */
DWELL_API bool dwell_ignite_engine_has_handler(const struct dwell_ignite_engine *engine, const char *event,
                                        dwell_ignite_handler *handler);

/* ---- events of your own ---------------------------------------------------- */

/*
 * Makes `name` an event of the engine: letters, digits, '_', '-', ':'. `event` is
 * set to its number. `value` is what filters compare when it is fired, read then;
 * NULL: it takes no filter. A name registered again gets its number again; a
 * `value` given then replaces the old one. Errors: DWELL_E_ARGUMENT, DWELL_E_NOMEM.
 */
DWELL_API int dwell_ignite_engine_register_event(struct dwell_ignite_engine *engine, const char *name,
                                          const uint64_t *value, int *event,
                                          struct dwell_error *error);

/* Its name, as long as the engine lives; NULL: not an event of this engine. */
DWELL_API const char *dwell_ignite_engine_event_name(const struct dwell_ignite_engine *engine, int event);

/*
 * Runs the handlers of an event, in a run or outside. Returns what a failing
 * handler returned, the handlers after it do not run; a process function or handler
 * that returns this passes the message on. Errors else: DWELL_E_NAME, no such event.
 */
DWELL_API int dwell_ignite_engine_fire(struct dwell_ignite_engine *engine, int event,
                                struct dwell_error *error);

/* ---- running --------------------------------------------------------------- */

struct dwell_ignite_limits {
	size_t size;           /* sizeof this structure */
	uint64_t max_epochs;   /* 0: 1, or as many as max_iters needs */
	uint64_t max_iters;    /* 0: none; not together with max_epochs */
	uint64_t epoch_length; /* 0: the data's length, or what the first pass finds */
};
#define DWELL_IGNITE_LIMITS_INIT { sizeof(struct dwell_ignite_limits), 0, 0, 0 }

/*
 * Runs from the start until the limits are reached, terminate or interrupt;
 * forgets an interrupted run. `data` must live until the run ends, for an
 * interrupted one until it was resumed; NULL: the process function gets no batches,
 * and epoch_length or max_iters is needed. `limits` NULL: one epoch. Where the data
 * ends within an epoch, DATALOADER_STOP_ITERATION is fired and a new pass started.
 *
 * When the process function, a handler or the data source fails, EXCEPTION_RAISED
 * is fired with the cause in state->failure. With handlers there the failure is
 * taken as dealt with: one inside an iteration ends the epoch (EPOCH_COMPLETED
 * fires and the next begins), one elsewhere ends the run, without COMPLETED and
 * with 0. Without handlers, or if one of them fails (it may return
 * state->failure.code), the run ends at once and returns the failure: negative, the
 * code of what failed (DWELL_E_STATE for a positive one), and a message that names
 * the handler and its event.
 *
 * Errors else, nothing was run then: DWELL_E_STATE, it runs; DWELL_E_ARGUMENT;
 * DWELL_E_NO_DATA (as a failure in the run), a pass without a batch.
 */
DWELL_API int dwell_ignite_engine_run(struct dwell_ignite_engine *engine, const struct dwell_ignite_data *data,
                               const struct dwell_ignite_limits *limits, struct dwell_error *error);

/* Goes on where interrupt left the run and returns as dwell_ignite_engine_run() does.
 * Errors else: DWELL_E_STATE, the engine runs, or was not interrupted. */
DWELL_API int dwell_ignite_engine_resume(struct dwell_ignite_engine *engine, struct dwell_error *error);

/*
 * These ask; the engine does it when the handlers of the event that fires now (for
 * the process function: of ITERATION_COMPLETED) have run. DWELL_E_STATE: the engine
 * does not run. They are async-signal-safe when `error` is NULL.
 *
 * terminate ends the run with TERMINATE and, unless skip_completed, COMPLETED.
 * terminate_epoch ends the epoch with TERMINATE_SINGLE_EPOCH and, unless
 * skip_epoch_completed, EPOCH_COMPLETED; the next epoch starts a new pass. It is
 * DWELL_E_STATE too while no iteration of the engine is under way.
 * interrupt fires INTERRUPT and lets run return 0, see state->interrupted.
 */
DWELL_API int dwell_ignite_engine_terminate(struct dwell_ignite_engine *engine, bool skip_completed,
                                     struct dwell_error *error);
DWELL_API int dwell_ignite_engine_terminate_epoch(struct dwell_ignite_engine *engine,
                                           bool skip_epoch_completed, struct dwell_error *error);
DWELL_API int dwell_ignite_engine_interrupt(struct dwell_ignite_engine *engine, struct dwell_error *error);

/* Keeps the message of a failure for the caller's `return`, which must return the
 * result: `code`, or DWELL_E_STATE when that is 0. */
DWELL_API int dwell_ignite_engine_fail(struct dwell_ignite_engine *engine, int code, const char *format, ...)
    __attribute__((__format__(__printf__, 3, 4)));

/* ---- a timer --------------------------------------------------------------- */

/*
 * Time between events, in the caller's memory. Runs from init or reset on; pause
 * and resume stop and go on, step counts. The value is the time run, with `average`
 * divided by the steps (by 1 if there are none).
 */
struct dwell_ignite_timer {
	bool average;
	bool running;
	uint64_t total_ns; /* up to the last pause */
	uint64_t start_ns; /* of the time since; the monotonic clock */
	uint64_t step_count;
};

DWELL_API void dwell_ignite_timer_init(struct dwell_ignite_timer *timer, bool average);
DWELL_API void dwell_ignite_timer_reset(struct dwell_ignite_timer *timer);
DWELL_API void dwell_ignite_timer_pause(struct dwell_ignite_timer *timer);
DWELL_API void dwell_ignite_timer_resume(struct dwell_ignite_timer *timer);
DWELL_API void dwell_ignite_timer_step(struct dwell_ignite_timer *timer);
DWELL_API double dwell_ignite_timer_value_s(const struct dwell_ignite_timer *timer);

/*
 * Lets events drive the timer: `start` resets it (NULL: "STARTED"), `pause` (NULL:
 * "COMPLETED"), `resume` and `step` (NULL: never) do what their names say; each is
 * a `when` of dwell_ignite_engine_add(), whose errors this returns, and then nothing is
 * attached. The timer must live as long as the engine.
 */
DWELL_API int dwell_ignite_timer_attach(struct dwell_ignite_timer *timer, struct dwell_ignite_engine *engine,
                                 const char *start, const char *pause, const char *resume,
                                 const char *step, struct dwell_error *error);

/* ---- how long events and handlers took ------------------------------------------------ */

/*
 * Summary of many durations. An index is the iteration, counted from 1 as in the engine's
 * state; for EPOCH_STARTED, EPOCH_COMPLETED, STARTED and COMPLETED it is the epoch.
 */
struct dwell_ignite_time_stat {
	uint64_t count;
	double total_s, min_s, max_s, mean_s;
	double std_s;                   /* standard deviation of a sample (N - 1); NaN for fewer than two */
	uint64_t min_index, max_index;  /* index of the first occurrence of the minimum and maximum */
};

/* ---- results ----------------------------------------------------------------------- */

/* How long events took: the results of BasicTimeProfiler. */
struct dwell_ignite_basic_results {
	struct dwell_ignite_time_stat processing;              /* the process function */
	struct dwell_ignite_time_stat dataflow;                /* fetches that gave a batch */
	struct dwell_ignite_time_stat events[DWELL_IGNITE_EVENT_COUNT]; /* firings, all handlers together */
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
	const struct dwell_ignite_handler_time *handlers; /* by event, in the order in which they were added */
	size_t count;                              /* includes handlers that were never called */
};

/* Print them as Ignite's print_results does. */
DWELL_API void dwell_ignite_basic_results_print(const struct dwell_ignite_basic_results *results, FILE *out);
DWELL_API void dwell_ignite_handlers_results_print(const struct dwell_ignite_handlers_results *results,
                                            FILE *out);

/* ---- a profiler ---------------------------------------------------------------------- */

/*
 * Both of Ignite's profilers in one object. It is attached to an engine; its results cover
 * the engine's last run, or the current run so far. It sums up while the run goes on and
 * needs no trace: the results are complete whether or not a session records, is bounded or
 * follows a schedule. Memory grows with the number of handlers, not with iterations. With
 * `keep_times` the rows of dwell_ignite_profiler_write_basic() and dwell_ignite_profiler_write_handlers(),
 * one for each iteration, go to a temporary file in /tmp (24 bytes a duration).
 *
 * If it is attached during a run, it counts from then on. Handlers that are removed stay in
 * the results. An engine has one profiler at a time, and a profiler one engine.
 */
struct dwell_ignite_profiler;

/* Errors: DWELL_E_STATE if the engine has a profiler, DWELL_E_IO if the temporary file cannot be
 * created, DWELL_E_NOMEM. */
DWELL_API int dwell_ignite_profiler_attach(struct dwell_ignite_profiler **profiler,
                                    struct dwell_ignite_engine *engine, bool keep_times,
                                    struct dwell_error *error);
/* Detaches the profiler from its engine and keeps the results. The engine may be destroyed. */
DWELL_API void dwell_ignite_profiler_detach(struct dwell_ignite_profiler *profiler);
/* Detaches and frees it; a NULL argument is ignored. Not during a run. */
DWELL_API void dwell_ignite_profiler_destroy(struct dwell_ignite_profiler *profiler);

/* The results, valid until the next call of these functions. On failure NULL: DWELL_E_STATE if
 * nothing was run yet, or DWELL_E_NOMEM. */
DWELL_API const struct dwell_ignite_basic_results *
dwell_ignite_profiler_basic(struct dwell_ignite_profiler *profiler, struct dwell_error *error);
DWELL_API const struct dwell_ignite_handlers_results *
dwell_ignite_profiler_handlers(struct dwell_ignite_profiler *profiler, struct dwell_error *error);

/*
 * Write CSV as Ignite's write_results does: one row for each iteration, or one row for the
 * n-th call of every handler. Errors: DWELL_E_STATE if nothing was run yet or times were not
 * kept, DWELL_E_IO, DWELL_E_NOSPACE, DWELL_E_NOMEM.
 */
DWELL_API int dwell_ignite_profiler_write_basic(struct dwell_ignite_profiler *profiler, const char *path,
                                         struct dwell_error *error);
DWELL_API int dwell_ignite_profiler_write_handlers(struct dwell_ignite_profiler *profiler, const char *path,
                                            struct dwell_error *error);

/* ---- a profiler for another loop ------------------------------------------------------- */

/*
 * Without an engine, the caller that drives the loop reports events to the profiler, as
 * dwell.ignite does for Ignite's own engines. The results are the same. Events of enum
 * dwell_ignite_event have the numbers of that enum. dwell_ignite_profiler_start() begins a run and discards
 * the results of the previous one.
 */
DWELL_API int dwell_ignite_profiler_create(struct dwell_ignite_profiler **profiler, bool keep_times,
                                    struct dwell_error *error);
DWELL_API void dwell_ignite_profiler_start(struct dwell_ignite_profiler *profiler);

/* The number of the event or handler with this name, a new number for a new name; -1 if memory
 * is exhausted. */
DWELL_API int dwell_ignite_profiler_event(struct dwell_ignite_profiler *profiler, const char *name);
DWELL_API int dwell_ignite_profiler_handler(struct dwell_ignite_profiler *profiler, int event,
                                     const char *name);

enum dwell_ignite_time_of {
	DWELL_IGNITE_TIME_OF_PROCESSING,
	DWELL_IGNITE_TIME_OF_DATAFLOW,
	DWELL_IGNITE_TIME_OF_EVENT,   /* `number` says of which */
	DWELL_IGNITE_TIME_OF_HANDLER,
};
DWELL_API void dwell_ignite_profiler_add(struct dwell_ignite_profiler *profiler, enum dwell_ignite_time_of of,
                                  int number, uint64_t epoch, uint64_t iteration, uint64_t ns);

#ifdef __cplusplus
}
#endif
#endif
