/*
 * A stream's allocations and frees, and the ranges that they happen in.
 *
 * dw_walk() goes through a whole stream at once; merging needs streams side by side,
 * so this takes them chunk by chunk with the same steps. A path is looked up when
 * something is allocated in it, not when a range begins: most ranges allocate
 * nothing. Frees carry no path, theirs is the allocation's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/memory_inside.h"

/* ---- paths --------------------------------------------------------------------------------- */

static size_t place(const struct dw_memory_paths *paths, uint32_t parent, uint32_t row)
{
	uint64_t key = ((uint64_t)parent << 32 | row) * 0x9e3779b97f4a7c15u;

	return (key ^ key >> 32) & paths->mask;
}

static bool widen(struct dw_memory_paths *paths)
{
	size_t size = paths->slots ? (paths->mask + 1) * 2 : 256;
	uint32_t *slots = calloc(size, sizeof *slots);

	if (!slots)
		return false;
	free(paths->slots);
	paths->slots = slots;
	paths->mask = size - 1;
	for (size_t i = 1; i < paths->count; i++) {
		size_t at = place(paths, paths->items[i].parent, paths->items[i].row);

		while (slots[at])
			at = (at + 1) & paths->mask;
		slots[at] = (uint32_t)i + 1;
	}
	return true;
}

/* DW_NO_INDEX when out of memory; `parent` where no more paths are kept. */
static uint32_t path_below(struct dw_memory_paths *paths, uint32_t parent,
                           const struct dw_memory_frame *frame)
{
	struct dw_memory_path *path;
	struct dw_memory_path above;
	size_t at;

	if ((!paths->slots || paths->count * 2 >= paths->mask) && !widen(paths))
		return DW_NO_INDEX;
	for (at = place(paths, parent, frame->row); paths->slots[at]; at = (at + 1) & paths->mask) {
		path = &paths->items[paths->slots[at] - 1];
		if (path->parent == parent && path->row == frame->row)
			return paths->slots[at] - 1;
	}
	above = paths->items[parent];
	if (above.depth >= DW_MEMORY_DEEPEST || paths->count >= DW_MEMORY_PATHS)
		return parent;
	path = DW_GROW(&paths->items, &paths->capacity, paths->count);
	if (!path)
		return DW_NO_INDEX;
	*path = (struct dw_memory_path){
		.parent = parent,
		.row = frame->row,
		.depth = above.depth + 1,
		.owner = frame->is_operator || !above.in_operator ? frame->row : above.owner,
		.in_operator = frame->is_operator || above.in_operator,
	};
	paths->slots[at] = (uint32_t)paths->count + 1;
	return (uint32_t)paths->count++;
}

void dw_memory_paths_reset(struct dw_memory_paths *paths)
{
	free(paths->items);
	free(paths->slots);
	memset(paths, 0, sizeof *paths);
}

/* The path of the open ranges: from the innermost whose path is known, inward. */
static uint32_t path_now(struct dw_memory_stream *stream)
{
	size_t known = stream->depth;
	uint32_t path;

	while (known && stream->frames[known - 1].path == DW_NO_INDEX)
		known--;
	path = known ? stream->frames[known - 1].path : 0;
	for (; known < stream->depth; known++) {
		struct dw_memory_frame *frame = &stream->frames[known];

		if (frame->row != DW_NO_INDEX)
			path = path_below(stream->paths, path, frame);
		if (path == DW_NO_INDEX) {
			stream->failed = true;
			return 0;
		}
		frame->path = path;
	}
	return path;
}

/* ---- roles, in the first pass --------------------------------------------------------------- */

static void meet(struct dw_memory_stream *stream, struct dw_memory_frame *frame, uint32_t row,
                 uint64_t ticks)
{
	frame->role = stream->judge->roles[row];
	stream->judge->operators |= frame->is_operator;
	if (frame->role == DW_MEMORY_IN_BACKWARD)
		frame->span = dw_memory_span_open(stream->judge, ticks, true);
}

static void leave(struct dw_memory_stream *stream, size_t at, uint64_t ticks)
{
	if (stream->frames[at].span)
		dw_memory_span_close(stream->judge, stream->frames[at].span, ticks);
}

/*
 * The range that decides about what is allocated now. In data, backward and optimizer: that
 * range, the outermost of those of its kind that lie directly in one another. Else the
 * outermost operator, within the forward if there is one.
 */
static void find_span(struct dw_memory_stream *stream, struct dw_memory_event *event)
{
	struct dw_memory_frame *outermost = NULL, *operator = NULL;

	for (size_t i = stream->depth; i-- > 0;) {
		struct dw_memory_frame *frame = &stream->frames[i];

		if (frame->role && event->role && frame->role != event->role)
			break;
		if (frame->role) {
			event->role = frame->role;
			outermost = frame;
		} else if (frame->is_operator && !event->role) {
			operator = frame;
		}
	}
	if (event->role <= DW_MEMORY_IN_FORWARD)
		outermost = operator;
	if (!outermost)
		return;
	if (!outermost->span)
		outermost->span = dw_memory_span_open(stream->judge, 0, false);
	event->span = outermost->span;
	if (event->span)
		stream->judge->spans[event->span].refs++;
	stream->failed |= stream->judge->failed;
}

/* ---- records ------------------------------------------------------------------------------- */

