/*
 * A run goes from place to place (see enum dw_place) until the end, an interrupt or a failure.
 *
 * Requests and failures have the same effects as in Ignite. In every case the open ranges and the
 * step of a run that ends are closed. The requests of terminate, terminate_epoch and interrupt are
 * bits of one atomic word. Relaxed order is enough, because no other data depends on it: the run
 * sees a request of another thread at one of the next events.
 */
#include "compat/ignite/handlers.h"

/* The engine whose run is innermost in this thread. */
static __thread struct dwell_ignite_engine *innermost;

/* ---- requests and failures ------------------------------------------------------- */

static uint32_t run_take_requests(struct dwell_ignite_engine *engine, uint32_t mask)
{
	return __atomic_fetch_and(&engine->requests, ~mask, __ATOMIC_RELAXED) & mask;
}

/* Follows requests after the firing at place `from`. The request with the largest effect has
 * priority. */
static int run_follow_requests(struct dwell_ignite_engine *engine, enum dw_place from)
{
	uint32_t taken = run_take_requests(engine, DW_REQUEST_TERMINATE | DW_REQUEST_SKIP_COMPLETED);

	if (taken & DW_REQUEST_TERMINATE) {
		engine->skip_completed = (taken & DW_REQUEST_SKIP_COMPLETED) != 0;
		dw_place_set(engine, DW_PLACE_TERMINATE);
		return 0;
	}
	taken = run_take_requests(engine, DW_REQUEST_EPOCH | DW_REQUEST_SKIP_EPOCH_COMPLETED);
	if (taken & DW_REQUEST_EPOCH && dw_place_in_iteration(from))
		return dw_place_end_single_epoch(engine, (taken & DW_REQUEST_SKIP_EPOCH_COMPLETED) != 0);
	if (run_take_requests(engine, DW_REQUEST_INTERRUPT)) {
		engine->state.interrupted = true;
		return dw_event_fire(engine, &engine->builtin[DWELL_IGNITE_EVENT_INTERRUPT]);
	}
	return 0;
}

/*
 * Fires EXCEPTION_RAISED for the failure in engine->fail, which happened at place `from`. Returns 0
 * if its handlers handled the failure; the next place is set then.
 */
static int run_handle_failure(struct dwell_ignite_engine *engine, enum dw_place from)
{
	struct dwell_error *failure = &engine->state.failure;
	struct dw_event *event = &engine->builtin[DWELL_IGNITE_EVENT_EXCEPTION_RAISED];
	/* Without this check the run would fetch from an exhausted source forever. */
	bool inside = dw_place_in_iteration(from) && !engine->state.exhausted;
	bool handled = dw_event_has_handlers(event);

	*failure = engine->fail;
	engine->state.interrupted = false;
	dw_place_set(engine, inside ? DW_PLACE_EPOCH_END : DW_PLACE_END);
	if (inside)
		dw_place_close_iteration(engine);
	if (dw_event_fire(engine, event)) {
		*failure = engine->fail;
		handled = false;
	}
	return handled ? 0 : failure->code;
}

static int run_continue(struct dwell_ignite_engine *engine)
{
	int result = 0;

	while (engine->place != DW_PLACE_END && !engine->state.interrupted) {
		enum dw_place from = engine->place;

		result = dw_place_take(engine);
		if (DWELL_LIKELY(!result)) {
			if (DWELL_LIKELY(!__atomic_load_n(&engine->requests, __ATOMIC_RELAXED)) ||
			    from == DW_PLACE_TERMINATE || engine->place >= DW_PLACE_COMPLETED)
				goto next;
			result = run_follow_requests(engine, from);
		}
		if (result) {
			result = run_handle_failure(engine, from);
			if (result)
				break;
		}
next:
		if (from == DW_PLACE_EPOCH_END)
			dw_place_close_epoch(engine);
	}
	return result;
}

/* ---- run and resume -------------------------------------------------------------- */

static int run_places(struct dwell_ignite_engine *engine, struct dwell_error *error)
{
	int result;

	engine->outer = innermost;
	innermost = engine;
	engine->state.interrupted = false;
	__atomic_store_n(&engine->running, true, __ATOMIC_RELAXED);
	dw_place_open_run(engine);
	if (engine->place > DW_PLACE_EPOCH && engine->place <= DW_PLACE_EPOCH_END)
		engine->epoch_began = dwell_begin(&engine->epoch_site);
	result = run_continue(engine);
	dw_place_close_epoch(engine);
	dwell_end(engine->run_began);
	__atomic_store_n(&engine->running, false, __ATOMIC_RELAXED);
	innermost = engine->outer;
	engine->pause_start_ns = dw_clock_monotonic_ns();
	if (result) {
		dw_place_set(engine, DW_PLACE_END);
		if (error)
			*error = engine->state.failure;
		if (innermost)
			innermost->fail = engine->state.failure;
	}
	if (!engine->state.interrupted)
		engine->data = NULL;
	return result;
}

