/* Calls grouped by more than a name; see calls.h. */
#include "model/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "model/calls_inside.h"
#include "model/flops.h"
#include "model/walk.h"

struct frame {
	uint64_t start, child;
	int64_t bytes, child_bytes; /* its own, and its children's */
	uint32_t symbol;            /* merged; DW_NO_INDEX: it does not count */
	uint32_t previous;          /* the counted frame around it + 1; 0: none */
	uint32_t stack;             /* STACK id, its own or inherited; 0: none */
	bool covered;               /* one around it has FLOPs: its own are part of those */
};

struct pass {
	struct dw_model *model;
	const struct dw_calls_ask *ask;
	struct dw_calls *calls;
	struct dw_call_groups groups;
	struct dw_call_memory memory;
	struct dw_call_sums sums;
	struct dw_call_steps steps;
	uint64_t *flops; /* by symbol */
	struct frame *frames;
	size_t frame_capacity;
	uint64_t self_ticks;
	bool has_async, failed;
};

struct context {
	struct dw_walk walk; /* first */
	struct pass *pass;
	const uint32_t *symbol_by_id;
	size_t depth, in_scope;
	uint64_t over;
	uint32_t top;        /* the innermost counted frame's place + 1; 0: none */
	struct dw_call_steps_at step;
	double ratio;        /* to ticks of the first file */
};

/* ---- a stream --------------------------------------------------------------------------------- */

static bool counts(const struct pass *pass, uint32_t category)
{
	return category == DWELL_CATEGORY_OPERATOR ||
	       (pass->ask->named && category == DWELL_CATEGORY_ZONE);
}

static struct dw_call_sum *take_call(struct context *context, const struct frame *frame,
                                     uint64_t ticks, uint64_t self)
{
	struct pass *pass = context->pass;
	uint32_t prefix = dw_call_prefix(&pass->groups, context->walk.stream->file, frame->stack);
	struct dw_call_sum *row = dw_call_sum_of(&pass->sums, pass->groups.classes[frame->symbol],
	                                         prefix, frame->symbol, false);
	double ratio = context->ratio;

	if (!row || prefix == DW_NO_INDEX) {
		pass->failed = true;
		return NULL;
	}
	dw_call_sum_add(row, &pass->model->arena,
	                dw_source_ns(&context->walk.file->clock, frame->start),
	                (uint64_t)((double)(ticks - frame->start) * ratio),
	                (uint64_t)((double)self * ratio));
	row->self_bytes += frame->bytes;
	row->total_bytes += frame->bytes + frame->child_bytes;
	return row;
}

static void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	struct pass *pass = context->pass;
	struct frame *frame = NULL;
	uint32_t symbol = context->symbol_by_id[id < context->walk.op_count ? id : 0];

	if (context->depth < DW_MOST_DEPTH && !context->over)
		frame = DW_GROW(&pass->frames, &pass->frame_capacity, context->depth);
	if (!frame) {
		pass->failed |= context->depth < DW_MOST_DEPTH && !context->over;
		context->over++;
		return;
	}
	*frame = (struct frame){ .start = ticks, .symbol = DW_NO_INDEX,
		.stack = context->depth ? frame[-1].stack : 0, .previous = context->top };
	context->depth++;
	if (!counts(pass, pass->model->symbols[symbol].category) || !context->walk.wanted ||
	    !dw_walk_in_time(&context->walk, ticks))
		return;
	frame->symbol = symbol;
	if (context->top) {
		const struct frame *around = &pass->frames[context->top - 1];

		frame->covered = around->covered || pass->flops[around->symbol];
	}
	context->top = (uint32_t)context->depth;
	context->in_scope++;
}

/* `frame` is none of the stack's any more; `top` is what lies around it. */
static void end_frame(struct context *context, struct frame *frame, uint64_t ticks, uint32_t top,
                      enum dw_flush why, bool ended)
{
	struct pass *pass = context->pass;
	uint64_t duration = ticks - frame->start;
	uint64_t self = duration > frame->child ? duration - frame->child : 0;
	struct frame *around = top ? &pass->frames[top - 1] : NULL;
	struct dw_call_sum *row = NULL;

