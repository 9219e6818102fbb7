/*
 * Reads the allocations and frees of a stream, and the ranges in which they happen.
 *
 * The merge reads all streams of a process at the same time, so each is read chunk by chunk. A path
 * is looked up at an allocation, not when a range begins, because most ranges allocate nothing. A
 * free has no path: it belongs to the path of the allocation.
 */
#include <math.h>

#include "base/grow.h"
#include "model/memory/kinds.h"
#include "model/core/scope.h"

/* ---- paths --------------------------------------------------------------------------------- */

static struct dw_memory_frame *stream_frame_at(const struct dw_memory_stream *stream, uint32_t place)
{
	return (struct dw_memory_frame *)dw_pass_at(&stream->pass, sizeof(struct dw_memory_frame), place);
}

/* The path of the open ranges. Starts at the innermost range whose path is known and looks up the
 * paths of the ranges within it. */
static uint32_t stream_find_path(struct dw_memory_stream *stream)
{
	uint32_t known = stream->pass.depth, path;

	while (known && stream_frame_at(stream, known)->path == DW_NO_INDEX)
		known--;
	path = known ? stream_frame_at(stream, known)->path : 0;
	while (known < stream->pass.depth) {
		struct dw_memory_frame *frame = stream_frame_at(stream, ++known);
		uint32_t below = frame->row == DW_NO_INDEX ? path : dw_call_path_child(stream->paths, path, frame->row);

		if (below == DW_NO_INDEX) {
			stream->failed = true;
			return 0;
		}
		path = below == DW_CALL_PATH_FOLDED ? path : below;
		frame->path = path;
	}
	return path;
}

/* The innermost layer around the range at this place of the stack, as a row. DW_NO_INDEX: there is none. */
static uint32_t stream_layer(const struct dw_memory_stream *stream, uint32_t place)
{
	return place ? stream_frame_at(stream, place)->layer : DW_NO_INDEX;
}

/* ---- roles, in the first pass --------------------------------------------------------------- */

static void stream_take_record(struct dw_memory_stream *stream, struct dw_memory_frame *frame,
                               uint32_t row, uint64_t ticks)
{
	frame->role = stream->kind_pass->roles[row];
	stream->kind_pass->operators |= frame->is_operator;
	if (frame->role == DW_MEMORY_IN_BACKWARD)
		frame->span = dw_memory_span_open(stream->kind_pass, ticks, true);
}

/*
 * Finds the range that decides the kind of this allocation. If the innermost phase is data loading,
 * backward or optimizer, it is the range of that phase; of several such ranges with no other phase
 * between them, the outermost. Otherwise it is the outermost operator, within the forward range if
 * there is one.
 */
static void stream_find_span(struct dw_memory_stream *stream, struct dw_memory_event *event)
{
	struct dw_memory_frame *outermost = NULL, *operator = NULL;

	for (uint32_t place = stream->pass.depth; place; place--) {
		struct dw_memory_frame *frame = stream_frame_at(stream, place);

		if (frame->role && event->role && frame->role != event->role)
			break;
		if (frame->role) {
			event->role = frame->role;
			outermost = frame;
		} else if (frame->is_operator && !event->role) {
			operator = frame;
		}
	}
	/* Where some steps are recorded without operators, the forward range decides in all of them. */
	if (event->role < DW_MEMORY_IN_FORWARD || (event->role == DW_MEMORY_IN_FORWARD && !stream->kind_pass->reduced))
		outermost = operator;
	if (!outermost)
		return;
	if (!outermost->span)
		outermost->span = dw_memory_span_open(stream->kind_pass, 0, false);
	event->span = outermost->span;
	if (event->span)
		stream->kind_pass->spans[event->span].refs++;
	stream->failed |= stream->kind_pass->failed;
}

/* ---- records ------------------------------------------------------------------------------- */

