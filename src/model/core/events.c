/*
 * Events for exporters: calls a function once for each event in scope.
 *
 * Streams are walked one after the other in one thread, because an exporter writes one file. A
 * range is reported when it ends, with its ARGS, STACK and LINK records. An asynchronous range may
 * begin in one stream and end in another: its records are collected, and paired by handle and name
 * after all streams.
 */

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "format/keys.h"
#include "model/core/pass.h"
#include "model/core/events.h"
#include "model/core/scope.h"

struct frame {
	struct dw_frame frame;
	uint64_t sequence;
	const char *args;
	uint32_t symbol, forward_thread, stack;
	uint32_t id;    /* of its OP record */
};

struct pass {
	int (*each)(void *, const struct dw_event *);
	void *context;
	int result;     /* of `each`; the first that is not 0 stops the walk */
	bool failed;
	bool window;    /* asynchronous ranges are not paired: their ends may be outside */
	struct dw_frames frames;
	struct dw_events_async *asyncs;
	size_t async_count, async_capacity;
};

struct events {
	struct dw_pass pass;
	struct pass *all;
	const char *next_args; /* of the next mark or asynchronous begin of `next_op`, or NULL */
	uint32_t next_op;
};

static uint64_t events_ns(const struct events *events, uint64_t ticks)
{
	return dw_source_ns(&events->pass.walk.file->clock, ticks);
}

static void events_emit(struct events *events, struct dw_event *event)
{
	if (events->all->result || events->all->failed)
		return;
	event->thread = events->pass.walk.thread;
	event->nested = events->pass.walk.stream->nested;
	events->all->result = events->all->each(events->all->context, event);
}

DW_INLINE void events_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct events *events = state;
	struct frame *frame = place;

	frame->sequence = UINT64_MAX;
	frame->args = NULL;
	frame->symbol = dw_walk_symbol(&events->pass.walk, id);
	frame->id = id;
	frame->forward_thread = DW_NO_INDEX;
	frame->stack = events->pass.depth > 1 ? frame[-1].stack : 0;
	frame->frame.in_scope = dw_pass_in_scope(&events->pass, ticks);
}

DW_INLINE void events_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct events *events = state;
	const struct frame *frame = place;
	struct dw_event event = {
		.type = DW_EVENT_RANGE, .symbol = frame->symbol, .start_ns = events_ns(events, frame->frame.start),
		.end_ns = events_ns(events, ticks), .args = frame->args, .sequence = frame->sequence,
		.forward_thread = frame->forward_thread, .stack = frame->stack, .open = how != DW_LEAVE_END,
		.depth = events->pass.depth,
	};

	if (frame->frame.in_scope)
		events_emit(events, &event);
}

/* What the record's ARGS_NEXT said, or NULL. */
static const char *events_take_args(struct events *events, const struct dw_record *record)
{
	const char *args = events->next_op == record->id && record->kind != DW_ASYNC_END ? events->next_args : NULL;

	if (args)
		events->next_args = NULL;
	return args;
}

static void events_note_args(struct events *events, const struct dw_record *record)
{
	const struct dw_source_file *file = events->pass.walk.file;
	uint32_t text = record->payload[2];

	events->next_args = text < file->symbol_count ? file->strings[text] : NULL;
	events->next_op = record->payload[3];
}

static void events_async_keep(struct events *events, uint64_t ticks, const struct dw_record *record)
{
	struct pass *pass = events->all;
	const struct dw_walk *walk = &events->pass.walk;

	pass->failed |= !DW_APPEND(&pass->asyncs, &pass->async_capacity, &pass->async_count,
	    (struct dw_events_async){ dw_record_u64(record, 0), events_ns(events, ticks), events_take_args(events, record),
	        dw_walk_symbol(walk, record->id), walk->thread, walk->stream->process, record->kind == DW_ASYNC_END,
	        walk->stream->nested });
}

