/*
 * The places of a run. Iterations and epochs are sequences of places.
 *
 * Called by run.c, one place after the other. The order of events and the times are Ignite's
 * (tests/golden/ignite/event_order.txt). A place fires its event last and then sets the next place.
 * If a place fails, it stores the message in engine->fail; run.c then closes the open ranges.
 */
#include "compat/ignite/handlers.h"

static int place_fire(struct dwell_ignite_engine *engine, enum dwell_ignite_event event)
{
	return dw_event_fire(engine, &engine->builtin[event]);
}

/* ---- what is recorded ------------------------------------------------------------ */

static void place_count(struct dwell_site *site, uint64_t value)
{
	if (dwell_wants(1u << DWELL_CATEGORY_COUNTER))
		dwell_counter(site, (double)value);
}

static void place_close_range(unsigned *began)
{
	dwell_end(*began);
	*began = DWELL_NOT_BEGUN;
}

/* Begins the step even if nothing is recorded now, because a step may open the gate. */
static void place_begin_step(struct dwell_ignite_engine *engine)
{
	if (engine->steps && !engine->outer && !engine->step_began && __atomic_load_n(&dwell_gate, __ATOMIC_RELAXED)) {
		dwell_step_begin();
		engine->step_began = true;
	}
}

static void place_end_step(struct dwell_ignite_engine *engine)
{
	if (engine->step_began)
		dwell_step_end();
	engine->step_began = false;
}

void dw_place_close_iteration(struct dwell_ignite_engine *engine)
{
	place_close_range(&engine->dataflow_began);
	place_end_step(engine);
}

void dw_place_close_epoch(struct dwell_ignite_engine *engine)
{
	dw_place_close_iteration(engine);
	place_close_range(&engine->epoch_began);
}

void dw_place_open_run(struct dwell_ignite_engine *engine)
{
	dw_engine_announce(engine);
	engine->run_began = dwell_begin(engine->outer ? &engine->nested_site : &engine->run_site);
	place_count(&engine->epoch_count_site, engine->state.epoch);
	place_count(&engine->iteration_site, engine->state.iteration);
}

/* ---- the data source ------------------------------------------------------------- */

static int place_restart(struct dwell_ignite_engine *engine)
{
	const struct dwell_ignite_data *data = engine->data;
	unsigned began;
	int result;

	engine->has_pass = true;
	if (!data || !data->restart)
		return 0;
	began = dwell_begin(&engine->restart_site);
	engine->fail.code = 0;
	result = data->restart(data->user);
	dwell_end(began);
	return result ? dw_engine_failed(engine, result, "restarting the data") : 0;
}

/* ---- the places ------------------------------------------------------------------ */

static bool place_is_done(const struct dwell_ignite_engine *engine)
{
	const struct dwell_ignite_state *state = &engine->state;

	if (state->max_iters && state->iteration >= state->max_iters)
		return true;
	if (!state->max_epochs) /* the data is exhausted and cannot fill another epoch */
		return state->exhausted && state->epoch > 0 && state->epoch_iteration == 0;
	return state->epoch >= state->max_epochs ||
	       (state->epoch_length && state->iteration / state->epoch_length >= state->max_epochs);
}

static int place_at_start(struct dwell_ignite_engine *engine)
{
	int result = place_fire(engine, DWELL_IGNITE_EVENT_STARTED);

	dw_place_set(engine, DW_PLACE_EPOCH);
	return result;
}

static int place_at_epoch(struct dwell_ignite_engine *engine)
{
	int result;

	if (place_is_done(engine)) {
		dw_place_set(engine, DW_PLACE_COMPLETED);
		return 0;
	}
	engine->state.epoch++;
	engine->state.epoch_iteration = 0;
	engine->skip_epoch_completed = false;
	engine->epoch_start_ns = dw_clock_monotonic_ns();
	engine->epoch_began = dwell_begin(&engine->epoch_site);
	place_count(&engine->epoch_count_site, engine->state.epoch);
	result = place_fire(engine, DWELL_IGNITE_EVENT_EPOCH_STARTED);
	dw_place_set(engine, engine->has_pass ? DW_PLACE_FETCH : DW_PLACE_FIRST_PASS);
	return result;
}

static int place_at_first_pass(struct dwell_ignite_engine *engine)
{
	int result = place_restart(engine);

	dw_place_set(engine, DW_PLACE_FETCH);
	return result;
}

