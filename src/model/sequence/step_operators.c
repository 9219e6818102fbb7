/*
 * Finds the operators of each step in the streams of a process; see step_operators.h.
 *
 * The streams are read one chunk at a time, always from the stream that is furthest behind. Each
 * stream has a queue of operators, which wait until all streams have passed the end of the step. So
 * memory holds one step and one chunk of each stream, whatever the size of the trace. Operators of
 * another thread count if that thread runs the backward pass of the step's thread: one of its
 * operators has a LINK that names the step's thread as that of its forward operator.
 *
 * Only outermost operators are kept, each with the phase around it, and the outermost phases
 * "forward" of the step's thread. Operators that are lost, recycled, left open or do not fit into a
 * queue are recorded as gaps in time. A step that overlaps a gap is not complete.
 */
#include "model/sequence/step_operators.h"

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/core/pass.h"
#include "model/core/scope.h"
#include "model/core/share_names.h"

#define MOST_ITEMS (1u << 20) /* operators that wait in the queue of a stream */

/* The upper bits of an id's code, above its row: 0, an enum dw_sequence_phase, or IS_OPERATOR. */
enum { IS_NOTHING, IS_OPERATOR = DW_IN_OTHER_PHASE + 1 };

/* A time interval in which operators of the steps are missing. */
struct gap {
	uint64_t from, to; /* both inclusive */
};

struct span {
	uint64_t start, duration;
};

struct streams;

/* `pass` first. */
struct stream {
	struct dw_pass pass;
	struct dw_frames frames;
	struct streams *all;
	const uint32_t *codes;   /* by id: its row, and above it IS_NOTHING, a phase or IS_OPERATOR */
	bool op_open;            /* an outermost operator is open; the next three are about it */
	uint32_t op_key;
	uint64_t op_start;
	bool op_wanted;
	uint32_t phase;          /* the innermost open phase */
	bool forward_open;       /* a phase "forward" is open */
	struct dw_sequence_item *items;
	size_t head, count, item_capacity;
	struct span *forwards;   /* outermost ones of the step's thread */
	size_t forward_head, forward_count, forward_capacity, next_chunk;
	bool finished;
};

/* The streams of a process. */
struct streams {
	struct dw_model *model;
	const struct dw_sequence_steps *steps;
	uint64_t from;           /* the start of the current step; earlier operators are dropped */
	struct stream *streams;
	size_t stream_count;
	bool *linked;            /* by thread: it runs the backward pass of the steps' thread */
	struct gap *gaps;
	size_t gap_head, gap_count, gap_capacity;
	struct dw_sequence_item *merged;
	size_t merged_capacity;
	bool failed;
};

/* Whether operators of the thread that the stream has now belong to the steps. */
static bool stream_is_ours(const struct stream *stream)
{
	uint32_t thread = stream->pass.walk.thread;

	return thread == stream->all->steps->thread || (thread != DW_NO_INDEX && stream->all->linked[thread]);
}

/* ---- the queues of a stream ---------------------------------------------------------- */

static void streams_add_gap(struct streams *all, uint64_t from, uint64_t to)
{
	struct gap *last = NULL;

	if (all->gap_count > all->gap_head)
		last = &all->gaps[all->gap_count - 1];
	if (to < all->from)
		return;
	if (last && from >= last->from && from <= last->to) {
		last->to = to > last->to ? to : last->to;
		return;
	}
	if (all->gap_head == all->gap_count)
		all->gap_head = all->gap_count = 0;
	all->failed |= !DW_APPEND(&all->gaps, &all->gap_capacity, &all->gap_count, (struct gap){ from, to });
}

static __attribute__((noinline)) bool stream_grow_items(struct stream *stream)
{
	if (stream->count >= MOST_ITEMS) {
		if (stream_is_ours(stream))
			streams_add_gap(stream->all, stream->op_start, stream->op_start);
		return false;
	}
	if (DW_GROW(&stream->items, &stream->item_capacity, stream->count))
		return true;
	stream->all->failed = true;
	return false;
}

DW_INLINE void stream_put_item(struct stream *stream, uint64_t ticks)
{
	if (stream->op_start < stream->all->from || !stream->op_wanted)
		return;
	if (__builtin_expect(stream->count >= stream->item_capacity, 0) && !stream_grow_items(stream))
		return;
	stream->items[stream->count++] = (struct dw_sequence_item){
		stream->op_start, ticks - stream->op_start, stream->op_key, stream->pass.walk.thread
	};
}