static void events_emit_record(struct events *events, uint64_t ticks, const struct dw_record *record)
{
	struct dw_event event = { .symbol = dw_walk_symbol(&events->pass.walk, record->id),
		                      .start_ns = events_ns(events, ticks), .sequence = UINT64_MAX,
		                      .forward_thread = DW_NO_INDEX, .depth = events->pass.depth };

	event.end_ns = event.start_ns;
	if (record->kind != DW_MARK && record->kind != DW_COUNTER)
		event.handle = dw_record_u64(record, 0);
	switch (record->kind) {
	case DW_MARK:
		event.type = DW_EVENT_MARK;
		event.args = events_take_args(events, record);
		break;
	case DW_COUNTER:
		event.type = DW_EVENT_COUNTER;
		event.value = dw_record_f64(record, 0);
		break;
	case DW_ALLOC:
		event.type = DW_EVENT_ALLOC;
		event.size_bytes = dw_record_u64(record, 2);
		break;
	case DW_FREE: event.type = DW_EVENT_FREE; break;
	case DW_ASYNC_BEGIN:
		event.type = DW_EVENT_ASYNC_BEGIN;
		event.args = events_take_args(events, record);
		break;
	case DW_ASYNC_END: event.type = DW_EVENT_ASYNC_END; break;
	case DW_FLOW_OUT: event.type = DW_EVENT_FLOW_OUT; break;
	default: event.type = DW_EVENT_FLOW_IN; break;
	}
	events_emit(events, &event);
}

static void events_async_take(struct events *events, uint64_t ticks, const struct dw_record *record)
{
	if (events->pass.walk.wanted && events->all->window)
		events_emit_record(events, ticks, record);
	else if (events->pass.walk.wanted)
		events_async_keep(events, ticks, record);
}

/* One record tells the begin and the end of a request that came over a connection. Both lie before the record's time. */
static void events_answered(struct events *events, const struct dw_record *record)
{
	struct dw_record part = { .kind = DW_ASYNC_BEGIN, .id = record->payload[10], .payload = record->payload + 2 };

	events_async_take(events, dw_record_u64(record, 4), &part);
	part.kind = DW_ASYNC_END;
	events_async_take(events, dw_record_u64(record, 8), &part);
}

static void events_annotate(struct events *events, const struct dw_record *record)
{
	const struct dw_source_file *file = events->pass.walk.file;
	struct frame *frame = DW_PASS_INNERMOST(&events->pass, struct frame);

	if (!frame)
		return;
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

static void events_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct events *events = state;
	bool in = dw_pass_in_scope(&events->pass, ticks);

	switch (record->kind) {
	case DW_ARGS:
	case DW_STACK:
	case DW_LINK: events_annotate(events, record); break;
	case DW_ASYNC_BEGIN:
	case DW_ASYNC_END: events_async_take(events, ticks, record); break;
	case DW_MARK:
	case DW_COUNTER:
	case DW_ALLOC:
	case DW_FREE:
	case DW_FLOW_OUT:
	case DW_FLOW_IN:
		if (in)
			events_emit_record(events, ticks, record);
		break;
	case DW_EXT:
		if (record->id == (DW_EXT_ARGS_NEXT << DW_EXT_TYPE_SHIFT | DW_ARGS_NEXT_WORDS))
			events_note_args(events, record);
		if (record->id == (DW_EXT_ANSWERED << DW_EXT_TYPE_SHIFT | DW_ANSWERED_WORDS))
			events_answered(events, record);
		break;
	default: break;
	}
}

static const struct dw_pass_hooks events_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .scoped = true,
	.enter = events_enter, .leave = events_leave, .note = events_note,
};
DW_PASS_DEFINE(events, events_hooks)

/* ---- asynchronous ranges -------------------------------------------------------------------- */

DW_ORDER(events_async_compare, struct dw_events_async, DW_UP(process) DW_UP(handle) DW_UP(symbol) DW_UP(ns) DW_UP(end))

static bool events_async_in_scope(const struct dw_model *model, const struct dw_events_async *async)
{
	const struct dw_interval *at = model->intervals ? model->intervals[async->process] : NULL;
	const struct dw_source *source = model->source;
	uint64_t ticks;

	if (!at)
		return true;
	ticks = dw_source_ticks(&source->files[source->processes[async->process].file].clock, async->ns);
	for (; at->start_ticks != UINT64_MAX; at++)
		if (ticks >= at->start_ticks && ticks < at->end_ticks)
			return true;
	return false;
}

