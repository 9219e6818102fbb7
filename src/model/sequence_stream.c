/*
 * One stream's records to operators that wait for their step: see sequence.h.
 *
 * Only operators that lie in no other are kept, with the phase around them; so are
 * phases "forward" of the step's thread. What is lost, recycled, left open or does not fit
 * is a gap in time, and whatever step it touches is not whole.
 */
#include "model/sequence_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* ---- what happens in a stream -------------------------------------------------------- */

static void add_gap(struct dw_sequence_streams *all, uint64_t from, uint64_t to)
{
	struct dw_sequence_gap *last = NULL;

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
	last = DW_GROW(&all->gaps, &all->gap_capacity, all->gap_count);
	if (!last) {
		all->failed = true;
		return;
	}
	*last = (struct dw_sequence_gap){ from, to };
	all->gap_count++;
}

static __attribute__((noinline)) bool widen(struct dw_sequence_stream *stream)
{
	uint32_t capacity = stream->capacity ? stream->capacity * 2 : 256;
	uint8_t *frames = stream->depth < DW_MOST_DEPTH ? realloc(stream->frames, capacity) : NULL;

	if (!frames) {
		stream->all->failed |= stream->depth < DW_MOST_DEPTH;
		return false;
	}
	stream->frames = frames;
	stream->capacity = capacity;
	return true;
}

static __attribute__((noinline)) bool make_room(struct dw_sequence_stream *stream)
{
	if (stream->count >= DW_SEQUENCE_MOST_ITEMS) {
		if (dw_sequence_stream_is_ours(stream))
			add_gap(stream->all, stream->op_start, stream->op_start);
		return false;
	}
	if (DW_GROW(&stream->items, &stream->item_capacity, stream->count))
		return true;
	stream->all->failed = true;
	return false;
}

DW_INLINE void put_item(struct dw_sequence_stream *stream, uint64_t ticks)
{
	if (stream->op_start < stream->all->from || !stream->op_wanted)
		return;
	if (__builtin_expect(stream->count >= stream->item_capacity, 0) && !make_room(stream))
		return;
	stream->items[stream->count++] = (struct dw_sequence_item){
		stream->op_start, ticks - stream->op_start, stream->op_key, stream->walk.thread
	};
}

static void set_phase(struct dw_sequence_stream *stream)
{
	stream->phase = DW_IN_NO_PHASE;
	for (uint32_t i = stream->depth; i > 0 && !stream->phase; i--)
		if (stream->frames[i - 1] != DW_IS_OPERATOR)
			stream->phase = stream->frames[i - 1];
}

static void end_forward(struct dw_sequence_stream *stream, uint64_t ticks)
{
	struct dw_sequence_span *span;

	stream->forward_depth = 0;
	if (stream->forward_start < stream->all->from ||
	    stream->walk.thread != stream->all->steps->thread)
		return;
	if (stream->forward_count >= DW_SEQUENCE_MOST_ITEMS)
		span = NULL;
	else
		span = DW_GROW(&stream->forwards, &stream->forward_capacity, stream->forward_count);
	if (span) {
		*span = (struct dw_sequence_span){ stream->forward_start, ticks - stream->forward_start };
		stream->forward_count++;
	}
}

static __attribute__((noinline)) void begin_phase(struct dw_sequence_stream *stream, uint64_t ticks,
                                                  uint32_t phase)
{
	stream->phase = phase;
	if (phase == DW_IN_FORWARD && !stream->forward_depth) {
		stream->forward_depth = stream->depth;
		stream->forward_start = ticks;
	}
}

DW_INLINE void visit_begin(void *context, uint64_t ticks, uint32_t id)
{
	struct dw_sequence_stream *stream = context;
	uint32_t code = stream->codes[__builtin_expect(id < stream->walk.op_count, 1) ? id : 0];
	uint32_t what = DW_SEQUENCE_PHASE(code);

	if (__builtin_expect(stream->depth >= stream->capacity, 0) &&
	    (stream->over || !widen(stream))) {
		stream->over++;
		return;
	}
	stream->frames[stream->depth++] = (uint8_t)what;
	if (what == DW_IS_OPERATOR) {
		if (stream->op_depth)
			return;
		stream->op_depth = stream->depth;
		stream->op_key = DW_SEQUENCE_ROW(code) | stream->phase << DW_SEQUENCE_ROW_BITS;
		stream->op_start = ticks;
		stream->op_wanted = stream->walk.wanted && dw_walk_in_time(&stream->walk, ticks);
	} else if (__builtin_expect(what != DW_IS_NOTHING, 0)) {
		begin_phase(stream, ticks, what);
	}
}

static __attribute__((noinline)) void end_phase(struct dw_sequence_stream *stream, uint64_t ticks)
{
	set_phase(stream);
	if (stream->forward_depth == stream->depth + 1)
		end_forward(stream, ticks);
}

DW_INLINE void visit_end(void *context, uint64_t ticks)
{
	struct dw_sequence_stream *stream = context;
	uint32_t what;

	if (__builtin_expect(!stream->depth || stream->over, 0)) {
		stream->over -= stream->over > 0;
		return;
	}
	what = stream->frames[--stream->depth];
	if (stream->op_depth > stream->depth) {
		put_item(stream, ticks);
		stream->op_depth = 0;
	} else if (__builtin_expect(what != DW_IS_NOTHING && what != DW_IS_OPERATOR, 0)) {
		end_phase(stream, ticks);
	}
}

