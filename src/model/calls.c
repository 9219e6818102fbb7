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
#include "model/tally.h"
#include "model/walk.h"

struct frame {
	uint64_t start, child;
	int64_t bytes, child_bytes; /* its own, and its children's */
	uint32_t symbol;            /* merged; DW_NO_INDEX: it does not count */
	uint32_t previous;          /* the counted frame around it + 1; 0: none */
	uint32_t stack;             /* STACK id, its own or inherited; 0: none */
	bool covered;               /* one around it has FLOPs: its own are part of those */
};

struct row {
	struct dw_tally tally;
	int64_t self_bytes, total_bytes;
	uint64_t flops, first_ns;
	uint32_t class, prefix;
	uint32_t symbol;
	bool is_async;
};

struct pass {
	struct dw_model *model;
	const struct dw_calls_ask *ask;
	struct dw_calls *calls;
	struct dw_call_groups groups;
	struct dw_call_memory memory;
	struct row *rows;
	size_t row_count, row_capacity;
	uint32_t *slots; /* row + 1, by (class, prefix, async) */
	size_t mask;
	uint64_t *flops; /* by symbol */
	struct frame *frames;
	size_t frame_capacity;
	uint64_t self_ticks, step_ticks, stepped_ticks;
	bool *inner;         /* by step: it lies in a range that counts, whose time it is already */
	bool has_async, failed;
};

struct context {
	struct dw_walk walk; /* first */
	struct pass *pass;
	const uint32_t *symbol_by_id;
	size_t depth, in_scope;
	uint64_t over;
	uint32_t top;        /* the innermost counted frame's place + 1; 0: none */
	size_t step;         /* the source's step that time is in or before */
	size_t last_step;    /* past the steps of the process */
	size_t next_step;    /* the first that may lie in a range which begins later */
	double ratio;        /* to ticks of the first file */
};

/* ---- rows ----------------------------------------------------------------------------------- */

static size_t place_of(const struct pass *pass, uint32_t class, uint32_t prefix, bool is_async)
{
	uint64_t key = ((uint64_t)class << 32 | prefix << 1 | is_async) * 0x9e3779b97f4a7c15u;

	return (key ^ key >> 29) & pass->mask;
}

static bool widen(struct pass *pass)
{
	size_t size = pass->slots ? (pass->mask + 1) * 2 : 1024;
	uint32_t *slots = calloc(size, sizeof *slots);

	if (!slots)
		return false;
	free(pass->slots);
	pass->slots = slots;
	pass->mask = size - 1;
	for (size_t i = 0; i < pass->row_count; i++) {
		const struct row *row = &pass->rows[i];
		size_t at = place_of(pass, row->class, row->prefix, row->is_async);

		while (slots[at])
			at = (at + 1) & pass->mask;
		slots[at] = (uint32_t)i + 1;
	}
	return true;
}

/* NULL when out of memory. */
static struct row *row_of(struct pass *pass, uint32_t class, uint32_t prefix, uint32_t symbol,
                          bool is_async)
{
	struct row *row;
	size_t at;

	if ((!pass->slots || pass->row_count * 2 >= pass->mask) && !widen(pass))
		return NULL;
	for (at = place_of(pass, class, prefix, is_async); pass->slots[at]; at = (at + 1) & pass->mask) {
		row = &pass->rows[pass->slots[at] - 1];
		if (row->class == class && row->prefix == prefix && row->is_async == is_async)
			return row;
	}
	row = DW_GROW(&pass->rows, &pass->row_capacity, pass->row_count);
	if (!row)
		return NULL;
	row->class = class;
	row->prefix = prefix;
	row->symbol = symbol;
	row->is_async = is_async;
	row->first_ns = UINT64_MAX;
	pass->slots[at] = (uint32_t)++pass->row_count;
	return row;
}

static struct row *take_call(struct context *context, const struct frame *frame, uint64_t ticks,
                             uint64_t self)
{
	struct pass *pass = context->pass;
	uint32_t prefix = dw_call_prefix(&pass->groups, context->walk.stream->file, frame->stack);
	struct row *row = row_of(pass, pass->groups.classes[frame->symbol], prefix, frame->symbol, false);
	uint64_t start_ns = dw_source_ns(&context->walk.file->clock, frame->start);
	double ratio = context->ratio;

	if (!row || prefix == DW_NO_INDEX) {
		pass->failed = true;
		return NULL;
	}
	dw_tally_add(&row->tally, &pass->model->arena, (uint64_t)((double)(ticks - frame->start) * ratio),
	             (uint64_t)((double)self * ratio));
	row->self_bytes += frame->bytes;
	row->total_bytes += frame->bytes + frame->child_bytes;
	if (start_ns < row->first_ns)
		row->first_ns = start_ns;
	return row;
}

/* ---- a stream --------------------------------------------------------------------------------- */