/* If the fetch may find the end of the data, the step begins after it. */
static bool place_knows_length(const struct dwell_ignite_engine *engine)
{
	return !engine->data || engine->data->length || engine->state.epoch_length;
}

static int place_at_fetch(struct dwell_ignite_engine *engine)
{
	struct dwell_ignite_state *state = &engine->state;
	int result;

	state->batch = NULL;
	state->output = NAN;
	state->output_object = NULL;
	engine->new_pass = false;
	if (place_knows_length(engine))
		place_begin_step(engine);
	place_count(&engine->iteration_site, state->iteration + 1);
	if (!engine->data) {
		dw_place_set(engine, DW_PLACE_ITERATE);
		return 0;
	}
	engine->dataflow_began = dwell_begin(&engine->dataflow_site);
	if (engine->profiler)
		engine->profiler->fetch_start = dw_profile_now(engine->profiler);
	result = place_fire(engine, DWELL_IGNITE_EVENT_GET_BATCH_STARTED);
	dw_place_set(engine, DW_PLACE_NEXT);
	return result;
}

static int place_at_end_of_pass(struct dwell_ignite_engine *engine)
{
	struct dwell_ignite_state *state = &engine->state;
	int result;

	if (!state->epoch_length) {
		dw_place_close_iteration(engine);
		state->epoch_length = state->epoch_iteration;
		dw_place_set(engine, DW_PLACE_EPOCH_END);
		if (state->epoch_length)
			return 0;
		state->exhausted = true;
		dwell_ignite_engine_fail(engine, DWELL_E_NO_DATA, "it gave no batch at all");
		return dw_engine_failed(engine, DWELL_E_NO_DATA, "the data");
	}
	if (engine->new_pass) {
		dw_place_close_iteration(engine);
		state->exhausted = true;
		dw_place_set(engine, DW_PLACE_EPOCH_END);
		return 0;
	}
	result = place_fire(engine, DWELL_IGNITE_EVENT_DATALOADER_STOP_ITERATION);
	dw_place_set(engine, DW_PLACE_RESTART);
	return result;
}

static int place_at_next(struct dwell_ignite_engine *engine)
{
	const struct dwell_ignite_data *data = engine->data;
	void *batch = NULL;
	int result;

	engine->fail.code = 0;
	result = data->next(data->user, &batch);
	if (result == 0)
		return place_at_end_of_pass(engine);
	if (result != 1)
		return dw_engine_failed(engine, result, "fetching a batch");
	place_close_range(&engine->dataflow_began);
	if (!place_knows_length(engine))
		place_begin_step(engine);
	if (engine->profiler && engine->profiler->fetch_start) {
		engine->profiler->fetch_end = dw_profile_now(engine->profiler);
		dw_profile_time(engine->profiler, DWELL_IGNITE_TIME_OF_DATAFLOW, 0,
		                engine->profiler->fetch_end - engine->profiler->fetch_start);
	}
	engine->state.batch = batch;
	result = place_fire(engine, DWELL_IGNITE_EVENT_GET_BATCH_COMPLETED);
	dw_place_set(engine, DW_PLACE_ITERATE);
	return result;
}

static int place_at_restart(struct dwell_ignite_engine *engine)
{
	int result = place_restart(engine);

	engine->new_pass = true;
	dw_place_set(engine, DW_PLACE_NEXT);
	return result;
}

static int place_at_iterate(struct dwell_ignite_engine *engine)
{
	int result;

	engine->state.iteration++;
	engine->state.epoch_iteration++;
	result = place_fire(engine, DWELL_IGNITE_EVENT_ITERATION_STARTED);
	dw_place_set(engine, DW_PLACE_PROCESS);
	return result;
}

/* The time at which the process function starts. If no code of the program ran since the fetch
 * ended, it is the end of the fetch, which saves a reading of the clock. */
static uint64_t place_process_start(struct dwell_ignite_engine *engine)
{
	uint64_t fetch_end = engine->profiler->fetch_end;

	engine->profiler->fetch_end = 0;
	if (fetch_end && !engine->builtin[DWELL_IGNITE_EVENT_GET_BATCH_COMPLETED].count &&
	    !engine->builtin[DWELL_IGNITE_EVENT_ITERATION_STARTED].count)
		return fetch_end;
	return dw_profile_now(engine->profiler);
}

