/*
 * Function calls as cProfile counts them: by function, and by caller and function.
 *
 * A call of a function that is on the stack already is no primitive call; its time is in
 * that of the outermost one. Self excludes functions called, and nothing else: the
 * operators and zones of a function are its own. Streams one after the other; what
 * begins out of scope is nobody's caller.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/function_calls.h"
#include "model/walk.h"

#define NONE UINT32_MAX

struct count {
	uint32_t caller, symbol;  /* caller NONE: all calls of the function */
	uint32_t level;           /* open calls of the stream */
	uint64_t calls, primitive, open;
	uint64_t self, total;     /* ticks of the file; ns when it has been walked */
	uint64_t self_ns, total_ns;
};

struct frame {
	uint64_t start, child;
	uint32_t symbol;   /* NONE: no function, or out of scope */
	uint32_t all, edge; /* its counts; edge NONE: no caller */
	uint32_t function; /* frame of the innermost function, itself included; NONE: none */
};

struct context {
	struct dw_walk walk;
	const struct dw_symbol *symbols;
	const uint32_t *symbol_by_id;
	struct count *counts;
	size_t count, capacity;
	uint32_t *slots;   /* index of a count + 1 */
	size_t slot_mask;
	struct frame *frames;
	size_t depth, frame_capacity;
	uint32_t over;
	bool failed;
};

/* ---- the table of counts ------------------------------------------------------------------ */

static size_t hash_of(uint32_t caller, uint32_t symbol)
{
	uint64_t hash = ((uint64_t)caller << 32 | symbol) * 0x9e3779b97f4a7c15u;

	return (size_t)(hash ^ hash >> 29);
}

static bool grow_slots(struct context *context)
{
	size_t size = context->slot_mask ? (context->slot_mask + 1) * 2 : 1024;
	uint32_t *slots = calloc(size, sizeof *slots);

	if (!slots)
		return false;
	for (size_t i = 0; i < context->count; i++) {
		size_t at = hash_of(context->counts[i].caller, context->counts[i].symbol) & (size - 1);

		while (slots[at])
			at = (at + 1) & (size - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(context->slots);
	context->slots = slots;
	context->slot_mask = size - 1;
	return true;
}

static uint32_t count_of(struct context *context, uint32_t caller, uint32_t symbol)
{
	struct count *count;
	size_t at;

	if (context->count * 2 >= context->slot_mask && !grow_slots(context))
		goto failed;
	for (at = hash_of(caller, symbol) & context->slot_mask; context->slots[at];
	     at = (at + 1) & context->slot_mask) {
		count = &context->counts[context->slots[at] - 1];
		if (count->caller == caller && count->symbol == symbol)
			return context->slots[at] - 1;
	}
	count = DW_GROW(&context->counts, &context->capacity, context->count);
	if (!count)
		goto failed;
	count->caller = caller;
	count->symbol = symbol;
	context->slots[at] = (uint32_t)++context->count;
	return (uint32_t)context->count - 1;
failed:
	context->failed = true;
	return NONE;
}

/* ---- the walk ------------------------------------------------------------------------------ */

static void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	uint32_t symbol = context->symbol_by_id[id < context->walk.op_count ? id : 0];
	struct frame *frame = NULL;
	uint32_t outer;

	if (context->depth < DW_MOST_DEPTH && !context->over)
		frame = DW_GROW(&context->frames, &context->frame_capacity, context->depth);
	if (!frame) {
		context->failed |= context->depth < DW_MOST_DEPTH && !context->over;
		context->over++;
		return;
	}
	outer = context->depth ? context->frames[context->depth - 1].function : NONE;
	*frame = (struct frame){ ticks, 0, NONE, NONE, NONE, outer };
	context->depth++;
	if (context->symbols[symbol].category != DWELL_CATEGORY_FUNCTION || !context->walk.wanted ||
	    !dw_walk_in_time(&context->walk, ticks))
		return;
	frame->all = count_of(context, NONE, symbol);
	if (outer != NONE)
		frame->edge = count_of(context, context->frames[outer].symbol, symbol);
	if (context->failed)
		return;
	frame->symbol = symbol;
	frame->function = (uint32_t)context->depth - 1;
	context->counts[frame->all].level++;
	if (frame->edge != NONE)
		context->counts[frame->edge].level++;
}

static void add(struct count *count, uint64_t self, uint64_t total, bool open)
{
	count->calls++;
	count->open += open;
	count->self += self;
	if (--count->level == 0) {
		count->primitive++;
		count->total += total;
	}
}

static void end_frame(struct context *context, const struct frame *frame, uint32_t outer,
                      uint64_t ticks, bool open)
{
	uint64_t total = ticks - frame->start;
	uint64_t self = total > frame->child ? total - frame->child : 0;

	if (frame->symbol == NONE)
		return;
	add(&context->counts[frame->all], self, total, open);
	if (frame->edge != NONE)
		add(&context->counts[frame->edge], self, total, open);
	if (outer != NONE)
		context->frames[outer].child += total;
}

static void pop(struct context *context, uint64_t ticks, bool open)
{
	struct frame frame = context->frames[--context->depth];
	uint32_t outer = context->depth ? context->frames[context->depth - 1].function : NONE;

	end_frame(context, &frame, outer, ticks, open);
}

static void visit_end(void *pointer, uint64_t ticks)
{
	struct context *context = pointer;

	if (context->over)
		context->over--;
	else if (context->depth)
		pop(context, ticks, false);
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	(void)why;
	context->over = 0;
	while (context->depth)
		pop(context, ticks, true);
}

/* A range taken out from under others; those point to functions by place. */
static void end_of(struct context *context, uint64_t ticks, uint32_t n)
{
	size_t at;
	struct frame frame;
	uint32_t outer;

	if (context->over || n >= context->depth)
		return;
	at = context->depth - 1 - n;
	frame = context->frames[at];
	outer = at ? context->frames[at - 1].function : NONE;
	end_frame(context, &frame, outer, ticks, false);
	memmove(&context->frames[at], &context->frames[at + 1], n * sizeof frame);
	context->depth--;
	for (size_t i = at; i < context->depth; i++) {
		struct frame *later = &context->frames[i];

		if (later->function == at && frame.symbol != NONE)
			later->function = outer;
		else if (later->function != NONE && later->function > at)
			later->function--;
	}
}

static void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	if (!dw_walk_break(pointer, ticks, record, flush) && record->kind == DW_END_OF)
		end_of(pointer, ticks, record->payload[0]);
}