DW_INLINE void memory_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct dw_memory_stream *stream = state;
	struct dw_memory_frame *frame = place;
	struct dw_op op = dw_walk_op(&stream->pass.walk, id);

	frame->id = id;
	frame->is_operator = op.kind == dw_kind_of(DWELL_CATEGORY_OPERATOR);
	/* Ranges that a program names itself have one kind. Layers and functions own no memory. */
	frame->row = frame->is_operator || op.kind == dw_kind_of(DWELL_CATEGORY_ZONE) ? op.row : DW_NO_INDEX;
	frame->path = DW_NO_INDEX;
	frame->layer = op.kind == dw_kind_of(DWELL_CATEGORY_LAYER) ? op.row : stream_layer(stream, stream->pass.depth - 1);
	frame->span = 0;
	frame->role = 0;
	if (stream->kind_pass)
		stream_take_record(stream, frame, op.row, ticks);
}

DW_INLINE void memory_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct dw_memory_stream *stream = state;
	const struct dw_memory_frame *frame = place;

	if (frame->span)
		dw_memory_span_close(stream->kind_pass, frame->span, ticks);
}

/* A range was removed from the stack: forgets the paths of the ranges that were in it. */
static void memory_unnest(void *state, uint32_t place, uint64_t ticks)
{
	struct dw_memory_stream *stream = state;

	stream->overlaps = true;
	for (; place <= stream->pass.depth; place++)
		stream_frame_at(stream, place)->path = DW_NO_INDEX;
}

static void stream_append(struct dw_memory_stream *stream, const struct dw_memory_event *event)
{
	stream->failed |= !DW_APPEND(&stream->events, &stream->capacity, &stream->count, *event);
}

static void stream_add_reserved(struct dw_memory_stream *stream, uint64_t ticks, const struct dw_record *record)
{
	uint32_t symbol = dw_walk_symbol(&stream->pass.walk, record->id);
	uint64_t bits = dw_record_u64(record, 0);
	double value;

	if (!dw_memory_reserved_device(&stream->pass.walk.model->symbols[symbol]))
		return;
	memcpy(&value, &bits, sizeof value);
	stream_append(stream, &(struct dw_memory_event){ .ticks = ticks, .type = DW_MEMORY_RESERVED, .symbol = symbol,
	                          .bytes = value > 0 && value < 1e18 ? (uint64_t)value : 0 });
}

static void stream_add_event(struct dw_memory_stream *stream, uint64_t ticks,
                             const struct dw_record *record, enum dw_memory_event_type type)
{
	struct dw_memory_event event = { .ticks = ticks, .type = (uint8_t)type, .count = 1,
		                             .address = dw_record_u64(record, type == DW_MEMORY_SAID ? 2 : 0) };

	if (type == DW_MEMORY_ALLOC && !stream->pass.walk.wanted)
		return;
	if (type == DW_MEMORY_SAID)
		event.symbol = dw_walk_symbol(&stream->pass.walk, record->payload[4]);
	if (type == DW_MEMORY_ALLOC) {
		event.bytes = dw_record_u64(record, 2);
		event.symbol = dw_walk_symbol(&stream->pass.walk, record->id);
		if (stream->kind_pass)
			stream_find_span(stream, &event);
		if (stream->finds_paths)
			event.path = stream_find_path(stream);
		event.layer = stream_layer(stream, stream->pass.depth);
	}
	stream_append(stream, &event);
}

static void stream_add_failed(struct dw_memory_stream *stream, uint64_t ticks, const struct dw_record *record)
{
	struct dw_memory_event event = { .ticks = ticks, .type = DW_MEMORY_FAILED, .bytes = dw_record_u64(record, 2),
		                             .address = dw_record_u64(record, 4), .variance = dw_record_u64(record, 6),
		                             .symbol = dw_walk_symbol(&stream->pass.walk, record->payload[8]) };

	if (!stream->pass.walk.wanted || stream->pass.walk.model->symbols[event.symbol].category != DWELL_CATEGORY_ALLOCATION)
		return;
	*stream->fails = true;
	event.path = stream->finds_paths ? stream_find_path(stream) : 0;
	event.layer = stream_layer(stream, stream->pass.depth);
	stream_append(stream, &event);
}

/* A block of s bytes was sampled with the probability 1 - exp(-s / period), and stands for the inverse of that (Horvitz and
 * Thompson): sums are without bias, and the variances of all blocks add up to theirs. */
