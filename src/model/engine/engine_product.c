/*
 * Sums up the times of each engine's rows; see engine.h.
 *
 * Streams are walked one after the other. The iteration and epoch of a range are the last values of
 * the engine's counters before its begin. Therefore chunks out of scope are walked too: they may
 * contain these counters. A fetch counts when its batch begins: the last fetch finds the end of the
 * data and has no batch.
 *
 * Times are summed for each stream in ticks, then the sums of the streams are merged in seconds.
 * So each stream has its own last run, and the clock of its file is applied once.
 */

#include "base/error.h"
#include "base/nearest.h"
#include "base/order.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/device/sums.h"
#include "model/engine/engine_roles.h"

/* ---- times out of the records ---------------------------------------------------------------- */

struct visitor {
	void *context;
	/* A time of a row. time->run counts from 1; 0 is a run whose start was not recorded. */
	void (*time)(void *context, const struct dw_source_file *file, uint32_t engine,
	             const struct dw_engine_time *time, uint64_t ticks);
	void (*run)(void *context, const struct dw_source_file *file, uint32_t engine, bool nested, uint64_t ticks);
	void (*open)(void *context, uint32_t engine);
	void (*stream)(void *context, const struct dw_source_file *file); /* the end of a stream */
};

struct frame {
	struct dw_frame frame;
	uint64_t iteration, epoch;
	const struct dw_engine_place *place;
	bool counts;
};

/* The state of an engine at the current record. */
struct now {
	uint64_t iteration, epoch;
	uint32_t run;
	bool fetched;  /* the next two are a fetch that ended and waits for its batch */
	struct dw_engine_time fetch;
	uint64_t fetch_ticks;
};

struct engines {
	struct dw_pass pass;
	const struct visitor *visitor;
	const struct dw_engine_place *places; /* by the model's merged symbols */
	struct now *now;
};

static const struct dw_engine_place *engines_place(const struct engines *engines, uint32_t id)
{
	return &engines->places[dw_walk_symbol(&engines->pass.walk, id)];
}

static void engines_begin_range(struct engines *engines, const struct dw_engine_place *place)
{
	struct now *now = &engines->now[place->engine];

	if (place->role == DW_ENGINE_START) {
		now->run++;
		now->fetched = false; /* the run before ended without a batch of it */
	}
	if (place->role == DW_ENGINE_BATCH && now->fetched) {
		now->fetched = false;
		engines->visitor->time(engines->visitor->context, engines->pass.walk.file, place->engine,
		                       &now->fetch, now->fetch_ticks);
	}
}

static void engines_enter(void *state, void *memory, uint64_t ticks, uint32_t id)
{
	struct engines *engines = state;
	struct frame *frame = memory;
	const struct dw_engine_place *place = engines_place(engines, id);

	frame->place = place;
	if (!place->role)
		return;
	engines_begin_range(engines, place);
	frame->iteration = engines->now[place->engine].iteration;
	frame->epoch = engines->now[place->engine].epoch;
	frame->counts = dw_pass_in_scope(&engines->pass, ticks);
}

static void engines_leave(void *state, void *memory, uint64_t ticks, enum dw_leave how)
{
	struct engines *engines = state;
	const struct frame *frame = memory;
	uint64_t duration = ticks - frame->frame.start;
	const struct dw_engine_place *place = frame->place;
	const struct visitor *visitor = engines->visitor;
	struct now *now;

	if (!place->role || !frame->counts)
		return;
	if (place->role == DW_ENGINE_RUN || place->role == DW_ENGINE_NESTED_RUN) {
		visitor->run(visitor->context, engines->pass.walk.file, place->engine,
		             place->role == DW_ENGINE_NESTED_RUN, duration);
		return;
	}
	if (how != DW_LEAVE_END) {
		visitor->open(visitor->context, place->engine);
		return;
	}
	now = &engines->now[place->engine];
	struct dw_engine_time time = { .row = place->row, .run = now->run, .epoch = frame->epoch,
		.iteration = frame->iteration, .thread = engines->pass.walk.thread, .start_ticks = frame->frame.start };
	if (place->role == DW_ENGINE_FETCH) {
		now->fetch = time;
		now->fetch_ticks = duration;
		now->fetched = true;
	} else {
		visitor->time(visitor->context, engines->pass.walk.file, place->engine, &time, duration);
	}
}

static void engines_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct engines *engines = state;
	const struct dw_engine_place *place;
	double value;

	if (record->kind != DW_COUNTER)
		return;
	value = dw_record_f64(record, 0);
	place = engines_place(engines, record->id);
	if (!(value >= 0 && value < 1.8e19))
		return;
	if (place->role == DW_ENGINE_ITERATION)
		engines->now[place->engine].iteration = (uint64_t)value;
	else if (place->role == DW_ENGINE_EPOCH)
		engines->now[place->engine].epoch = (uint64_t)value;
}