static bool counts(const struct pass *pass, uint32_t category)
{
	return category == DWELL_CATEGORY_OPERATOR ||
	       (pass->ask->named && category == DWELL_CATEGORY_ZONE);
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

/* Time of calls that lie in no other, where a step is around them. */
static void add_to_step(struct context *context, uint64_t start, uint64_t duration)
{
	const struct dw_source *source = context->pass->model->source;

	while (context->step < context->last_step &&
	       (source->steps[context->step].thread != context->walk.thread ||
	        source->steps[context->step].end_ticks <= start))
		context->step++;
	if (context->step < context->last_step && start >= source->steps[context->step].start_ticks)
		context->pass->stepped_ticks += (uint64_t)((double)duration * context->ratio);
}

/* Steps inside a counted range are no rows: they would count its time again. */
static void mark_inner_steps(struct context *context, const struct frame *frame, uint64_t end)
{
	const struct dw_source *source = context->pass->model->source;

	while (context->next_step < context->last_step &&
	       source->steps[context->next_step].end_ticks <= frame->start)
		context->next_step++;
	for (size_t i = context->next_step; i < context->last_step; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (step->start_ticks >= end)
			break;
		if (step->start_ticks >= frame->start && step->end_ticks <= end &&
		    step->thread == context->walk.thread)
			context->pass->inner[i] = true;
	}
}

/* `frame` is none of the stack's any more; `top` is what lies around it. */
static void end_frame(struct context *context, struct frame *frame, uint64_t ticks, uint32_t top,
                      enum dw_flush why, bool ended)
{
	struct pass *pass = context->pass;
	uint64_t duration = ticks - frame->start;
	uint64_t self = duration > frame->child ? duration - frame->child : 0;
	struct frame *around = top ? &pass->frames[top - 1] : NULL;
	struct row *row = NULL;

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
	if (pass->ask->named && !around)
		mark_inner_steps(context, frame, ticks);
	if (around) {
		around->child += duration;
		around->child_bytes += frame->bytes + frame->child_bytes;
	} else if (pass->ask->named) {
		add_to_step(context, frame->start, duration);
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

static void find_steps(struct context *context, uint32_t process)
{
	const struct dw_source *source = context->pass->model->source;

	while (context->step < source->step_count &&
	       source->threads[source->steps[context->step].thread].process != process)
		context->step++;
	context->next_step = context->last_step = context->step;
	while (context->last_step < source->step_count &&
	       source->threads[source->steps[context->last_step].thread].process == process)
		context->last_step++;
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
		find_steps(&context, source->streams[i].process);
		dw_walk(&context.walk, visit_begin, visit_end, visit_other, flush, NULL);
	}
	free(buffer);
	return !pass->failed;
}

/* ---- steps and asynchronous ranges --------------------------------------------------------------- */

static uint64_t ticks_of(const struct pass *pass, uint64_t ns)
{
	return (uint64_t)((double)ns / pass->model->source->files[0].clock.ns_per_tick + 0.5);
}

static void take_steps(struct pass *pass)
{
	const struct dw_source *source = pass->model->source;

	for (size_t i = 0; i < source->step_count && !pass->failed; i++) {
		const struct dw_source_step *step = &source->steps[i];
		uint64_t duration = ticks_of(pass, step->end_ns - step->start_ns);
		struct row *row;

		if (!dw_model_has_step(pass->model, step) || !step->recorded || pass->inner[i] ||
		    (pass->model->wanted_threads && !pass->model->wanted_threads[step->thread]))
			continue;
		row = row_of(pass, DW_NO_INDEX, 0, DW_NO_INDEX, false);
		if (!row) {
			pass->failed = true;
			return;
		}
		dw_tally_add(&row->tally, &pass->model->arena, duration, 0);
		row->tally.open += step->open;
		pass->step_ticks += duration;
		if (step->start_ns < row->first_ns)
			row->first_ns = step->start_ns;
	}
	for (size_t i = 0; i < pass->row_count; i++)
		if (pass->rows[i].class == DW_NO_INDEX)
			pass->rows[i].tally.self =
			    pass->step_ticks > pass->stepped_ticks ? pass->step_ticks - pass->stepped_ticks : 0;
	if (pass->step_ticks > pass->stepped_ticks)
		pass->self_ticks += pass->step_ticks - pass->stepped_ticks;
}

static int take_async(void *pointer, const struct dw_event *event)
{
	struct pass *pass = pointer;
	struct row *row;

	if (event->type != DW_EVENT_ASYNC || !counts(pass, pass->model->symbols[event->symbol].category))
		return 0;
	row = row_of(pass, pass->groups.classes[event->symbol], 0, event->symbol, true);
	if (!row) {
		pass->failed = true;
		return -1;
	}
	dw_tally_add(&row->tally, &pass->model->arena, ticks_of(pass, event->end_ns - event->start_ns), 0);
	row->tally.open += event->open;
	if (event->start_ns < row->first_ns)
		row->first_ns = event->start_ns;
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

	calls->rows = dw_arena_alloc(&model->arena, (pass->row_count + 1) * sizeof *calls->rows);
	if (!calls->rows)
		return false;
	for (size_t i = 0; i < pass->row_count; i++) {
		const struct row *from = &pass->rows[i];
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
	pass->inner = calloc(model->source->step_count + 1, sizeof *pass->inner);
	if (!pass->calls || !pass->flops || !pass->inner || !dw_call_groups_make(&pass->groups, model, &pass->ask->group) ||
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

	if (done && ask->named)
		take_steps(&pass);
	if (done && pass.has_async)
		done = dw_model_events(model, take_async, &pass, error) == 0;
	done = done && !pass.failed && hand_over(&pass);
	free(pass.rows);
	free(pass.slots);
	free(pass.flops);
	free(pass.inner);
	free(pass.frames);
	dw_call_groups_reset(&pass.groups);
	dw_call_memory_reset(&pass.memory);
	if (!done)
		dw_model_no_memory(model, error);
	return done ? pass.calls : NULL;
}
