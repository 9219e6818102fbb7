/*
 * The structures of an engine, shared by the files of libdwell-ignite.
 *
 *   engine_life.c  create, destroy, state, metrics
 *   failure.c      failures and their messages
 *   when.c         reads the `when` of dwell_ignite_engine_add()
 *   events.c       the events: built in and registered
 *   handlers.c     the handlers of events: add, remove, fire (handlers.h)
 *   places.c       the places of an iteration and an epoch
 *   run.c          moves from place to place: run, resume, requests, failures
 *   timer.c        struct dwell_ignite_timer
 *   profile.c      struct dwell_ignite_profiler: sums up durations (profile.h)
 *   results.c      the profiler's results and files
 *
 * Names are recorded through sites inside the engine. So they are interned at their first record,
 * even if the session starts late. Afterwards looking up a name costs one load.
 */
#pragma once

#include <dwell/compat/ignite.h>
#include <dwell/probe.h>

#include "base/error.h"

enum dw_filter_kind {
	DW_FILTER_NONE,
	DW_FILTER_EVERY,       /* value % every == 0 */
	DW_FILTER_BETWEEN,     /* after < value < before; of these values each every-th from the first on */
	DW_FILTER_ONCE,        /* value is one of once[] */
	DW_FILTER_FUNCTION,
};

struct dw_filter {
	enum dw_filter_kind kind;
	uint64_t every, after, before;
	uint64_t *once; /* from malloc */
	size_t once_count;
};

/* A handler of one event. A `when` with several events makes several slots with one handle. If a
 * slot is removed while its event fires, `handler` becomes NULL and the rest stays until the
 * firing ends. */
struct dw_slot {
	dwell_ignite_handler *handler;
	void *user;
	struct dw_filter filter;
	dwell_ignite_event_filter *function;
	uint64_t handle;
	char *name;
	int profile_row; /* the profiler's number of the handler */
	struct dwell_site site;
};

struct dw_event {
	unsigned number;
	char *name;
	char *path;            /* ENGINE.EVENT */
	const uint64_t *value; /* what filters compare, or NULL */
	struct dw_slot *slots; /* in the order of adding; moves when it grows */
	unsigned count;
	size_t capacity;
	unsigned firing;       /* depth: slots keep their places while it is not 0 */
	bool removed;          /* removed slots are freed at the end of the firing */
	struct dwell_site site;
};

struct dw_metric {
	char *name;
	double value;
};

/* Requests of terminate, terminate_epoch and interrupt. */
enum {
	DW_REQUEST_TERMINATE = 1,
	DW_REQUEST_EPOCH = 2,
	DW_REQUEST_INTERRUPT = 4,
	DW_REQUEST_SKIP_COMPLETED = 8,
	DW_REQUEST_SKIP_EPOCH_COMPLETED = 16,
};

/*
 * What a run does next. Each place ends with the firing of an event, and then the run follows
 * requests. So a run that was interrupted continues with its place.
 *
 *   START -> EPOCH -> FIRST_PASS -> FETCH -> NEXT -> ITERATE -> PROCESS -+
 *              ^                      ^      | ^                         |
 *              |                      |      v |                         |
 *              |                      |     RESTART                      |
 *              |                      +----------------------------------+
 *              +------------- EPOCH_END <--------------------------------+
 *              +-> COMPLETED -> END          TERMINATE -> COMPLETED
 */
enum dw_place {
	DW_PLACE_START,
	DW_PLACE_EPOCH,
	DW_PLACE_FIRST_PASS,
	DW_PLACE_FETCH, /* from here ... */
	DW_PLACE_NEXT,
	DW_PLACE_RESTART,
	DW_PLACE_ITERATE,
	DW_PLACE_PROCESS, /* ... to here: in an iteration */
	DW_PLACE_EPOCH_END,
	DW_PLACE_TERMINATE,
	DW_PLACE_COMPLETED,
	DW_PLACE_END,
};

struct dwell_ignite_engine {
	struct dwell_ignite_state state;
	dwell_ignite_process *process;
	void *user;
	const struct dwell_ignite_data *data;
	struct dwell_ignite_engine *outer; /* the engine whose handler runs this one, or NULL */