/* Not scoped: chunks out of scope contain counters that number later ranges. */
static const struct dw_pass_hooks engines_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST,
	.enter = engines_enter, .leave = engines_leave, .note = engines_note,
};
DW_PASS_DEFINE(engines, engines_hooks)

static int engines_visit(struct dw_model *model, const struct dw_engines *all, const struct visitor *visitor)
{
	const struct dw_source *source = model->source;
	struct now *now = calloc(all->count + 1, sizeof *now);
	struct dw_frames frames = { 0 };
	bool failed = !now;

	for (size_t i = 0; i < source->stream_count && !failed; i++) {
		struct engines engines = { .visitor = visitor, .places = all->places, .now = now };

		if (!dw_scope_has_stream(model, &source->streams[i]))
			continue;
		memset(now, 0, all->count * sizeof *now);
		dw_pass_init(&engines.pass, model, i, &frames);
		engines_walk(&engines.pass);
		failed = engines.pass.walk.failed;
		visitor->stream(visitor->context, engines.pass.walk.file);
	}
	free(now);
	dw_frames_reset(&frames);
	return failed ? -1 : 0;
}

/* ---- sums ------------------------------------------------------------------------------------ */

struct sums {
	struct dw_engines *engines;
	struct dw_time_stat **stats; /* by engine, then by row; of this stream, in ticks */
	uint32_t *runs;                 /* by engine: the run of the last time added */
	enum dw_engine_runs which;
	struct dw_model *model;
	bool device, failed;          /* device: the run has events of devices */
};

static void engine_sums_add_device(struct sums *sums, const struct dw_source_file *file,
                                   struct dw_engine_row *row, const struct dw_engine_time *time, uint64_t ticks)
{
	struct dw_device_amount amount;

	sums->failed |= !dw_model_device_between(sums->model, DW_DEVICE_FOR_THREAD, time->thread,
	                                         dw_source_ns(&file->clock, time->start_ticks),
	                                         dw_source_ns(&file->clock, time->start_ticks + ticks), &amount, NULL);
	row->device_ns += amount.ns;
	row->device_events += amount.events;
}

static void engine_sums_add_time(void *pointer, const struct dw_source_file *file, uint32_t at,
                                 const struct dw_engine_time *time, uint64_t ticks)
{
	struct sums *sums = pointer;
	struct dw_engine *engine = &sums->engines->engines[at];
	struct dw_engine_row *row = &engine->rows[time->row];

	if (sums->device)
		engine_sums_add_device(sums, file, row, time, ticks);
	if (sums->runs[at] != time->run) {
		engine->runs++;
		sums->runs[at] = time->run;
		if (sums->which == DW_ENGINE_LAST_RUN)
			memset(sums->stats[at], 0, dw_engine_row_count(engine) * sizeof **sums->stats);
	}
	dw_time_stat_add(&sums->stats[at][time->row], (double)ticks, row->by_epoch ? time->epoch : time->iteration);
}

static void engine_sums_add_run(void *pointer, const struct dw_source_file *file, uint32_t at,
                                bool nested, uint64_t ticks)
{
	struct dw_engine *engine = &((struct sums *)pointer)->engines->engines[at];

	if (nested)
		engine->nested_runs++;
	else
		engine->run_ns += dw_source_span_ns(&file->clock, ticks);
}

static void engine_sums_add_open(void *pointer, uint32_t at)
{
	((struct sums *)pointer)->engines->engines[at].open++;
}

static void engine_sums_add_stream(void *pointer, const struct dw_source_file *file)
{
	struct sums *sums = pointer;

	for (size_t e = 0; e < sums->engines->count; e++) {
		struct dw_engine *engine = &sums->engines->engines[e];
		size_t count = dw_engine_row_count(engine);

		for (size_t i = 0; i < count; i++)
			dw_time_stat_merge(&engine->rows[i].stat, &sums->stats[e][i], file->clock.ns_per_tick * 1e-9);
		memset(sums->stats[e], 0, count * sizeof **sums->stats);
		sums->runs[e] = UINT32_MAX;
	}
}

static int engines_sum(struct dw_model *model, struct dw_engines *engines, enum dw_engine_runs which)
{
	struct dw_arena scratch = { 0 };
	struct sums sums = { .engines = engines, .which = which, .model = model,
		.device = which == DW_ENGINE_ALL_RUNS && dw_model_has_device(model) };
	const struct visitor visitor = { &sums, engine_sums_add_time, engine_sums_add_run,
		                             engine_sums_add_open, engine_sums_add_stream };
	bool failed;

	sums.stats = dw_arena_alloc(&scratch, (engines->count + 1) * sizeof *sums.stats);
	sums.runs = dw_arena_alloc(&scratch, (engines->count + 1) * sizeof *sums.runs);
	failed = !sums.stats || !sums.runs;
	for (size_t e = 0; e < engines->count && !failed; e++) {
		sums.stats[e] = dw_arena_alloc(&scratch, dw_engine_row_count(&engines->engines[e]) * sizeof **sums.stats);
		sums.runs[e] = UINT32_MAX;
		failed = !sums.stats[e];
	}
	if (!failed)
		failed = engines_visit(model, engines, &visitor) != 0 || sums.failed;
	dw_arena_reset(&scratch);
	return failed ? -1 : 0;
}