	if (frame->symbol == DW_NO_INDEX)
		return;
	context->in_scope--;
	if (!around || !pass->ask->top_level)
		row = take_call(context, frame, ticks, self);
	if (row && !ended) {
		row->tally.open += why != DW_FLUSH_GAP;
		row->tally.cut += why == DW_FLUSH_GAP;
	}
	if (row && !frame->covered)
		row->flops += pass->flops[frame->symbol];
	pass->self_ticks += (uint64_t)((double)self * context->ratio);
	if (around) {
		around->child += duration;
		around->child_bytes += frame->bytes + frame->child_bytes;
	} else if (pass->ask->named) {
		struct dw_call_span span = { frame->start, ticks, context->walk.thread, context->ratio };

		dw_call_steps_call(&pass->steps, &context->step, &span);
	}
}

static void visit_end(void *pointer, uint64_t ticks)
{
	struct context *context = pointer;
	struct frame *frame;

	if (context->over) {
		context->over--;
	} else if (context->depth) {
		frame = &context->pass->frames[--context->depth];
		context->top = frame->previous;
		end_frame(context, frame, ticks, frame->previous, DW_FLUSH_END, true);
	}
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	context->over = 0;
	while (context->depth) {
		struct frame *frame = &context->pass->frames[--context->depth];

		context->top = frame->previous;
		end_frame(context, frame, ticks, frame->previous, why, false);
	}
	context->top = 0;
}

/* Out of the middle: what overlaps without nesting has no relation, so that who began
 * later lies in what the ended one lay in. */
static void end_of(struct context *context, uint64_t ticks, uint32_t n)
{
	struct frame *frames = context->pass->frames, frame;
	uint32_t at;

	if (context->over || n >= context->depth)
		return;
	if (n == 0) {
		visit_end(context, ticks);
		return;
	}
	at = (uint32_t)(context->depth - 1 - n);
	frame = frames[at];
	memmove(&frames[at], &frames[at + 1], n * sizeof frame);
	context->depth--;
	for (size_t i = at; i < context->depth; i++) {
		if (frames[i].previous == at + 1)
			frames[i].previous = frame.symbol == DW_NO_INDEX ? frames[i].previous : frame.previous;
		else if (frames[i].previous > at + 1)
			frames[i].previous--;
	}
	if (context->top > at + 1)
		context->top--;
	else if (context->top == at + 1)
		context->top = frame.previous;
	context->pass->calls->overlapping += frame.symbol != DW_NO_INDEX;
	end_frame(context, &frame, ticks, frame.previous, DW_FLUSH_END, true);
}

static void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct context *context = pointer;
	struct pass *pass = context->pass;
	int64_t change;

	if (dw_walk_break(&context->walk, ticks, record, flush))
		return;
	switch (record->kind) {
	case DW_END_OF:
		end_of(context, ticks, record->payload[0]);
		break;
	case DW_STACK:
		if (context->depth && !context->over)
			pass->frames[context->depth - 1].stack = record->id;
		break;
	case DW_ALLOC:
	case DW_FREE:
		change = dw_call_memory_next(&pass->memory, dw_record_u64(record, 0));
		pass->memory.any |= context->walk.wanted && dw_walk_in_time(&context->walk, ticks);
		if (context->top && !context->over)
			pass->frames[context->top - 1].bytes += change;
		break;
	case DW_ASYNC_BEGIN:
		pass->has_async = true;
		break;
	default:
		break;
	}
}

static bool walk_streams(struct pass *pass)
{
	struct dw_model *model = pass->model;
	const struct dw_source *source = model->source;
	void *buffer = malloc(DW_BLOCK_BYTES);

	pass->failed |= !buffer;
	for (size_t i = 0; i < source->stream_count && !pass->failed; i++) {
		struct context context;

		/* Out of scope nothing counts; the memory of all streams is in one row. */
		if (!dw_scope_has_stream(model, &source->streams[i]) && !pass->memory.count)
			continue;
		memset(&context, 0, sizeof context);
		dw_walk_init(&context.walk, model, i, buffer);
		context.pass = pass;
		context.symbol_by_id = model->symbol_by_id[source->streams[i].file];
		context.ratio = context.walk.file->clock.ns_per_tick / source->files[0].clock.ns_per_tick;
		dw_call_steps_seek(&pass->steps, source->streams[i].process, &context.step);
		dw_walk(&context.walk, visit_begin, visit_end, visit_other, flush, NULL);
	}
	free(buffer);
	return !pass->failed;
}