static int run_check_limits(const struct dwell_ignite_engine *engine, const struct dwell_ignite_data *data,
                            const struct dwell_ignite_limits *limits, struct dwell_error *error)
{
	if (limits->size < sizeof *limits)
		return dw_error_set(error, DWELL_E_ARGUMENT, "limits are not initialized: use DWELL_IGNITE_LIMITS_INIT");
	if (limits->max_epochs && limits->max_iters)
		return dw_error_set(error, DWELL_E_ARGUMENT,
		                    "max_iters and max_epochs are mutually exclusive: give one of them");
	if (data && !data->next)
		return dw_error_set(error, DWELL_E_ARGUMENT, "the data has no function `next`");
	if (!data && !limits->epoch_length && !limits->max_iters)
		return dw_error_set(error, DWELL_E_ARGUMENT, "epoch_length should be provided if data is NULL");
	if (engine->running)
		return dw_error_set(error, DWELL_E_STATE, "engine '%.64s' runs: a handler may run another engine, not its own",
		                    engine->name);
	return 0;
}

int dwell_ignite_engine_run(struct dwell_ignite_engine *engine, const struct dwell_ignite_data *data,
                            const struct dwell_ignite_limits *limits, struct dwell_error *error)
{
	static const struct dwell_ignite_limits one_epoch = DWELL_IGNITE_LIMITS_INIT;
	struct dwell_ignite_state *state = &engine->state;
	const char *name = !data ? "" : data->name ? data->name : "object";
	int result;

	limits = limits ? limits : &one_epoch;
	result = run_check_limits(engine, data, limits, error);
	if (result)
		return result;
	state->iteration = state->epoch = state->epoch_iteration = 0;
	state->max_iters = limits->max_iters;
	state->max_epochs = limits->max_epochs || limits->max_iters ? limits->max_epochs : 1;
	state->epoch_length = limits->epoch_length ? limits->epoch_length : data ? data->length : 0;
	if (!data && !state->epoch_length)
		state->epoch_length = limits->max_iters;
	state->times.epoch_completed_s = state->times.completed_s = 0;
	state->terminated = state->exhausted = false;
	state->failure.code = 0;
	state->failure.message[0] = '\0';
	engine->data = data;
	snprintf(engine->data_name, sizeof engine->data_name, "%s", name);
	engine->has_pass = engine->new_pass = engine->skip_completed = false;
	__atomic_store_n(&engine->requests, 0, __ATOMIC_RELAXED);
	if (engine->profiler)
		dw_profile_start(engine->profiler);
	engine->run_start_ns = dw_clock_monotonic_ns();
	dw_place_set(engine, DW_PLACE_START);
	return run_places(engine, error);
}

int dwell_ignite_engine_resume(struct dwell_ignite_engine *engine, struct dwell_error *error)
{
	uint64_t pause_ns = dw_clock_monotonic_ns() - engine->pause_start_ns;

	if (engine->running || !engine->state.interrupted)
		return dw_error_set(error, DWELL_E_STATE, "engine '%.64s' %s", engine->name,
		                    engine->running
		                    ? "runs: resume it when dwell_ignite_engine_run() has returned"
		                    : "was not interrupted: dwell_ignite_engine_run() starts a run");
	engine->run_start_ns += pause_ns;
	engine->epoch_start_ns += pause_ns;
	return run_places(engine, error);
}

static int run_request(struct dwell_ignite_engine *engine, uint32_t request, struct dwell_error *error)
{
	/* Formatting a message is not async-signal-safe, so without `error` there is none. */
	if (!__atomic_load_n(&engine->running, __ATOMIC_RELAXED))
		return dw_error_set(error, DWELL_E_STATE, "engine '%.64s' does not run", engine->name);
	__atomic_fetch_or(&engine->requests, request, __ATOMIC_RELAXED);
	return 0;
}

int dwell_ignite_engine_terminate(struct dwell_ignite_engine *engine, bool skip_completed, struct dwell_error *error)
{
	return run_request(engine, DW_REQUEST_TERMINATE | (skip_completed ? DW_REQUEST_SKIP_COMPLETED : 0), error);
}

int dwell_ignite_engine_terminate_epoch(struct dwell_ignite_engine *engine, bool skip_epoch_completed,
                                        struct dwell_error *error)
{
	enum dw_place place = __atomic_load_n(&engine->place, __ATOMIC_RELAXED);

	if (__atomic_load_n(&engine->running, __ATOMIC_RELAXED) && !dw_place_in_iteration(place))
		return dw_error_set(error, DWELL_E_STATE, "terminate_epoch should not be called outside of iterations, as on "
		                    "STARTED, EPOCH_STARTED or EPOCH_COMPLETED of engine '%.64s'", engine->name);
	return run_request(engine, DW_REQUEST_EPOCH | (skip_epoch_completed ? DW_REQUEST_SKIP_EPOCH_COMPLETED : 0), error);
}

int dwell_ignite_engine_interrupt(struct dwell_ignite_engine *engine, struct dwell_error *error)
{
	return run_request(engine, DW_REQUEST_INTERRUPT, error);
}