DW_INLINE void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct dw_memory_stream *stream = pointer;
	struct dw_op op = dw_walk_op(&stream->walk, id);
	struct dw_memory_frame *frame = NULL;

	if (stream->depth < DW_MOST_DEPTH && !stream->over)
		frame = DW_GROW(&stream->frames, &stream->frame_capacity, stream->depth);
	if (!frame) {
		stream->failed |= stream->depth < DW_MOST_DEPTH && !stream->over;
		stream->over++;
		return;
	}
	stream->depth++;
	frame->is_operator = op.kind == dw_kind_of(DWELL_CATEGORY_OPERATOR);
	/* What people name themselves is one kind; layers and functions own nothing. */
	frame->row =
		frame->is_operator || op.kind == dw_kind_of(DWELL_CATEGORY_ZONE) ? op.row : DW_NO_INDEX;
	frame->path = DW_NO_INDEX;
	if (stream->judge)
		meet(stream, frame, op.row, ticks);
}

DW_INLINE void visit_end(void *pointer, uint64_t ticks)
{
	struct dw_memory_stream *stream = pointer;

	if (stream->over)
		stream->over--;
	else if (stream->depth)
		leave(stream, --stream->depth, ticks);
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct dw_memory_stream *stream = pointer;

	stream->over = 0;
	while (stream->depth)
		leave(stream, --stream->depth, dw_time_now(&stream->walk.time));
}

static void end_of(struct dw_memory_stream *stream, uint32_t n, uint64_t ticks)
{
	size_t at;

	if (stream->over || n >= stream->depth)
		return;
	at = stream->depth - 1 - n;
	leave(stream, at, ticks);
	memmove(&stream->frames[at], &stream->frames[at + 1], n * sizeof *stream->frames);
	stream->depth--;
	for (; at < stream->depth; at++)
		stream->frames[at].path = DW_NO_INDEX; /* they lie in one range less */
}

static uint32_t symbol_of(const struct dw_memory_stream *stream, uint32_t id)
{
	return stream->symbol_by_id[id < stream->walk.op_count ? id : 0];
}

static void keep(struct dw_memory_stream *stream, uint64_t ticks, const struct dw_record *record,
                 enum dw_memory_event_type type)
{
	struct dw_memory_event *event;

	if (type == DW_MEMORY_ALLOC && !stream->walk.wanted)
		return;
	event = DW_GROW(&stream->events, &stream->capacity, stream->count);
	if (!event) {
		stream->failed = true;
		return;
	}
	stream->count++;
	event->ticks = ticks;
	event->type = (uint8_t)type;
	event->address = dw_record_u64(record, type == DW_MEMORY_SAID ? 2 : 0);
	if (type == DW_MEMORY_SAID)
		event->symbol = symbol_of(stream, record->payload[4]);
	if (type != DW_MEMORY_ALLOC)
		return;
	event->bytes = dw_record_u64(record, 2);
	event->symbol = symbol_of(stream, record->id);
	if (stream->judge)
		find_span(stream, event);
	else
		event->path = path_now(stream);
}

static __attribute__((noinline)) void visit_rest(struct dw_memory_stream *stream, uint64_t ticks,
                                                 const struct dw_record *record)
{
	if (dw_walk_break(&stream->walk, ticks, record, flush))
		return;
	switch (record->kind) {
	case DW_END_OF:
		end_of(stream, record->payload[0], ticks);
		break;
	case DW_ALLOC:
		keep(stream, ticks, record, DW_MEMORY_ALLOC);
		break;
	case DW_FREE:
		keep(stream, ticks, record, DW_MEMORY_FREE);
		break;
	case DW_EXT:
		if (record->id == (DW_EXT_ALLOC_IS << DW_EXT_TYPE_SHIFT | DW_ALLOC_IS_WORDS))
			keep(stream, ticks, record, DW_MEMORY_SAID);
		break;
	default:
		break;
	}
}

DW_INLINE void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct dw_record copy = *record; /* so that the loop's own stays in registers */

	visit_rest(pointer, ticks, &copy);
}

/* ---- chunks -------------------------------------------------------------------------------- */

/* What dw_walk() does for one chunk. */
static void walk_chunk(struct dw_memory_stream *stream, size_t index)
{
	struct dw_walk *walk = &stream->walk;
	const struct dw_source_chunk *chunk = &walk->stream->chunks[index];
	const uint32_t *words;

	if (index && chunk->gap_before)
		dw_walk_gap(walk, chunk, flush);
	if (chunk->thread != walk->thread) {
		dw_walk_end_all(walk, 0, DW_FLUSH_THREAD, flush);
		dw_walk_set_thread(walk, chunk->thread);
	}
	dw_time_set(&walk->time, chunk->base_ticks);
	words = dw_source_borrow(chunk, walk->buffer);
	walk->time.open = walk->file->named_ends ? &walk->open : NULL;
	if (words)
		dw_decode_words(words, chunk->word_count, &walk->time, stream, visit_begin, visit_end,
		                visit_other);
	else
		dw_walk_end_all(walk, 0, DW_FLUSH_GAP, flush);
}

bool dw_memory_stream_fill(struct dw_memory_stream *stream)
{
	while (stream->at == stream->count && stream->chunk < stream->walk.stream->chunk_count) {
		stream->at = stream->count = 0;
		walk_chunk(stream, stream->chunk++);
		if (stream->failed)
			return false;
	}
	return stream->at < stream->count;
}

void dw_memory_stream_reset(struct dw_memory_stream *stream)
{
	free(stream->frames);
	free(stream->events);
	dw_walk_reset(&stream->walk);
	stream->frames = NULL;
	stream->events = NULL;
}