/* Reports the asynchronous range from `begin` to `end`. NULL: the range has no end. */
static void events_async_emit(struct dw_model *model, struct pass *pass,
                              const struct dw_events_async *begin, const struct dw_events_async *end)
{
	struct dw_event event = {
		.type = DW_EVENT_ASYNC, .args = begin->args, .symbol = begin->symbol, .thread = begin->thread,
		.start_ns = begin->ns, .handle = begin->handle, .open = !end, .nested = begin->nested,
		.sequence = UINT64_MAX, .forward_thread = DW_NO_INDEX,
		.end_ns = end ? end->ns : model->source->processes[begin->process].end_ns,
	};

	if (event.end_ns < event.start_ns) /* a damaged chunk header can place the process's end
	                                    * before */
		event.end_ns = event.start_ns;
	if (!pass->result && events_async_in_scope(model, begin))
		pass->result = pass->each(pass->context, &event);
}

static bool events_async_same_range(const struct dw_events_async *a, const struct dw_events_async *b)
{
	return a->process == b->process && a->handle == b->handle && a->symbol == b->symbol;
}

/*
 * Pairs each begin with the next end, among the records of one process, handle and name. Records of
 * the same ns are sorted with the begins first. If a range is open, its end is used first,
 * otherwise a begin: a handle may be used again in the ns in which it was freed.
 */
static void events_async_pair(struct dw_model *model, struct pass *pass,
                              const struct dw_events_async *at, const struct dw_events_async *last)
{
	const struct dw_events_async *open = NULL;

	while (at < last) {
		const struct dw_events_async *ends = at, *next, *begins = at;

		while (ends < last && ends->ns == at->ns && !ends->end)
			ends++;
		for (next = ends; next < last && next->ns == at->ns;)
			next++;
		for (const struct dw_events_async *middle = ends; begins < middle || ends < next;) {
			bool take_end = open ? ends < next : begins == middle;

			if (open)
				events_async_emit(model, pass, open, take_end ? ends : NULL);
			open = take_end ? NULL : begins;
			take_end ? ends++ : begins++;
		}
		at = next;
	}
	if (open)
		events_async_emit(model, pass, open, NULL);
}

/* ---- stages of requests ---------------------------------------------------------------------- */

DW_ORDER(events_async_compare_times, struct dw_events_async, DW_UP(process) DW_UP(handle) DW_UP(ns) DW_UP(end))

static bool events_async_is(const struct dw_model *model, const struct dw_events_async *async, const char *detail)
{
	const struct dw_symbol *symbol = &model->symbols[async->symbol];

	return symbol->category == DWELL_CATEGORY_ZONE && symbol->detail && strcmp(symbol->detail, detail) == 0;
}

/*
 * A stage of a request has no end of its own in the trace: it ends where the next stage, or the request, of its handle does. Adds
 * these ends. If there are stages, `asyncs` is new memory, which the caller frees. False: out of memory.
 */
static bool events_async_end_stages(const struct dw_model *model, struct pass *pass)
{
	struct dw_events_async *from = pass->asyncs, *all;
	const struct dw_events_async *open = NULL;
	size_t stages = 0, count = pass->async_count;

	for (size_t i = 0; i < count; i++)
		stages += !from[i].end && events_async_is(model, &from[i], DW_DETAIL_STAGE);
	if (!stages)
		return true;
	all = malloc((count + stages) * sizeof *all);
	if (!all)
		return false;
	DW_SORT(from, count, events_async_compare_times);
	memcpy(all, from, count * sizeof *all);
	for (size_t i = 0; i < count; i++) {
		bool begins = !from[i].end && events_async_is(model, &from[i], DW_DETAIL_STAGE);

		if (open && (open->process != from[i].process || open->handle != from[i].handle))
			open = NULL;
		if (open && (begins || (from[i].end && events_async_is(model, &from[i], DW_DETAIL_REQUEST)))) {
			all[pass->async_count] = *open;
			all[pass->async_count].ns = from[i].ns;
			all[pass->async_count++].end = true;
			open = NULL;
		}
		if (begins)
			open = &from[i];
	}
	pass->asyncs = all;
	return true;
}

/* Drops requests that were found from connections in processes where the program or a probe marks requests: those would be counted
 * twice. False: out of memory. */