static int place_at_process(struct dwell_ignite_engine *engine)
{
	struct dw_event *completed = &engine->builtin[DWELL_IGNITE_EVENT_ITERATION_COMPLETED];
	struct dwell_ignite_state *state = &engine->state;
	unsigned began = dwell_begin(&engine->processing_site);
	uint64_t start = engine->profiler ? place_process_start(engine) : 0, end = 0;
	int result;

	engine->fail.code = 0;
	result = engine->process(engine, state->batch, engine->user);
	dwell_end(began);
	if (DWELL_UNLIKELY(result != 0))
		return dw_engine_failed(engine, result, "the process function");
	if (engine->profiler && start) {
		end = dw_profile_now(engine->profiler);
		dw_profile_time(engine->profiler, DWELL_IGNITE_TIME_OF_PROCESSING, 0, end - start);
	}
	result = engine->profiler ? dw_event_fire_profiled(engine, completed, end) : dw_event_fire(engine, completed);
	place_end_step(engine);
	if (state->epoch_length && state->epoch_iteration >= state->epoch_length)
		dw_place_set(engine, DW_PLACE_EPOCH_END);
	else if (state->max_iters && state->iteration >= state->max_iters)
		dw_place_set(engine, DW_PLACE_TERMINATE);
	else
		dw_place_set(engine, DW_PLACE_FETCH);
	return result;
}

static double place_since_s(uint64_t start_ns)
{
	return (double)(dw_clock_monotonic_ns() - start_ns) * 1e-9;
}

static int place_at_epoch_end(struct dwell_ignite_engine *engine)
{
	int result = 0;

	engine->state.times.epoch_completed_s = place_since_s(engine->epoch_start_ns);
	if (!engine->skip_epoch_completed) {
		result = place_fire(engine, DWELL_IGNITE_EVENT_EPOCH_COMPLETED);
		engine->state.times.epoch_completed_s = place_since_s(engine->epoch_start_ns);
	}
	dw_place_set(engine, DW_PLACE_EPOCH);
	return result;
}

static int place_at_terminate(struct dwell_ignite_engine *engine)
{
	int result;

	engine->state.terminated = true;
	dw_place_close_epoch(engine);
	result = place_fire(engine, DWELL_IGNITE_EVENT_TERMINATE);
	dw_place_set(engine, DW_PLACE_COMPLETED);
	return result;
}

static int place_at_completed(struct dwell_ignite_engine *engine)
{
	int result = 0;

	engine->state.times.completed_s = place_since_s(engine->run_start_ns);
	if (!engine->skip_completed) {
		result = place_fire(engine, DWELL_IGNITE_EVENT_COMPLETED);
		engine->state.times.completed_s = place_since_s(engine->run_start_ns);
	}
	dw_place_set(engine, DW_PLACE_END);
	return result;
}

/* Runs one place. A switch and not a table of functions, so that the calls can be inlined. */
int dw_place_take(struct dwell_ignite_engine *engine)
{
	switch (engine->place) {
	case DW_PLACE_START: return place_at_start(engine);
	case DW_PLACE_EPOCH: return place_at_epoch(engine);
	case DW_PLACE_FIRST_PASS: return place_at_first_pass(engine);
	case DW_PLACE_FETCH: return place_at_fetch(engine);
	case DW_PLACE_NEXT: return place_at_next(engine);
	case DW_PLACE_RESTART: return place_at_restart(engine);
	case DW_PLACE_ITERATE: return place_at_iterate(engine);
	case DW_PLACE_PROCESS: return place_at_process(engine);
	case DW_PLACE_EPOCH_END: return place_at_epoch_end(engine);
	case DW_PLACE_TERMINATE: return place_at_terminate(engine);
	case DW_PLACE_COMPLETED: return place_at_completed(engine);
	case DW_PLACE_END: break;
	}
	return 0;
}

/* ---- the short way to the end of an epoch ---------------------------------------- */

int dw_place_end_single_epoch(struct dwell_ignite_engine *engine, bool skip_epoch_completed)
{
	int result;

	dw_place_close_iteration(engine);
	dw_place_set(engine, DW_PLACE_EPOCH_END);
	engine->skip_epoch_completed = skip_epoch_completed;
	result = place_fire(engine, DWELL_IGNITE_EVENT_TERMINATE_SINGLE_EPOCH);
	return result ? result : place_restart(engine);
}