/* The engine with the longest runs comes first. Nested runs do not count. */
DW_ORDER_OF_POINTERS(engines_compare, struct dw_engine, DW_DOWN(run_ns) DW_UP_PLACE)

static int engines_order(struct dw_model *model, struct dw_engines *engines)
{
	const struct dw_engine **by_run = calloc(engines->count + 1, sizeof *by_run);

	engines->names = dw_arena_alloc(&model->arena, (engines->count + 1) * sizeof *engines->names);
	for (size_t i = 0; by_run && i < engines->count; i++)
		by_run[i] = &engines->engines[i];
	DW_SORT(by_run, engines->count, engines_compare);
	for (size_t i = 0; by_run && engines->names && i < engines->count; i++)
		engines->names[i] = by_run[i]->name;
	free(by_run);
	return by_run && engines->names ? 0 : -1;
}

/* The request is an enum dw_engine_runs. */
static bool engines_compute(struct dw_model *model, const void *request, void *result)
{
	const enum dw_engine_runs *which = request;
	struct dw_engines *engines = result;

	return dw_engines_name(model, engines) && engines_sum(model, engines, *which) == 0 &&
	       engines_order(model, engines) == 0;
}

DW_PRODUCT(engines, struct dw_engines, engines_compute, NULL);

static const struct dw_engines *engines_get(struct dw_model *model, enum dw_engine_runs which)
{
	return dw_product_get(model, &dw_product_engines, which, &which, NULL);
}

const char *const *dw_model_engine_names(struct dw_model *model, size_t *count)
{
	const struct dw_engines *engines = engines_get(model, DW_ENGINE_ALL_RUNS);

	*count = engines ? engines->count : 0;
	return engines ? engines->names : NULL;
}

const struct dw_engine *dw_model_engine(struct dw_model *model, const char *name,
                                        enum dw_engine_runs runs, struct dwell_error *error)
{
	const struct dw_engines *engines = engines_get(model, runs);
	const char *path = model->source->files[0].path;
	struct dw_nearest nearest;

	if (!engines) {
		dw_model_no_memory(model, error);
		return NULL;
	}
	if (!engines->count) {
		dw_error_set(error, DWELL_E_NO_DATA, "%s has no events of a training engine: %s", path, DW_ENGINE_REMEDY);
		return NULL;
	}
	if (!name)
		name = engines->names[0];
	dw_nearest_init(&nearest, name);
	for (size_t i = 0; i < engines->count; i++) {
		if (strcmp(engines->engines[i].name, name) == 0)
			return &engines->engines[i];
		dw_nearest_try(&nearest, engines->engines[i].name);
	}
	dw_error_set(error, DWELL_E_NAME, "no engine '%.100s' in %s; did you mean '%s'?", name, path,
	             nearest.best ? nearest.best : engines->names[0]);
	return NULL;
}

/* ---- each time ------------------------------------------------------------------------ */

struct forward {
	const struct dw_engines *engines;
	const struct dw_engine *engine;
	int (*each)(void *, const struct dw_engine_time *);
	void *context;
	uint32_t streams;
	int result;
};

static void engine_forward_time(void *pointer, const struct dw_source_file *file, uint32_t at,
                                const struct dw_engine_time *from, uint64_t ticks)
{
	struct forward *forward = pointer;
	struct dw_engine_time time = *from;

	if (forward->result || &forward->engines->engines[at] != forward->engine)
		return;
	time.ns = dw_source_span_ns(&file->clock, ticks);
	time.run += forward->streams << 20; /* each stream numbers its own runs */
	forward->result = forward->each(forward->context, &time);
}

static void engine_forward_run(void *pointer, const struct dw_source_file *file, uint32_t at,
                               bool nested, uint64_t ticks)
{
	(void)pointer, (void)file, (void)at, (void)nested, (void)ticks;
}

static void engine_forward_open(void *pointer, uint32_t at)
{
	(void)pointer, (void)at;
}

static void engine_forward_stream(void *pointer, const struct dw_source_file *file)
{
	((struct forward *)pointer)->streams++;
}

int dw_model_engine_times(struct dw_model *model, const struct dw_engine *engine,
                          int (*each)(void *context, const struct dw_engine_time *time),
                          void *context, struct dwell_error *error)
{
	const struct dw_engines *engines = engines_get(model, DW_ENGINE_ALL_RUNS);
	struct forward forward = { engines, engine, each, context, 0, 0 };
	const struct visitor visitor = { &forward, engine_forward_time, engine_forward_run,
		                             engine_forward_open, engine_forward_stream };

	if (!engines || engines_visit(model, engines, &visitor))
		return dw_model_no_memory(model, error);
	return forward.result;
}