static bool events_async_drop_answered(const struct dw_model *model, struct pass *pass)
{
	bool *marks = calloc(model->source->process_count + 1, sizeof *marks);
	size_t kept = 0;

	for (size_t i = 0; marks && i < pass->async_count; i++)
		marks[pass->asyncs[i].process] |= events_async_is(model, &pass->asyncs[i], DW_DETAIL_REQUEST);
	for (size_t i = 0; marks && i < pass->async_count; i++)
		if (!marks[pass->asyncs[i].process] || !events_async_is(model, &pass->asyncs[i], DW_DETAIL_ANSWERED))
			pass->asyncs[kept++] = pass->asyncs[i];
	pass->async_count = marks ? kept : pass->async_count;
	free(marks);
	return marks;
}

static bool events_is_of_requests(const struct dw_symbol *symbol)
{
	return symbol->category == DWELL_CATEGORY_ZONE && symbol->detail &&
	       (strcmp(symbol->detail, DW_DETAIL_STAGE) == 0 || strcmp(symbol->detail, DW_DETAIL_REQUEST) == 0 ||
	        strcmp(symbol->detail, DW_DETAIL_ANSWERED) == 0);
}

static bool events_is_one_name(const struct dw_model *model, uint32_t a, uint32_t b)
{
	const struct dw_symbol *symbols = model->symbols;

	return model->symbol_row[a] == model->symbol_row[b] && symbols[a].detail && strcmp(symbols[a].detail, symbols[b].detail) == 0;
}

/* One name may have several symbols (shapes, call sites): by symbol, the first of its row. Requests and stages are apart from
 * other ranges of their name. NULL: out of memory. */
static uint32_t *events_async_symbols(const struct dw_model *model)
{
	uint32_t *first = malloc((model->symbol_count + 1) * sizeof *first);

	for (uint32_t i = 0; first && i < model->symbol_count; i++) {
		first[i] = model->row_symbol[model->symbol_row[i]];
		if (events_is_of_requests(&model->symbols[i]))
			for (first[i] = 0; !events_is_one_name(model, first[i], i);)
				first[i]++;
	}
	return first;
}

static void events_async_emit_all(struct dw_model *model, struct pass *pass)
{
	struct dw_events_async *collected = pass->asyncs;
	uint32_t *symbols;
	size_t next;

	if (!events_async_drop_answered(model, pass) || !events_async_end_stages(model, pass)) {
		pass->failed = true;
		return;
	}
	if (pass->asyncs != collected && !pass->window)
		free(collected);

	if (!pass->async_count)
		return;
	symbols = events_async_symbols(model);
	pass->failed |= !symbols;
	for (size_t i = 0; symbols && i < pass->async_count; i++)
		pass->asyncs[i].symbol = symbols[pass->asyncs[i].symbol];
	free(symbols);
	DW_SORT(pass->asyncs, pass->async_count, events_async_compare);
	for (size_t i = 0; i < pass->async_count && !pass->result; i = next) {
		for (next = i + 1; next < pass->async_count;)
			if (events_async_same_range(&pass->asyncs[i], &pass->asyncs[next]))
				next++;
			else
				break;
		events_async_pair(model, pass, &pass->asyncs[i], &pass->asyncs[next]);
	}
}

int dw_model_events_pair(struct dw_model *model, struct dw_events_async *ends, size_t count,
                         int (*each)(void *context, const struct dw_event *event), void *context)
{
	struct pass pass = { .each = each, .context = context, .asyncs = ends, .async_count = count, .window = true };

	events_async_emit_all(model, &pass);
	if (pass.asyncs != ends)
		free(pass.asyncs);
	return pass.failed ? DWELL_E_NOMEM : pass.result;
}

static bool events_wants_stream(const struct dw_model *model, enum dw_event_streams which,
                                const struct dw_source_stream *stream)
{
	return dw_scope_has_stream(model, stream) &&
	       (which == DW_EVENTS_ALL || stream->nested == (which == DW_EVENTS_OF_HANDLERS));
}

int dw_model_events_of(struct dw_model *model, enum dw_event_streams which,
                       int (*each)(void *context, const struct dw_event *event), void *context,
                       struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	struct pass pass = { .each = each, .context = context };

	for (size_t i = 0; i < source->stream_count && !pass.result && !pass.failed; i++) {
		struct events events;

		if (!events_wants_stream(model, which, &source->streams[i]))
			continue;
		memset(&events, 0, sizeof events);
		dw_pass_init(&events.pass, model, i, &pass.frames);
		events.all = &pass;
		events_walk(&events.pass);
		pass.failed |= events.pass.walk.failed;
	}
	if (!pass.failed)
		events_async_emit_all(model, &pass);
	dw_frames_reset(&pass.frames);
	free(pass.asyncs);
	return pass.failed ? dw_model_no_memory(model, error) : pass.result;
}