static void stream_end_forward(struct stream *stream, uint64_t start, uint64_t ticks)
{
	if (start >= stream->all->from && stream->pass.walk.thread == stream->all->steps->thread &&
	    stream->forward_count < MOST_ITEMS)
		(void)DW_APPEND(&stream->forwards, &stream->forward_capacity, &stream->forward_count,
		                (struct span){ start, ticks - start });
}

/* ---- the hooks ------------------------------------------------------------------------- */

struct frame {
	struct dw_frame frame; /* phases are chained */
	uint8_t what;
	bool outermost;        /* an operator in no other operator, or a "forward" in no other */
};
#define PHASES 1u

DW_INLINE void sequence_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct stream *stream = state;
	struct frame *frame = place;
	uint32_t code = stream->codes[__builtin_expect(id < stream->pass.walk.op_count, 1) ? id : 0];

	frame->what = (uint8_t)DW_SEQUENCE_PHASE(code);
	frame->outermost = false;
	if (frame->what == IS_OPERATOR) {
		if (stream->op_open)
			return;
		frame->outermost = true;
		frame->frame.in_scope = true;
		stream->op_open = true;
		stream->op_key = DW_SEQUENCE_ROW(code) | stream->phase << DW_SEQUENCE_ROW_BITS;
		stream->op_start = ticks;
		stream->op_wanted = dw_pass_in_scope(&stream->pass, ticks);
	} else if (__builtin_expect(frame->what != IS_NOTHING, 0)) {
		dw_pass_link(&stream->pass, &frame->frame, PHASES);
		stream->phase = frame->what;
		if (frame->what == DW_IN_FORWARD && !stream->forward_open)
			stream->forward_open = frame->outermost = true;
	}
}

static __attribute__((noinline)) void stream_leave_phase(struct stream *stream,
                                                         const struct frame *frame, uint64_t ticks, enum dw_leave how)
{
	uint32_t around = stream->pass.top[PHASES];

	stream->phase = DW_IN_NO_PHASE;
	if (around)
		stream->phase = ((struct frame *)dw_pass_at(&stream->pass, sizeof *frame, around))->what;
	if (!frame->outermost)
		return;
	stream->forward_open = false;
	if (how == DW_LEAVE_END)
		stream_end_forward(stream, frame->frame.start, ticks);
}

DW_INLINE void sequence_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct stream *stream = state;
	const struct frame *frame = place;

	if (frame->what == IS_OPERATOR) {
		if (!frame->outermost)
			return;
		stream->op_open = false;
		if (how == DW_LEAVE_END)
			stream_put_item(stream, ticks);
		else if (stream_is_ours(stream))
			streams_add_gap(stream->all, stream->op_start, ticks);
	} else if (__builtin_expect(frame->what != IS_NOTHING, 0)) {
		stream_leave_phase(stream, frame, ticks, how);
	}
}

static void sequence_flushed(void *state, uint64_t ticks, enum dw_flush why)
{
	struct stream *stream = state;

	if (why == DW_FLUSH_GAP && stream_is_ours(stream))
		streams_add_gap(stream->all, ticks, ticks);
}

static void stream_take_link(struct stream *stream, const struct dw_record *record)
{
	uint32_t id = record->payload[2], thread = stream->pass.walk.thread;
	const struct dw_source_file *file = stream->pass.walk.file;

	if (id && id < file->symbol_count && thread != DW_NO_INDEX && file->thread_by_id[id] == stream->all->steps->thread)
		stream->all->linked[thread] = true;
}

static void sequence_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	if (record->kind == DW_LINK)
		stream_take_link(state, record);
}

static const struct dw_pass_hooks sequence_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .chains = true, .scoped = true,
	.enter = sequence_enter, .leave = sequence_leave, .note = sequence_note, .flushed = sequence_flushed,
};
DW_PASS_DEFINE(sequence, sequence_hooks)

/* ---- chunk after chunk --------------------------------------------------------------- */

/* Removes the operators and phases before `head` and `forward_head` from the queues. */
static void stream_compact(struct stream *stream)
{
	stream->count -= stream->head;
	if (stream->count)
		memmove(stream->items, stream->items + stream->head, stream->count * sizeof *stream->items);
	stream->head = 0;
	stream->forward_count -= stream->forward_head;
	if (stream->forward_count)
		memmove(stream->forwards, stream->forwards + stream->forward_head,
		        stream->forward_count * sizeof *stream->forwards);
	stream->forward_head = 0;
}

