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

#include "base/grow.h"
#include "model/engine_inside.h"
#include "model/walk.h"

struct frame {
	uint64_t start;
	uint64_t iteration, epoch;
	const struct dw_engine_place *place;
	bool in_scope;
};

/* Where an engine stands. */
struct now {
	uint64_t iteration, epoch;
	uint32_t run;
	bool fetched;  /* below: a fetch that has ended */
	struct dw_engine_time fetch;
	uint64_t fetch_ticks;
};

struct context {
	struct dw_walk walk;
	const struct dw_engine_visitor *visitor;
	const struct dw_engine_place *places; /* by merged symbol */
	const uint32_t *symbol_by_id;
	struct now *now;
	struct frame *frames;
	size_t capacity, depth;
	uint32_t over;
	bool failed;
};

static const struct dw_engine_place *place_of(const struct context *context, uint32_t id)
{
	return &context->places[context->symbol_by_id[id < context->walk.op_count ? id : 0]];
}

static void begin_range(struct context *context, const struct dw_engine_place *place)
{
	struct now *now = &context->now[place->engine];

	if (place->role == DW_ENGINE_START)
		now->run++;
	if (place->role == DW_ENGINE_BATCH && now->fetched) {
		now->fetched = false;
		context->visitor->time(context->visitor->context, context->walk.file, place->engine,
		                       &now->fetch, now->fetch_ticks);
	}
}

static void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	const struct dw_engine_place *place = place_of(context, id);
	struct frame *frame = NULL;

	if (context->depth < DW_MOST_DEPTH && !context->over)
		frame = DW_GROW(&context->frames, &context->capacity, context->depth);
	if (!frame) {
		context->failed |= context->depth < DW_MOST_DEPTH && !context->over;
		context->over++;
		return;
	}
	context->depth++;
	frame->place = place;
	if (!place->role)
		return;
	begin_range(context, place);
	frame->start = ticks;
	frame->iteration = context->now[place->engine].iteration;
	frame->epoch = context->now[place->engine].epoch;
	frame->in_scope = context->walk.wanted && dw_walk_in_time(&context->walk, ticks);
}

static void end_frame(struct context *context, const struct frame *frame, uint64_t ticks, bool open)
{
	const struct dw_engine_place *place = frame->place;
	const struct dw_engine_visitor *visitor = context->visitor;
	struct now *now;

	if (!place->role || !frame->in_scope)
		return;
	if (place->role == DW_ENGINE_RUN || place->role == DW_ENGINE_NESTED_RUN) {
		visitor->run(visitor->context, context->walk.file, place->engine,
		             place->role == DW_ENGINE_NESTED_RUN, ticks - frame->start);
		return;
	}
	if (open) {
		visitor->open(visitor->context, place->engine);
		return;
	}
	now = &context->now[place->engine];
	struct dw_engine_time time = { .row = place->row, .run = now->run, .epoch = frame->epoch,
		.iteration = frame->iteration };
	if (place->role == DW_ENGINE_FETCH) {
		now->fetch = time;
		now->fetch_ticks = ticks - frame->start;
		now->fetched = true;
	} else {
		visitor->time(visitor->context, context->walk.file, place->engine, &time,
		              ticks - frame->start);
	}
}

static void visit_end(void *pointer, uint64_t ticks)
{
	struct context *context = pointer;

	if (context->over) {
		context->over--;
	} else if (context->depth) {
		context->depth--;
		end_frame(context, &context->frames[context->depth], ticks, false);
	}
}

static void end_of(struct context *context, uint64_t ticks, uint32_t n)
{
	struct frame frame, *at;

	if (context->over || n >= context->depth)
		return;
	at = &context->frames[context->depth - 1 - n];
	frame = *at;
	memmove(at, at + 1, n * sizeof frame);
	context->depth--;
	end_frame(context, &frame, ticks, false);
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	(void)why;
	context->over = 0;
	while (context->depth) {
		context->depth--;
		end_frame(context, &context->frames[context->depth], ticks, true);
	}
}

static void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct context *context = pointer;
	const struct dw_engine_place *place;

	if (dw_walk_break(&context->walk, ticks, record, flush))
		return;
	if (record->kind == DW_END_OF) {
		end_of(context, ticks, record->payload[0]);
	} else if (record->kind == DW_COUNTER) {
		double value = dw_record_f64(record, 0);

		place = place_of(context, record->id);
		if (!(value >= 0 && value < 1.8e19))
			return;
		if (place->role == DW_ENGINE_ITERATION)
			context->now[place->engine].iteration = (uint64_t)value;
		else if (place->role == DW_ENGINE_EPOCH)
			context->now[place->engine].epoch = (uint64_t)value;
	}
}

int dw_engines_walk(struct dw_model *model, const struct dw_engines *engines,
                    const struct dw_engine_visitor *visitor)
{
	const struct dw_source *source = model->source;
	struct context context = { .visitor = visitor, .places = engines->places };
	void *buffer = malloc(DW_BLOCK_BYTES);

	context.now = calloc(engines->count + 1, sizeof *context.now);
	context.failed = !buffer || !context.now;
	for (size_t i = 0; i < source->stream_count && !context.failed; i++) {
		if (!dw_scope_has_stream(model, &source->streams[i]))
			continue;
		memset(context.now, 0, engines->count * sizeof *context.now);
		context.symbol_by_id = model->symbol_by_id[source->streams[i].file];
		dw_walk_init(&context.walk, model, i, buffer);
		dw_walk(&context.walk, visit_begin, visit_end, visit_other, flush, NULL);
		visitor->stream(visitor->context, context.walk.file);
	}
	free(buffer);
	free(context.now);
	free(context.frames);
	return context.failed ? -1 : 0;
}