	enum dw_place place; /* atomic, relaxed: terminate_epoch reads it in other threads */
	uint32_t requests;   /* atomic; any thread sets it, the run clears it; relaxed, see run.c */
	bool running;        /* atomic, relaxed: only a hint for other threads */
	bool steps;
	bool has_pass;       /* the data was restarted and may have more batches */
	bool new_pass;       /* the place RESTART restarted it, and no batch has come since */
	bool skip_completed, skip_epoch_completed;

	/* The open ranges of the trace. */
	unsigned run_began, epoch_began, dataflow_began;
	bool step_began;
	struct dwell_site run_site, nested_site, epoch_site, processing_site, dataflow_site,
	    restart_site, iteration_site, epoch_count_site;

	uint64_t run_start_ns, epoch_start_ns, pause_start_ns;

	struct dwell_ignite_profiler *profiler; /* or NULL */

	struct dwell_error fail; /* message of the current call's failure; code 0: none was kept */

	struct dw_event builtin[DWELL_IGNITE_EVENT_COUNT];
	struct dw_event **custom;
	unsigned custom_count;
	uint64_t last_handle;

	struct dw_metric *metrics;
	unsigned metric_count;
	char *name;
	char *iteration_name, *epoch_name; /* of the counters */
	char data_name[64];                /* a copy: the last run's data may be freed */
};

/* failure.c */
/* Call it if a function of the program returned the failure `result`. Stores the formatted text in
 * engine->fail, followed by the message that the function kept, if any. Returns the negative code
 * of the failure. */
int dw_engine_failed(struct dwell_ignite_engine *engine, int result, const char *format, ...)
    __attribute__((__format__(__printf__, 3, 4)));

/* when.c: reads one "EVENT(filter)" and moves *at after it; at the end *at is NULL. */
int dw_when_next(struct dwell_ignite_engine *engine, const char **at, struct dw_event **event,
                 struct dw_filter *filter, struct dwell_error *error);

/* events.c */
int dw_event_init(struct dw_event *event, const char *name, const struct dwell_ignite_engine *engine,
                  const uint64_t *value);
void dw_slot_reset(struct dw_slot *slot);
void dw_event_reset(struct dw_event *event);
/* Whether the character may be part of an event's name. */
static inline bool dw_event_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == ':';
}
struct dw_event *dw_event_find(struct dwell_ignite_engine *engine, const char *name, size_t length);
/* Interns the names of all events and handlers. */
void dw_engine_announce(struct dwell_ignite_engine *engine);

static inline int dw_event_count(const struct dwell_ignite_engine *engine)
{
	return DWELL_IGNITE_EVENT_COUNT + (int)engine->custom_count;
}

/* The event with this number; NULL if the engine has no such event. */
static inline struct dw_event *dw_event_at(const struct dwell_ignite_engine *engine, int number)
{
	if (number < 0)
		return NULL;
	if (number < DWELL_IGNITE_EVENT_COUNT)
		return (struct dw_event *)&engine->builtin[number];
	number -= DWELL_IGNITE_EVENT_COUNT;
	return (unsigned)number < engine->custom_count ? engine->custom[number] : NULL;
}

/* places.c. Both return 0 or a failure, whose message is in engine->fail. */
int dw_place_take(struct dwell_ignite_engine *engine);
int dw_place_end_single_epoch(struct dwell_ignite_engine *engine, bool skip_epoch_completed);
void dw_place_open_run(struct dwell_ignite_engine *engine);
void dw_place_close_iteration(struct dwell_ignite_engine *engine);
void dw_place_close_epoch(struct dwell_ignite_engine *engine);

static inline void dw_place_set(struct dwell_ignite_engine *engine, enum dw_place place)
{
	__atomic_store_n(&engine->place, place, __ATOMIC_RELAXED);
}

static inline bool dw_place_in_iteration(enum dw_place place)
{
	return place >= DW_PLACE_FETCH && place <= DW_PLACE_PROCESS;
}