/* Takes the n-th frame out of the middle. */
static void end_of(struct dw_sequence_stream *stream, uint64_t ticks, uint32_t n)
{
	uint32_t depth;

	if (stream->over || n >= stream->depth)
		return;
	depth = stream->depth - n;
	memmove(&stream->frames[depth - 1], &stream->frames[depth], n);
	stream->depth--;
	if (stream->op_depth == depth) {
		put_item(stream, ticks);
		stream->op_depth = 0;
	} else if (stream->op_depth > depth) {
		stream->op_depth--;
	}
	if (stream->forward_depth == depth)
		end_forward(stream, ticks);
	else if (stream->forward_depth > depth)
		stream->forward_depth--;
	set_phase(stream);
}

static void flush(void *context, uint64_t ticks, enum dw_flush why)
{
	struct dw_sequence_stream *stream = context;

	if (stream->op_depth && dw_sequence_stream_is_ours(stream))
		add_gap(stream->all, stream->op_start, ticks);
	if (why == DW_FLUSH_GAP && dw_sequence_stream_is_ours(stream))
		add_gap(stream->all, ticks, ticks);
	stream->depth = stream->over = stream->op_depth = stream->forward_depth = 0;
	stream->phase = DW_IN_NO_PHASE;
}

static void take_link(struct dw_sequence_stream *stream, const struct dw_record *record)
{
	uint32_t id = record->payload[2], thread = stream->walk.thread;
	const struct dw_source_file *file = stream->walk.file;

	if (id && id < file->symbol_count && thread != DW_NO_INDEX &&
	    file->thread_by_id[id] == stream->all->steps->thread)
		stream->all->linked[thread] = true;
}

static __attribute__((noinline)) void visit_rest(struct dw_sequence_stream *stream, uint64_t ticks,
                                                 const struct dw_record *record)
{
	if (dw_walk_break(&stream->walk, ticks, record, flush))
		return;
	if (record->kind == DW_END_OF)
		end_of(stream, ticks, record->payload[0]);
	else if (record->kind == DW_LINK)
		take_link(stream, record);
}

DW_INLINE void visit_other(void *context, uint64_t ticks, const struct dw_record *record)
{
	struct dw_record copy = *record; /* so that the loop's own stays in registers */

	visit_rest(context, ticks, &copy);
}

static bool may_skip(void *context)
{
	struct dw_sequence_stream *stream = context;

	if (stream->op_depth)
		return false;
	flush(stream, dw_time_now(&stream->walk.time), DW_FLUSH_END);
	return true;
}

/* ---- chunk after chunk --------------------------------------------------------------- */

/* What was handed on makes room. */
static void compact(struct dw_sequence_stream *stream)
{
	stream->count -= stream->head;
	if (stream->count)
		memmove(stream->items, stream->items + stream->head,
		        stream->count * sizeof *stream->items);
	stream->head = 0;
	stream->forward_count -= stream->forward_head;
	if (stream->forward_count)
		memmove(stream->forwards, stream->forwards + stream->forward_head,
		        stream->forward_count * sizeof *stream->forwards);
	stream->forward_head = 0;
}

void dw_sequence_stream_advance(struct dw_sequence_stream *stream)
{
	struct dw_walk *walk = &stream->walk;
	const struct dw_source_chunk *chunk;
	uint64_t now = dw_time_now(&walk->time);

	if (stream->head || stream->forward_head)
		compact(stream);
	if (stream->next_chunk == walk->stream->chunk_count) {
		dw_walk_finish(walk, flush);
		stream->finished = true;
		return;
	}
	chunk = &walk->stream->chunks[stream->next_chunk];
	if (chunk->gap_before && (stream->next_chunk ? dw_sequence_stream_is_ours(stream)
	                                             : chunk->thread == stream->all->steps->thread))
		add_gap(stream->all, now, chunk->base_ticks);
	dw_walk_chunk(walk, stream->next_chunk++, visit_begin, visit_end, visit_other, flush, may_skip);
}

/* ---- what ids are -------------------------------------------------------------------- */

static uint32_t what_is(const struct dw_symbol *symbol)
{
	if (symbol->category == DWELL_CATEGORY_OPERATOR ||
	    symbol->category == DWELL_CATEGORY_COMMUNICATION)
		return DW_IS_OPERATOR;
	switch (dw_share_of(symbol)) {
	case DW_SHARE_FORWARD: return DW_IN_FORWARD;
	case DW_SHARE_BACKWARD: return DW_IN_BACKWARD;
	case DW_SHARE_OPTIMIZER:
	case DW_SHARE_EVALUATION: return DW_IN_OTHER_PHASE;
	default: return DW_IS_NOTHING;
	}
}

uint32_t *dw_sequence_codes(const struct dw_model *model, uint32_t file)
{
	uint32_t count = model->source->files[file].symbol_count;
	uint32_t *codes = malloc((count + 1) * sizeof *codes);

	for (uint32_t id = 0; codes && id < count; id++) {
		uint32_t row = model->ops[file][id].row;

		codes[id] = DW_SEQUENCE_ROW(row) |
		            what_is(&model->symbols[model->row_symbol[row]]) << DW_SEQUENCE_ROW_BITS;
	}
	return codes;
}