/* A stream's ticks are its file's. */
static void settle(struct context *context)
{
	for (size_t i = 0; i < context->count; i++) {
		struct count *count = &context->counts[i];

		count->self_ns += dw_source_span_ns(&context->walk.file->clock, count->self);
		count->total_ns += dw_source_span_ns(&context->walk.file->clock, count->total);
		count->self = count->total = 0;
		count->level = 0;
	}
}

static void walk_streams(struct context *context, struct dw_model *model, void *buffer)
{
	const struct dw_source *source = model->source;

	for (size_t i = 0; i < source->stream_count && !context->failed; i++) {
		const struct dw_source_stream *stream = &source->streams[i];

		if (!dw_scope_has_stream(model, stream))
			continue;
		/* A whole file at a time, so that sums are converted once. */
		if (context->walk.file && context->walk.file != &source->files[stream->file])
			settle(context);
		context->symbol_by_id = model->symbol_by_id[stream->file];
		dw_walk_init(&context->walk, model, i, buffer);
		dw_walk(&context->walk, visit_begin, visit_end, visit_other, flush, NULL);
	}
	if (context->walk.file)
		settle(context);
}

/* ---- the product ------------------------------------------------------------------------------ */

static int by_total(const void *left, const void *right)
{
	const struct dw_function_row *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (a->self_ns != b->self_ns)
		return a->self_ns > b->self_ns ? -1 : 1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static int by_function(const void *left, const void *right)
{
	const struct dw_function_row *a = left, *b = right;

	if (a->symbol != b->symbol)
		return a->symbol < b->symbol ? -1 : 1;
	return (a->caller > b->caller) - (a->caller < b->caller);
}

static struct dw_function_calls *make(struct dw_model *model, const struct context *context)
{
	struct dw_function_calls *calls = dw_arena_alloc(&model->arena, sizeof *calls);
	struct dw_function_row *rows =
		dw_arena_alloc(&model->arena, (context->count + 1) * sizeof *rows);
	size_t functions = 0, edges = 0;

	if (!calls || !rows)
		return NULL;
	for (size_t i = 0; i < context->count; i++)
		functions += context->counts[i].caller == NONE;
	calls->rows = rows;
	calls->edges = rows + functions;
	calls->count = functions;
	calls->edge_count = context->count - functions;
	functions = 0;
	for (size_t i = 0; i < context->count; i++) {
		const struct count *from = &context->counts[i];
		struct dw_function_row *to =
			from->caller == NONE ? &rows[functions++] : &calls->edges[edges++];

		*to = (struct dw_function_row){ from->symbol, from->caller, from->calls, from->primitive,
			from->self_ns, from->total_ns };
		if (from->caller != NONE)
			continue;
		calls->calls += from->calls;
		calls->primitive += from->primitive;
		calls->self_ns += from->self_ns;
		calls->open += from->open;
	}
	if (calls->count)
		qsort(calls->rows, calls->count, sizeof *rows, by_total);
	if (calls->edge_count)
		qsort(calls->edges, calls->edge_count, sizeof *rows, by_function);
	return calls;
}

const struct dw_function_calls *dw_model_function_calls(struct dw_model *model,
                                                        struct dwell_error *error)
{
	struct context context = { .symbols = model->symbols };
	void *buffer;

	if (model->function_calls)
		return model->function_calls;
	buffer = malloc(DW_BLOCK_BYTES);
	context.failed = !buffer;
	walk_streams(&context, model, buffer);
	if (!context.failed)
		model->function_calls = make(model, &context);
	free(buffer);
	free(context.counts);
	free(context.slots);
	free(context.frames);
	if (!model->function_calls)
		dw_model_no_memory(model, error);
	return model->function_calls;
}