static void stream_advance(struct stream *stream)
{
	const struct dw_walk *walk = &stream->pass.walk;
	const struct dw_source_chunk *chunk;
	uint64_t now = dw_time_now(&walk->time);

	if (stream->head || stream->forward_head)
		stream_compact(stream);
	if (stream->next_chunk == walk->stream->chunk_count) {
		sequence_finish(&stream->pass);
		stream->finished = true;
		return;
	}
	chunk = &walk->stream->chunks[stream->next_chunk];
	if (chunk->gap_before && (stream->next_chunk ? stream_is_ours(stream)
	                                             : chunk->thread == stream->all->steps->thread))
		streams_add_gap(stream->all, now, chunk->base_ticks);
	sequence_chunk(&stream->pass, stream->next_chunk++);
	stream->all->failed |= stream->pass.walk.failed;
}

/* ---- codes of ids -------------------------------------------------------------------- */

static uint32_t operators_what_is(const struct dw_symbol *symbol)
{
	if (symbol->category == DWELL_CATEGORY_OPERATOR || symbol->category == DWELL_CATEGORY_COMMUNICATION)
		return IS_OPERATOR;
	switch (dw_share_of(symbol)) {
	case DW_SHARE_FORWARD: return DW_IN_FORWARD;
	case DW_SHARE_BACKWARD: return DW_IN_BACKWARD;
	case DW_SHARE_OPTIMIZER:
	case DW_SHARE_EVALUATION: return DW_IN_OTHER_PHASE;
	default: return IS_NOTHING;
	}
}

static uint32_t *operators_make_codes(const struct dw_model *model, uint32_t file)
{
	uint32_t count = model->source->files[file].symbol_count;
	uint32_t *codes = malloc((count + 1) * sizeof *codes);

	for (uint32_t id = 0; codes && id < count; id++) {
		uint32_t row = model->ops[file][id].row;

		codes[id] = DW_SEQUENCE_ROW(row) | operators_what_is(&model->symbols[model->row_symbol[row]])
		                                       << DW_SEQUENCE_ROW_BITS;
	}
	return codes;
}

/* ---- several streams ------------------------------------------------------------------- */

static struct stream *streams_furthest_behind(struct streams *all)
{
	struct stream *behind = NULL;

	for (size_t i = 0; i < all->stream_count; i++) {
		struct stream *stream = &all->streams[i];

		if (!stream->finished && (!behind || dw_time_now(&stream->pass.walk.time) <
		                                         dw_time_now(&behind->pass.walk.time)))
			behind = stream;
	}
	return behind;
}

static bool stream_has_passed(const struct stream *stream, uint64_t ticks)
{
	if (stream->finished)
		return true;
	if (dw_time_now(&stream->pass.walk.time) < ticks)
		return false;
	return !stream->op_open || stream->op_start >= ticks || !stream_is_ours(stream);
}

/* ---- a step's operators -------------------------------------------------------------- */

/* Removes the operators up to the end of the step from the stream's queue. Returns those that
 * belong to the step; *count is their number. *own: all are of the step's thread. Threads may
 * have taken the stream over from one another in the step. */
static const struct dw_sequence_item *stream_take_items(struct stream *stream, const struct dw_sequence_step *step,
                                                        size_t *count, bool *own)
{
	const struct streams *all = stream->all;
	struct dw_sequence_item *items = stream->items;
	size_t from = stream->head, kept, at;

	while (from < stream->count && items[from].start < step->start_ticks)
		from++;
	*own = true;
	for (at = kept = from; at < stream->count && items[at].start < step->end_ticks; at++) {
		uint32_t thread = items[at].thread;

		if (thread != all->steps->thread) {
			if (!all->linked[thread])
				continue;
			*own = false;
		}
		if (kept != at)
			items[kept] = items[at];
		kept++;
	}
	stream->head = at;
	*count = kept - from;
	return *count ? items + from : NULL;
}

DW_ORDER(operators_compare_starts, struct dw_sequence_item, DW_UP(start) DW_UP(thread))

/* Operators of another thread than the step's have no phase, because the step's thread marks the
 * phases. They get the backward phase. */
static void streams_append(struct streams *all, size_t *count, const struct dw_sequence_item *items, size_t added)
{
	for (size_t i = 0; i < added; i++) {
		struct dw_sequence_item *item = DW_GROW(&all->merged, &all->merged_capacity, *count);

		if (!item) {
			all->failed = true;
			return;
		}
		*item = items[i];
		if (item->thread != all->steps->thread && !DW_SEQUENCE_PHASE(item->key))
			item->key |= (uint32_t)DW_IN_BACKWARD << DW_SEQUENCE_ROW_BITS;
		(*count)++;
	}
}

/* The operators of the step in order. If they are all from one stream of the step's thread, they
 * are not copied; otherwise they are copied and sorted. */
