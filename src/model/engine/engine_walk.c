/*
 * Times out of an engine's records.
 *
 * Called by engine.c. Streams one after the other; a range's index is what the engine's
 * counters said last when it began. Chunks out of scope are walked too: they hold
 * counters that number what comes after them. A fetch waits for its batch: where the
 * data ends there is a fetch without one.
 */
#include <stdlib.h>
#include <string.h>

#include "model/engine/engine_names.h"
#include "model/core/pass.h"

struct frame {
	struct dw_frame frame;
	uint64_t iteration, epoch;
	const struct dw_engine_place *place;
	bool counts;
};

/* Where an engine stands. */
struct now {
	uint64_t iteration, epoch;
	uint32_t run;
	bool fetched;  /* below: a fetch that has ended */
	struct dw_engine_time fetch;
	uint64_t fetch_ticks;
};

struct engines {
	struct dw_pass pass;
	const struct dw_engine_visitor *visitor;
	const struct dw_engine_place *places; /* by merged symbol */
	const uint32_t *symbol_by_id;
	struct now *now;
};

static const struct dw_engine_place *place_of(const struct engines *engines, uint32_t id)
{
	return &engines->places[engines->symbol_by_id[id < engines->pass.walk.op_count ? id : 0]];
}

static void begin_range(struct engines *engines, const struct dw_engine_place *place)
{
	struct now *now = &engines->now[place->engine];

	if (place->role == DW_ENGINE_START)
		now->run++;
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
	const struct dw_engine_place *place = place_of(engines, id);

	frame->place = place;
	if (!place->role)
		return;
	begin_range(engines, place);
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
	const struct dw_engine_visitor *visitor = engines->visitor;
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
		.iteration = frame->iteration };
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
	place = place_of(engines, record->id);
	if (!(value >= 0 && value < 1.8e19))
		return;
	if (place->role == DW_ENGINE_ITERATION)
		engines->now[place->engine].iteration = (uint64_t)value;
	else if (place->role == DW_ENGINE_EPOCH)
		engines->now[place->engine].epoch = (uint64_t)value;
}

/* Not scoped: chunks out of scope hold counters that number what comes after them. */
static const struct dw_pass_hooks engines_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST,
	.enter = engines_enter, .leave = engines_leave, .note = engines_note,
};
DW_PASS_DEFINE(engines, engines_hooks)

int dw_engines_walk(struct dw_model *model, const struct dw_engines *all,
                    const struct dw_engine_visitor *visitor)
{
	const struct dw_source *source = model->source;
	struct now *now = calloc(all->count + 1, sizeof *now);
	struct dw_frames frames = { NULL, 0 };
	void *buffer = malloc(DW_BLOCK_BYTES);
	bool failed = !buffer || !now;

	for (size_t i = 0; i < source->stream_count && !failed; i++) {
		struct engines engines = { .visitor = visitor, .places = all->places, .now = now };

		if (!dw_scope_has_stream(model, &source->streams[i]))
			continue;
		memset(now, 0, all->count * sizeof *now);
		engines.symbol_by_id = model->symbol_by_id[source->streams[i].file];
		dw_pass_init(&engines.pass, model, i, &frames, buffer);
		engines_walk(&engines.pass);
		failed = engines.pass.failed;
		visitor->stream(visitor->context, engines.pass.walk.file);
	}
	free(buffer);
	free(now);
	dw_frames_reset(&frames);
	return failed ? -1 : 0;
}
