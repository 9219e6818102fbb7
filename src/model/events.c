/*
 * Events in order, for exporters: every record of the scope, one call each.
 *
 * Stream after stream, in one thread: exporters write a file. Ranges come when
 * they end, with what their ARGS and LINK records said. Asynchronous ranges may
 * begin in one stream and end in another: their records are collected and paired
 * by handle and name when all streams are done.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "model/walk.h"

struct frame {
	uint64_t start, sequence;
	const char *args;
	uint32_t symbol, forward_thread, stack;
	bool in_scope;
};

struct async {
	uint64_t handle, ns;
	uint32_t symbol, thread, process;
	bool end;
};

struct pass {
	int (*each)(void *, const struct dw_event *);
	void *context;
	int result;     /* the first that is not 0 stops everything */
	bool failed;
	struct frame *frames;
	size_t capacity;
	struct async *asyncs;
	size_t async_count, async_capacity;
};

struct context {
	struct dw_walk walk;
	struct pass *pass;
	const uint32_t *symbol_by_id;
	size_t depth, in_scope;
	uint32_t over;
};

static uint32_t symbol_of(const struct context *context, uint32_t id)
{
	return context->symbol_by_id[id < context->walk.op_count ? id : 0];
}

static uint64_t ns_of(const struct context *context, uint64_t ticks)
{
	return dw_source_ns(&context->walk.file->clock, ticks);
}

static void emit(struct context *context, struct dw_event *event)
{
	if (context->pass->result || context->pass->failed)
		return;
	event->thread = context->walk.thread;
	event->nested = context->walk.stream->nested;
	context->pass->result = context->pass->each(context->pass->context, event);
}

static void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	struct pass *pass = context->pass;
	struct frame *frame = NULL;

	if (context->depth < DW_MOST_DEPTH && !context->over)
		frame = DW_GROW(&pass->frames, &pass->capacity, context->depth);
	if (!frame) {
		pass->failed |= context->depth < DW_MOST_DEPTH && !context->over;
		context->over++;
		return;
	}
	context->depth++;
	*frame = (struct frame){ .start = ticks, .sequence = UINT64_MAX,
		.stack = context->depth > 1 ? frame[-1].stack : 0,
		.symbol = symbol_of(context, id), .forward_thread = DW_NO_INDEX,
		.in_scope = context->walk.wanted && dw_walk_in_time(&context->walk, ticks) };
	context->in_scope += frame->in_scope;
}

/* DW_GROW doubles by count, so frames never shrink below what was reached. */
static void end_frame(struct context *context, const struct frame *frame, uint64_t ticks, bool open)
{
	struct dw_event event = {
		.type = DW_EVENT_RANGE, .symbol = frame->symbol, .start_ns = ns_of(context, frame->start),
		.end_ns = ns_of(context, ticks), .args = frame->args, .sequence = frame->sequence,
		.forward_thread = frame->forward_thread, .stack = frame->stack, .open = open, .depth = (uint32_t)context->depth,
	};

	if (!frame->in_scope)
		return;
	context->in_scope--;
	emit(context, &event);
}

static void visit_end(void *pointer, uint64_t ticks)
{
	struct context *context = pointer;

	if (context->over) {
		context->over--;
	} else if (context->depth) {
		context->depth--;
		end_frame(context, &context->pass->frames[context->depth], ticks, false);
	}
}

static void end_of(struct context *context, uint64_t ticks, uint32_t n)
{
	struct frame *frames = context->pass->frames, frame;
	size_t at;

	if (context->over || n >= context->depth)
		return;
	at = context->depth - 1 - n;
	frame = frames[at];
	memmove(&frames[at], &frames[at + 1], n * sizeof frame);
	context->depth--;
	end_frame(context, &frame, ticks, false);
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	context->over = 0;
	while (context->depth) {
		context->depth--;
		end_frame(context, &context->pass->frames[context->depth], ticks, true);
	}
}

static void keep_async(struct context *context, uint64_t ticks, const struct dw_record *record)
{
	struct pass *pass = context->pass;
	struct async *async = DW_GROW(&pass->asyncs, &pass->async_capacity, pass->async_count);

	if (!async) {
		pass->failed = true;
		return;
	}
	pass->async_count++;
	*async = (struct async){ dw_record_u64(record, 0), ns_of(context, ticks),
		symbol_of(context, record->id), context->walk.thread, context->walk.stream->process,
		record->kind == DW_ASYNC_END };
}

static void emit_record(struct context *context, uint64_t ticks, const struct dw_record *record)
{
	struct dw_event event = { .symbol = symbol_of(context, record->id),
		.start_ns = ns_of(context, ticks), .sequence = UINT64_MAX, .forward_thread = DW_NO_INDEX,
		.depth = (uint32_t)context->depth };

	event.end_ns = event.start_ns;
	if (record->kind != DW_MARK && record->kind != DW_COUNTER)
		event.handle = dw_record_u64(record, 0);
	switch (record->kind) {
	case DW_MARK: event.type = DW_EVENT_MARK; break;
	case DW_COUNTER:
		event.type = DW_EVENT_COUNTER;
		event.value = dw_record_f64(record, 0);
		break;
	case DW_ALLOC:
		event.type = DW_EVENT_ALLOC;
		event.size_bytes = dw_record_u64(record, 2);
		break;
	case DW_FREE: event.type = DW_EVENT_FREE; break;
	case DW_FLOW_OUT: event.type = DW_EVENT_FLOW_OUT; break;
	default: event.type = DW_EVENT_FLOW_IN; break;
	}
	emit(context, &event);
}