static const struct dw_sequence_item *
streams_gather(struct streams *all, const struct dw_sequence_step *step, size_t *result)
{
	const struct dw_sequence_item *first = NULL;
	size_t first_count = 0, merged = 0;

	for (size_t i = 0; i < all->stream_count; i++) {
		size_t count;
		bool own;
		const struct dw_sequence_item *items = stream_take_items(&all->streams[i], step, &count, &own);

		if (!count)
			continue;
		if (!first && own) {
			first = items;
			first_count = count;
			continue;
		}
		streams_append(all, &merged, items, count);
	}
	*result = first_count;
	if (!merged)
		return first;
	streams_append(all, &merged, first, first_count);
	qsort(all->merged, merged, sizeof *all->merged, operators_compare_starts);
	*result = merged;
	return all->merged;
}

/* A forward that outlives the step does not count: when the step is finished, the records with its
 * end may not have been read. */
static uint64_t stream_take_forward(struct stream *stream, const struct dw_sequence_step *step, bool *has)
{
	uint64_t ticks = 0;

	for (; stream->forward_head < stream->forward_count; stream->forward_head++) {
		const struct span *span = &stream->forwards[stream->forward_head];

		if (span->start >= step->end_ticks)
			break;
		if (span->start >= step->start_ticks && span->start + span->duration <= step->end_ticks) {
			ticks += span->duration;
			*has = true;
		}
	}
	return ticks;
}

static bool streams_step_is_whole(struct streams *all, const struct dw_sequence_step *step)
{
	while (all->gap_head < all->gap_count && all->gaps[all->gap_head].to < step->start_ticks)
		all->gap_head++;
	for (size_t i = all->gap_head; i < all->gap_count; i++)
		if (all->gaps[i].from < step->end_ticks && all->gaps[i].to >= step->start_ticks)
			return false;
	return true;
}

static int streams_finish_step(struct streams *all, struct dw_sequence_step step, dw_sequence_each *each, void *context)
{
	size_t count;
	const struct dw_sequence_item *items = streams_gather(all, &step, &count);

	for (size_t i = 0; i < all->stream_count; i++)
		step.forward_ticks += stream_take_forward(&all->streams[i], &step, &step.has_forward);
	for (size_t i = 0; i < count && !step.has_backward; i++)
		step.has_backward = items[i].thread == all->steps->thread && DW_SEQUENCE_PHASE(items[i].key) == DW_IN_BACKWARD;
	step.complete = streams_step_is_whole(all, &step);
	return all->failed ? -1 : each(context, &step, items, count);
}

/* ---- the walk ------------------------------------------------------------------------ */

static int streams_open(struct streams *all, const uint32_t *codes)
{
	const struct dw_source *source = all->model->source;

	all->streams = calloc(source->stream_count + 1, sizeof *all->streams);
	for (size_t i = 0; all->streams && i < source->stream_count; i++) {
		struct stream *stream = &all->streams[all->stream_count];

		if (source->streams[i].process != all->steps->process || source->streams[i].nested ||
		    !dw_scope_has_stream(all->model, &source->streams[i]))
			continue;
		dw_pass_init(&stream->pass, all->model, i, &stream->frames);
		stream->all = all;
		stream->codes = codes;
		all->stream_count++;
	}
	return all->streams ? 0 : -1;
}

static int streams_walk_steps(struct streams *all, dw_sequence_each *each, void *context)
{
	int code = 0;

	for (size_t i = 0; i < all->steps->count && !code; i++) {
		const struct dw_sequence_step *step = &all->steps->steps[i];
		bool ready = false;

		all->from = step->start_ticks;
		while (!ready && !all->failed) {
			ready = true;
			for (size_t s = 0; s < all->stream_count && ready; s++)
				ready = stream_has_passed(&all->streams[s], step->end_ticks);
			if (!ready)
				stream_advance(streams_furthest_behind(all));
		}
		code = streams_finish_step(all, *step, each, context);
	}
	return code;
}

int dw_sequence_walk(struct dw_model *model, const struct dw_sequence_steps *steps,
                     dw_sequence_each *each, void *context)
{
	struct streams all = { .model = model, .steps = steps };
	uint32_t file = model->source->processes[steps->process].file;
	uint32_t *codes = operators_make_codes(model, file);
	int code = -1;

	all.linked = calloc(model->source->thread_count + 1, sizeof *all.linked);
	if (codes && all.linked && streams_open(&all, codes) == 0)
		code = streams_walk_steps(&all, each, context);
	for (size_t i = 0; i < all.stream_count; i++) {
		dw_walk_reset(&all.streams[i].pass.walk);
		dw_frames_reset(&all.streams[i].frames);
		DW_FREE(all.streams[i].items, all.streams[i].forwards);
	}
	DW_FREE(all.streams, all.linked, all.gaps, all.merged, codes);
	return code;
}