static int take_async(void *pointer, const struct dw_event *event)
{
	struct pass *pass = pointer;
	struct dw_call_sum *row;

	if (event->type != DW_EVENT_ASYNC || !counts(pass, pass->model->symbols[event->symbol].category))
		return 0;
	row = dw_call_sum_of(&pass->sums, pass->groups.classes[event->symbol], 0, event->symbol, true);
	if (!row) {
		pass->failed = true;
		return -1;
	}
	dw_call_sum_add(row, &pass->model->arena, event->start_ns,
	                dw_call_ticks(pass->model, event->end_ns - event->start_ns), 0);
	row->tally.open += event->open;
	return 0;
}

/* ---- the product ------------------------------------------------------------------------------------ */

static int compare_rows(const void *left, const void *right)
{
	const struct dw_call_row *a = left, *b = right;

	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	/* What is around begins with what is in it. */
	if (a->stat.max_ns != b->stat.max_ns)
		return a->stat.max_ns > b->stat.max_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool hand_over(struct pass *pass)
{
	struct dw_model *model = pass->model;
	struct dw_calls *calls = pass->calls;
	double ns_per_tick = model->source->files[0].clock.ns_per_tick;

	calls->rows = dw_arena_alloc(&model->arena, (pass->sums.count + 1) * sizeof *calls->rows);
	if (!calls->rows)
		return false;
	for (size_t i = 0; i < pass->sums.count; i++) {
		const struct dw_call_sum *from = &pass->sums.rows[i];
		struct dw_call_row *row = &calls->rows[calls->count++];
		bool is_step = from->class == DW_NO_INDEX;
		const struct dw_symbol *symbol = is_step ? NULL : &model->symbols[from->symbol];

		row->name = is_step ? "ProfilerStep*" : symbol->name;
		row->symbol = from->symbol;
		row->category = is_step ? DWELL_CATEGORY_ZONE : symbol->category;
		row->stack = is_step || from->is_async ? NULL : pass->groups.prefixes[from->prefix];
		row->is_async = from->is_async;
		dw_tally_stat(&from->tally, ns_per_tick, &row->stat);
		row->self_bytes = from->self_bytes;
		row->total_bytes = from->total_bytes;
		row->flops = from->flops;
		row->first_ns = from->first_ns;
		calls->has_flops |= from->flops > 0;
		calls->has_shapes |= symbol && symbol->shapes;
	}
	calls->self_ns = (uint64_t)((double)pass->self_ticks * ns_per_tick + 0.5);
	calls->has_memory = pass->memory.any;
	calls->has_stacks = pass->groups.any_stack;
	if (calls->count)
		qsort(calls->rows, calls->count, sizeof *calls->rows, compare_rows);
	return true;
}

static bool prepare(struct pass *pass)
{
	struct dw_model *model = pass->model;

	pass->calls = dw_arena_alloc(&model->arena, sizeof *pass->calls);
	pass->flops = calloc(model->symbol_count + 1, sizeof *pass->flops);
	if (!pass->calls || !pass->flops || !dw_call_steps_make(&pass->steps, model) ||
	    !dw_call_groups_make(&pass->groups, model, &pass->ask->group) ||
	    !dw_call_memory_make(&pass->memory, model, pass->ask->memory))
		return false;
	memset(pass->calls, 0, sizeof *pass->calls);
	for (uint32_t i = 0; i < model->symbol_count; i++) {
		enum dw_flops_why why;

		if (model->symbols[i].category == DWELL_CATEGORY_OPERATOR)
			pass->flops[i] = dw_flops(model->symbols[i].name, model->symbols[i].shapes, &why);
	}
	return true;
}

const struct dw_calls *dw_model_calls(struct dw_model *model, const struct dw_calls_ask *ask,
                                      struct dwell_error *error)
{
	struct pass pass = { .model = model, .ask = ask };
	bool done = prepare(&pass) && walk_streams(&pass);

	if (done && ask->named) {
		done = dw_call_steps_take(&pass.steps, &pass.sums);
		pass.self_ticks += pass.steps.self_ticks;
	}
	if (done && pass.has_async)
		done = dw_model_events(model, take_async, &pass, error) == 0;
	done = done && !pass.failed && hand_over(&pass);
	free(pass.flops);
	free(pass.frames);
	dw_call_sums_reset(&pass.sums);
	dw_call_steps_reset(&pass.steps);
	dw_call_groups_reset(&pass.groups);
	dw_call_memory_reset(&pass.memory);
	if (!done)
		dw_model_no_memory(model, error);
	return done ? pass.calls : NULL;
}