int dw_model_events(struct dw_model *model, int (*each)(void *context, const struct dw_event *event),
                    void *context, struct dwell_error *error)
{
	return dw_model_events_of(model, DW_EVENTS_ALL, each, context, error);
}

/* ---- windows ---------------------------------------------------------------------------------- */

/* Restores the state of the stream at a place, as if the stream had been walked up to there. */
static void events_resume(struct events *events, const struct dw_events_place *from)
{
	struct dw_walk *walk = &events->pass.walk;

	if (!from->chunk)
		return;
	dw_walk_set_thread(walk, from->thread);
	walk->time.ticks = from->ticks;
	walk->time.floor = from->floor;
	walk->time.inside = from->inside;
	walk->time.in_scope = from->in_scope;
	for (uint32_t i = 0; i < from->open_count; i++) {
		const struct dw_events_open *range = &from->open[i];

		dw_pass_begin(&events->pass, &events_hooks, range->start, range->id);
		if (!walk->file->named_ends)
			continue;
		if (walk->open.depth == walk->open.capacity)
			dw_open_grow(&walk->open);
		if (walk->open.depth < walk->open.capacity)
			walk->open.ids[walk->open.depth] = range->id | (range->by_name ? DW_OPEN_BY_NAME : 0);
		walk->open.depth++;
	}
	if (from->folded)
		dw_pass_fold(&events->pass, (int)from->folded);
}

/* Stores the state before chunk `to`; the open ranges are not reported. */
static void events_store(struct events *events, size_t to, struct dw_events_place *end)
{
	const struct dw_walk *walk = &events->pass.walk;
	uint32_t depth = events->pass.depth;

	*end = (struct dw_events_place){ .chunk = to, .ticks = walk->time.ticks,
		.floor = walk->time.floor, .inside = walk->time.inside, .in_scope = walk->time.in_scope,
		.thread = walk->thread, .folded = events->pass.folded };
	end->open = depth ? malloc(depth * sizeof *end->open) : NULL;
	if (depth && !end->open) {
		events->all->failed = true;
		return;
	}
	end->open_count = depth;
	for (uint32_t i = 0; i < depth; i++) {
		const struct frame *frame = (const struct frame *)(const void *)events->pass.frames + i + 1;

		end->open[i] = (struct dw_events_open){ frame->frame.start, frame->id,
			i < walk->open.depth && i < walk->open.capacity && walk->open.ids[i] & DW_OPEN_BY_NAME };
	}
}

static void events_walk_window(struct events *events, const struct dw_events_place *from, size_t to,
                               struct dw_events_place *end)
{
	struct dw_pass *pass = &events->pass;

	events_resume(events, from);
	for (size_t i = from->chunk; i < to && !events->all->result; i++)
		events_chunk(pass, i);
	if (to == pass->walk.stream->chunk_count) {
		events_finish(pass);
		if (end)
			*end = (struct dw_events_place){ .chunk = to, .thread = pass->walk.thread };
		return;
	}
	if (end)
		events_store(events, to, end);
	else
		events_flush(pass, dw_time_now(&pass->walk.time), DW_FLUSH_END);
	dw_walk_reset(&pass->walk);
}

uint32_t dw_model_symbol_of_id(const struct dw_model *model, uint32_t file, uint32_t id)
{
	uint32_t symbol = model->symbol_by_id[file][id < model->source->files[file].symbol_count ? id : 0];

	return model->row_symbol[model->symbol_row[symbol]];
}

int dw_model_events_between(struct dw_model *model, size_t stream, const struct dw_events_place *from,
                            size_t to, struct dw_events_place *end,
                            int (*each)(void *context, const struct dw_event *event), void *context,
                            struct dwell_error *error)
{
	struct pass pass = { .each = each, .context = context, .window = true };
	struct events events;

	memset(&events, 0, sizeof events);
	dw_pass_init(&events.pass, model, stream, &pass.frames);
	events.all = &pass;
	events_walk_window(&events, from, to, end);
	pass.failed |= events.pass.walk.failed;
	dw_frames_reset(&pass.frames);
	return pass.failed ? dw_model_no_memory(model, error) : pass.result;
}