static void annotate(struct context *context, const struct dw_record *record)
{
	const struct dw_source_file *file = context->walk.file;
	struct frame *frame;

	if (!context->depth || context->over)
		return;
	frame = &context->pass->frames[context->depth - 1];
	if (record->kind == DW_STACK) {
		frame->stack = record->id;
		return;
	}
	if (record->kind == DW_ARGS) {
		frame->args = record->id < file->symbol_count ? file->strings[record->id] : NULL;
		return;
	}
	frame->sequence = dw_record_u64(record, 0);
	if (record->payload[2] < file->symbol_count)
		frame->forward_thread = file->thread_by_id[record->payload[2]];
}

static void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct context *context = pointer;
	bool in = context->walk.wanted && dw_walk_in_time(&context->walk, ticks);

	if (dw_walk_break(&context->walk, ticks, record, flush))
		return;
	switch (record->kind) {
	case DW_END_OF: end_of(context, ticks, record->payload[0]); break;
	case DW_ARGS:
	case DW_STACK:
	case DW_LINK: annotate(context, record); break;
	case DW_ASYNC_BEGIN:
	case DW_ASYNC_END:
		if (context->walk.wanted)
			keep_async(context, ticks, record);
		break;
	case DW_MARK:
	case DW_COUNTER:
	case DW_ALLOC:
	case DW_FREE:
	case DW_FLOW_OUT:
	case DW_FLOW_IN:
		if (in)
			emit_record(context, ticks, record);
		break;
	default: break;
	}
}

static bool may_skip(void *pointer)
{
	struct context *context = pointer;

	if (context->in_scope)
		return false;
	flush(pointer, dw_time_now(&context->walk.time), DW_FLUSH_END);
	return true;
}

/* ---- asynchronous ranges -------------------------------------------------------------------- */

static int compare_asyncs(const void *left, const void *right)
{
	const struct async *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->handle != b->handle)
		return a->handle < b->handle ? -1 : 1;
	if (a->symbol != b->symbol)
		return a->symbol < b->symbol ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->end - b->end;
}

static bool in_scope(const struct dw_model *model, const struct async *async)
{
	const struct dw_interval *at = model->intervals ? model->intervals[async->process] : NULL;
	const struct dw_source *source = model->source;
	uint64_t ticks;

	if (!at)
		return true;
	ticks = dw_source_ticks(&source->files[source->processes[async->process].file].clock,
	                        async->ns);
	for (; at->start_ticks != UINT64_MAX; at++)
		if (ticks >= at->start_ticks && ticks < at->end_ticks)
			return true;
	return false;
}

static void emit_asyncs(struct dw_model *model, struct pass *pass)
{
	/* The same name may have several ids in a process; ops give it one row. */
	for (size_t i = 0; i < pass->async_count; i++)
		pass->asyncs[i].symbol = model->row_symbol[model->symbol_row[pass->asyncs[i].symbol]];
	if (pass->async_count)
		qsort(pass->asyncs, pass->async_count, sizeof *pass->asyncs, compare_asyncs);
	for (size_t i = 0; i < pass->async_count && !pass->result; i++) {
		const struct async *begin = &pass->asyncs[i], *next = begin + 1;
		bool ends = i + 1 < pass->async_count && next->end && next->process == begin->process &&
		            next->handle == begin->handle && next->symbol == begin->symbol;
		struct dw_event event = {
			.type = DW_EVENT_ASYNC, .symbol = begin->symbol, .thread = begin->thread,
			.start_ns = begin->ns, .handle = begin->handle, .open = !ends,
			.sequence = UINT64_MAX, .forward_thread = DW_NO_INDEX,
			.end_ns = ends ? next->ns : model->source->processes[begin->process].end_ns,
		};

		if (event.end_ns < event.start_ns) /* of a chunk that says it ended earlier */
			event.end_ns = event.start_ns;
		if (!begin->end && in_scope(model, begin))
			pass->result = pass->each(pass->context, &event);
	}
}

int dw_model_events(struct dw_model *model, int (*each)(void *context, const struct dw_event *event),
                    void *context, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	struct pass pass = { .each = each, .context = context };
	void *buffer = malloc(DW_BLOCK_BYTES);

	pass.failed = !buffer;
	for (size_t i = 0; i < source->stream_count && !pass.result && !pass.failed; i++) {
		struct context stream;

		if (!dw_scope_has_stream(model, &source->streams[i]))
			continue;
		memset(&stream, 0, sizeof stream);
		dw_walk_init(&stream.walk, model, i, buffer);
		stream.pass = &pass;
		stream.symbol_by_id = model->symbol_by_id[source->streams[i].file];
		dw_walk(&stream.walk, visit_begin, visit_end, visit_other, flush, may_skip);
	}
	if (!pass.failed)
		emit_asyncs(model, &pass);
	free(buffer);
	free(pass.frames);
	free(pass.asyncs);
	return pass.failed ? dw_model_no_memory(model, error) : pass.result;
}
