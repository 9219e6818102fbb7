/*
 * One stream's records to operators that wait for their step: see sequence.h.
 *
 * Only operators that lie in no other are kept, with the phase around them; so are
 * phases "forward" of the step's thread. What is lost, recycled, left open or does not fit
 * is a gap in time, and whatever step it touches is not whole.
 */
#include "model/sequence/stream.h"

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
		stream->op_start, ticks - stream->op_start, stream->op_key, stream->pass.walk.thread
	};
}

static void end_forward(struct dw_sequence_stream *stream, uint64_t start, uint64_t ticks)
{
	struct dw_sequence_span *span = NULL;

	if (start < stream->all->from || stream->pass.walk.thread != stream->all->steps->thread)
		return;
	if (stream->forward_count < DW_SEQUENCE_MOST_ITEMS)
		span = DW_GROW(&stream->forwards, &stream->forward_capacity, stream->forward_count);
	if (span) {
		*span = (struct dw_sequence_span){ start, ticks - start };
		stream->forward_count++;
	}
}

/* ---- the hooks ------------------------------------------------------------------------- */

struct frame {
	struct dw_frame frame; /* phases are chained */
	uint8_t what;
	bool outermost;        /* an operator that lies in no other, or such a "forward" */
};
#define PHASES 1u

DW_INLINE void sequence_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct dw_sequence_stream *stream = state;
	struct frame *frame = place;
	uint32_t code = stream->codes[__builtin_expect(id < stream->pass.walk.op_count, 1) ? id : 0];

	frame->what = (uint8_t)DW_SEQUENCE_PHASE(code);
	frame->outermost = false;
	if (frame->what == DW_IS_OPERATOR) {
		if (stream->op_open)
			return;
		frame->outermost = true;
		frame->frame.in_scope = true;
		stream->op_open = true;
		stream->op_key = DW_SEQUENCE_ROW(code) | stream->phase << DW_SEQUENCE_ROW_BITS;
		stream->op_start = ticks;
		stream->op_wanted = dw_pass_in_scope(&stream->pass, ticks);
	} else if (__builtin_expect(frame->what != DW_IS_NOTHING, 0)) {
		dw_pass_link(&stream->pass, &frame->frame, PHASES);
		stream->phase = frame->what;
		if (frame->what == DW_IN_FORWARD && !stream->forward_open)
			stream->forward_open = frame->outermost = true;
	}
}

static __attribute__((noinline)) void leave_phase(struct dw_sequence_stream *stream,
                                                  const struct frame *frame, uint64_t ticks,
                                                  enum dw_leave how)
{
	uint32_t around = stream->pass.top[PHASES];

	stream->phase = DW_IN_NO_PHASE;
	if (around)
		stream->phase = ((struct frame *)dw_pass_at(&stream->pass, sizeof *frame, around))->what;
	if (!frame->outermost)
		return;
	stream->forward_open = false;
	if (how == DW_LEAVE_END)
		end_forward(stream, frame->frame.start, ticks);
}

DW_INLINE void sequence_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct dw_sequence_stream *stream = state;
	const struct frame *frame = place;

	if (frame->what == DW_IS_OPERATOR) {
		if (!frame->outermost)
			return;
		stream->op_open = false;
		if (how == DW_LEAVE_END)
			put_item(stream, ticks);
		else if (dw_sequence_stream_is_ours(stream))
			add_gap(stream->all, stream->op_start, ticks);
	} else if (__builtin_expect(frame->what != DW_IS_NOTHING, 0)) {
		leave_phase(stream, frame, ticks, how);
	}
}

static void sequence_flushed(void *state, uint64_t ticks, enum dw_flush why)
{
	struct dw_sequence_stream *stream = state;

	if (why == DW_FLUSH_GAP && dw_sequence_stream_is_ours(stream))
		add_gap(stream->all, ticks, ticks);
}

static void take_link(struct dw_sequence_stream *stream, const struct dw_record *record)
{
	uint32_t id = record->payload[2], thread = stream->pass.walk.thread;
	const struct dw_source_file *file = stream->pass.walk.file;

	if (id && id < file->symbol_count && thread != DW_NO_INDEX &&
	    file->thread_by_id[id] == stream->all->steps->thread)
		stream->all->linked[thread] = true;
}

static void sequence_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	if (record->kind == DW_LINK)
		take_link(state, record);
}

static const struct dw_pass_hooks sequence_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .chains = true, .scoped = true,
	.enter = sequence_enter, .leave = sequence_leave, .note = sequence_note,
	.flushed = sequence_flushed,
};
DW_PASS_DEFINE(sequence, sequence_hooks)

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
	const struct dw_walk *walk = &stream->pass.walk;
	const struct dw_source_chunk *chunk;
	uint64_t now = dw_time_now(&walk->time);

	if (stream->head || stream->forward_head)
		compact(stream);
	if (stream->next_chunk == walk->stream->chunk_count) {
		sequence_finish(&stream->pass);
		stream->finished = true;
		return;
	}
	chunk = &walk->stream->chunks[stream->next_chunk];
	if (chunk->gap_before && (stream->next_chunk ? dw_sequence_stream_is_ours(stream)
	                                             : chunk->thread == stream->all->steps->thread))
		add_gap(stream->all, now, chunk->base_ticks);
	sequence_chunk(&stream->pass, stream->next_chunk++);
	stream->all->failed |= stream->pass.failed;
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