static void stream_add_heap(struct dw_memory_stream *stream, uint64_t ticks, const struct dw_record *record, bool is_free)
{
	double bytes = is_free ? 0 : (double)dw_record_u64(record, 4), stands;
	struct dw_memory_event event = { .ticks = ticks, .type = is_free ? DW_MEMORY_FREE : DW_MEMORY_ALLOC,
		                             .space = DW_MEMORY_HEAP, .address = dw_record_u64(record, 2) };

	if (!(stream->heap_period > 0) || !(is_free || (bytes > 0 && bytes < 1e15 && stream->pass.walk.wanted)))
		return;
	if (!is_free) {
		stands = bytes / -expm1(-bytes / stream->heap_period);
		event.bytes = (uint64_t)llround(stands);
		event.count = (uint32_t)llround(stands / bytes);
		event.variance = (uint64_t)llround(stands * (stands - bytes));
		event.symbol = dw_walk_symbol(&stream->pass.walk, record->payload[6]);
		event.stack = record->payload[7];
		event.thread = stream->pass.walk.thread;
		event.path = stream->finds_paths ? stream_find_path(stream) : 0;
		event.layer = stream_layer(stream, stream->pass.depth);
	}
	stream_append(stream, &event);
}

static void memory_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct dw_memory_stream *stream = state;

	switch (record->kind) {
	case DW_ALLOC: stream_add_event(stream, ticks, record, DW_MEMORY_ALLOC); break;
	case DW_FREE: stream_add_event(stream, ticks, record, DW_MEMORY_FREE); break;
	case DW_COUNTER: stream_add_reserved(stream, ticks, record); break;
	case DW_EXT:
		if (record->id == (DW_EXT_ALLOC_IS << DW_EXT_TYPE_SHIFT | DW_ALLOC_IS_WORDS))
			stream_add_event(stream, ticks, record, DW_MEMORY_SAID);
		else if (record->id == (DW_EXT_HEAP << DW_EXT_TYPE_SHIFT | DW_HEAP_WORDS) ||
		         record->id == (DW_EXT_HEAP << DW_EXT_TYPE_SHIFT | DW_HEAP_FREE_WORDS))
			stream_add_heap(stream, ticks, record, record->words == DW_HEAP_FREE_WORDS);
		else if (record->id == (DW_EXT_ALLOC_FAILED << DW_EXT_TYPE_SHIFT | DW_ALLOC_FAILED_WORDS))
			stream_add_failed(stream, ticks, record);
		break;
	default: break;
	}
}

static const struct dw_pass_hooks memory_hooks = {
	.frame_bytes = sizeof(struct dw_memory_frame), .deepest = DW_DEEPEST,
	.enter = memory_enter, .leave = memory_leave, .note = memory_note, .unnest = memory_unnest,
};
DW_PASS_DEFINE(memory, memory_hooks)

/* ---- chunks -------------------------------------------------------------------------------- */

/* Stores the open ranges at the begin of a segment: its first chunk is the next one to read. */
static void stream_set_segment(struct dw_memory_stream *stream, struct dw_segment_plan *segment)
{
	const struct dw_pass *pass = &stream->pass;

	if (stream->overlaps || !dw_segment_begin(segment, pass))
		return;
	for (uint32_t i = 0; i < pass->depth; i++) {
		const struct dw_memory_frame *frame = stream_frame_at(stream, i + 1);

		segment->open[i] = (struct dw_segment_range){ frame->frame.start, frame->id };
	}
}

bool dw_memory_stream_fill(struct dw_memory_stream *stream)
{
	while (stream->at == stream->count && stream->chunk < stream->pass.walk.stream->chunk_count) {
		if (stream->segment_count && stream->segments->segment.from == stream->chunk) {
			stream_set_segment(stream, stream->segments++);
			stream->segment_count--;
		}
		stream->at = stream->count = 0;
		memory_chunk(&stream->pass, stream->chunk++);
		stream->failed |= stream->pass.walk.failed;
		if (stream->failed)
			return false;
	}
	return stream->at < stream->count;
}

void dw_memory_stream_reset(struct dw_memory_stream *stream)
{
	dw_frames_reset(&stream->frames);
	free(stream->events);
	dw_walk_reset(&stream->pass.walk);
	stream->events = NULL;
}
