/*
 * A process's streams to the operators of each step: see sequence.h.
 *
 * The streams are read a chunk at a time, always the one that is furthest behind, and
 * operators wait in a queue a stream until all streams have passed the step's end. So
 * memory holds a step and a chunk a stream, whatever the trace's size. Only operators
 * that lie in no other are kept. Other threads' operators count when their thread is
 * known to run the backward pass of the step's thread: some operator of theirs (LINK)
 * names it as the one of its forward.
 *
 * Invariant: a step is handed on as complete only when nothing that belongs to it was
 * lost, recycled, left open or did not fit a queue.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/sequence_inside.h"
#include "model/walk.h"

#define MOST_ITEMS (1u << 20) /* waiting, of a stream */

/* What an id is, above its row: nothing, a phase (+ enum dw_sequence_phase), an operator. */
enum { IS_NOTHING, IS_OPERATOR = DW_IN_OTHER_PHASE + 1 };

struct gap {
	uint64_t from, to; /* both inclusive */
};

struct span {
	uint64_t start, duration;
};

struct all;

/* `walk` first. */
struct stream {
	struct dw_walk walk;
	struct all *all;
	const uint32_t *codes;   /* by id: row, and above it what it is */
	uint8_t *frames;         /* of open ranges, what they are */
	uint32_t depth, capacity, over;
	uint32_t op_depth;       /* of the open operator that lies in no other; 0: none */
	uint32_t op_key;
	uint64_t op_start;
	bool op_wanted;
	uint32_t phase;          /* the innermost open one */
	uint32_t forward_depth;  /* of the outermost "forward" */
	uint64_t forward_start;
	struct dw_sequence_item *items;
	size_t head, count, item_capacity;
	struct span *forwards;   /* of the step's thread */
	size_t forward_head, forward_count, forward_capacity;
	size_t next_chunk;
	bool finished;
};

struct all {
	struct dw_model *model;
	const struct dw_sequence_steps *steps;
	uint64_t from;           /* what begins before is of no step that is still to come */
	struct stream *streams;
	size_t stream_count;
	bool *linked;            /* threads, by index: backward passes of the steps' */
	struct gap *gaps;
	size_t gap_head, gap_count, gap_capacity;
	struct dw_sequence_item *merged;
	size_t merged_capacity;
	bool failed;
};

/* ---- what happens in a stream --------------------------------------------------------------- */

static bool ours(const struct stream *stream)
{
	uint32_t thread = stream->walk.thread;

	return thread == stream->all->steps->thread ||
	       (thread != DW_NO_INDEX && stream->all->linked[thread]);
}

static void add_gap(struct all *all, uint64_t from, uint64_t to)
{
	struct gap *last = all->gap_count > all->gap_head ? &all->gaps[all->gap_count - 1] : NULL;

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
	*last = (struct gap){ from, to };
	all->gap_count++;
}

static __attribute__((noinline)) bool widen(struct stream *stream)
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

static __attribute__((noinline)) bool make_room(struct stream *stream)
{
	if (stream->count >= MOST_ITEMS) {
		if (ours(stream))
			add_gap(stream->all, stream->op_start, stream->op_start);
		return false;
	}
	if (DW_GROW(&stream->items, &stream->item_capacity, stream->count))
		return true;
	stream->all->failed = true;
	return false;
}

DW_INLINE void put_item(struct stream *stream, uint64_t ticks)
{
	if (stream->op_start < stream->all->from || !stream->op_wanted)
		return;
	if (__builtin_expect(stream->count >= stream->item_capacity, 0) && !make_room(stream))
		return;
	stream->items[stream->count++] = (struct dw_sequence_item){
		stream->op_start, ticks - stream->op_start, stream->op_key, stream->walk.thread
	};
}

static void set_phase(struct stream *stream)
{
	stream->phase = DW_IN_NO_PHASE;
	for (uint32_t i = stream->depth; i > 0 && !stream->phase; i--)
		if (stream->frames[i - 1] != IS_OPERATOR)
			stream->phase = stream->frames[i - 1];
}

static void end_forward(struct stream *stream, uint64_t ticks)
{
	struct span *span;

	stream->forward_depth = 0;
	if (stream->forward_start < stream->all->from ||
	    stream->walk.thread != stream->all->steps->thread)
		return;
	if (stream->forward_count >= MOST_ITEMS)
		span = NULL;
	else
		span = DW_GROW(&stream->forwards, &stream->forward_capacity, stream->forward_count);
	if (span) {
		*span = (struct span){ stream->forward_start, ticks - stream->forward_start };
		stream->forward_count++;
	}
}

static __attribute__((noinline)) void begin_phase(struct stream *stream, uint64_t ticks,
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
	struct stream *stream = context;
	uint32_t code = stream->codes[__builtin_expect(id < stream->walk.op_count, 1) ? id : 0];
	uint32_t what = DW_SEQUENCE_PHASE(code);

	if (__builtin_expect(stream->depth >= stream->capacity, 0) &&
	    (stream->over || !widen(stream))) {
		stream->over++;
		return;
	}
	stream->frames[stream->depth++] = (uint8_t)what;
	if (what == IS_OPERATOR) {
		if (stream->op_depth)
			return;
		stream->op_depth = stream->depth;
		stream->op_key = DW_SEQUENCE_ROW(code) | stream->phase << DW_SEQUENCE_ROW_BITS;
		stream->op_start = ticks;
		stream->op_wanted = stream->walk.wanted && dw_walk_in_time(&stream->walk, ticks);
	} else if (__builtin_expect(what != IS_NOTHING, 0)) {
		begin_phase(stream, ticks, what);
	}
}

static __attribute__((noinline)) void end_phase(struct stream *stream, uint64_t ticks)
{
	set_phase(stream);
	if (stream->forward_depth == stream->depth + 1)
		end_forward(stream, ticks);
}

DW_INLINE void visit_end(void *context, uint64_t ticks)
{
	struct stream *stream = context;
	uint32_t what;

	if (__builtin_expect(!stream->depth || stream->over, 0)) {
		stream->over -= stream->over > 0;
		return;
	}
	what = stream->frames[--stream->depth];
	if (stream->op_depth > stream->depth) {
		put_item(stream, ticks);
		stream->op_depth = 0;
	} else if (__builtin_expect(what != IS_NOTHING && what != IS_OPERATOR, 0)) {
		end_phase(stream, ticks);
	}
}

/* Takes the n-th frame out of the middle. */
static void end_of(struct stream *stream, uint64_t ticks, uint32_t n)
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
	struct stream *stream = context;

	if (stream->op_depth && ours(stream))
		add_gap(stream->all, stream->op_start, ticks);
	if (why == DW_FLUSH_GAP && ours(stream))
		add_gap(stream->all, ticks, ticks);
	stream->depth = stream->over = stream->op_depth = stream->forward_depth = 0;
	stream->phase = DW_IN_NO_PHASE;
}

static void take_link(struct stream *stream, const struct dw_record *record)
{
	uint32_t id = record->payload[2], thread = stream->walk.thread;
	const struct dw_source_file *file = stream->walk.file;

	if (id && id < file->symbol_count && thread != DW_NO_INDEX &&
	    file->thread_by_id[id] == stream->all->steps->thread)
		stream->all->linked[thread] = true;
}

static __attribute__((noinline)) void visit_rest(struct stream *stream, uint64_t ticks,
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
	struct stream *stream = context;

	if (stream->op_depth)
		return false;
	flush(stream, dw_time_now(&stream->walk.time), DW_FLUSH_END);
	return true;
}

/* ---- chunk after chunk --------------------------------------------------------------------------- */

/* What was handed on makes room. */
static void compact(struct stream *stream)
{
	stream->count -= stream->head;
	memmove(stream->items, stream->items + stream->head, stream->count * sizeof *stream->items);
	stream->head = 0;
	stream->forward_count -= stream->forward_head;
	memmove(stream->forwards, stream->forwards + stream->forward_head,
	        stream->forward_count * sizeof *stream->forwards);
	stream->forward_head = 0;
}

static void advance(struct stream *stream)
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
	if (chunk->gap_before && (stream->next_chunk ? ours(stream)
	                                             : chunk->thread == stream->all->steps->thread))
		add_gap(stream->all, now, chunk->base_ticks);
	dw_walk_chunk(walk, stream->next_chunk++, visit_begin, visit_end, visit_other, flush, may_skip);
}

static struct stream *furthest_behind(struct all *all)
{
	struct stream *behind = NULL;

	for (size_t i = 0; i < all->stream_count; i++) {
		struct stream *stream = &all->streams[i];

		if (!stream->finished && (!behind || dw_time_now(&stream->walk.time) <
		                                         dw_time_now(&behind->walk.time)))
			behind = stream;
	}
	return behind;
}

static bool has_passed(const struct stream *stream, uint64_t ticks)
{
	if (stream->finished)
		return true;
	if (dw_time_now(&stream->walk.time) < ticks)
		return false;
	return !stream->op_depth || stream->op_start >= ticks || !ours(stream);
}

/* ---- a step's operators ----------------------------------------------------------------------------- */

/* Those of the stream that begin before `ticks` and count; *count of them. */
static const struct dw_sequence_item *take_items(struct stream *stream,
                                                 const struct dw_sequence_step *step,
                                                 size_t *count)
{
	const struct all *all = stream->all;
	size_t from = stream->head, to;

	while (from < stream->count && stream->items[from].start < step->start_ticks)
		from++;
	to = from;
	while (to < stream->count && stream->items[to].start < step->end_ticks)
		to++;
	stream->head = to;
	*count = to - from;
	if (*count && stream->items[from].thread != all->steps->thread &&
	    !all->linked[stream->items[from].thread])
		*count = 0;
	return stream->items + from;
}

static int compare_starts(const void *left, const void *right)
{
	const struct dw_sequence_item *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Operators of a backward thread know no phase, for it is another thread that marks it. */
static void append(struct all *all, size_t *count, const struct dw_sequence_item *items,
                   size_t added)
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

/* One stream's are handed on where they lie; those of several are put in order. */
static const struct dw_sequence_item *gather(struct all *all, const struct dw_sequence_step *step,
                                             size_t *result)
{
	const struct dw_sequence_item *first = NULL;
	size_t first_count = 0, merged = 0;

	for (size_t i = 0; i < all->stream_count; i++) {
		size_t count;
		const struct dw_sequence_item *items = take_items(&all->streams[i], step, &count);

		if (!count)
			continue;
		if (!first && items->thread == all->steps->thread) {
			first = items;
			first_count = count;
			continue;
		}
		append(all, &merged, items, count);
	}
	*result = first_count;
	if (!merged)
		return first;
	append(all, &merged, first, first_count);
	qsort(all->merged, merged, sizeof *all->merged, compare_starts);
	*result = merged;
	return all->merged;
}

static uint64_t take_forward(struct stream *stream, const struct dw_sequence_step *step, bool *has)
{
	uint64_t ticks = 0;

	for (; stream->forward_head < stream->forward_count; stream->forward_head++) {
		const struct span *span = &stream->forwards[stream->forward_head];

		if (span->start >= step->end_ticks)
			break;
		if (span->start >= step->start_ticks) {
			ticks += span->duration;
			*has = true;
		}
	}
	return ticks;
}

static bool is_whole(struct all *all, const struct dw_sequence_step *step)
{
	while (all->gap_head < all->gap_count && all->gaps[all->gap_head].to < step->start_ticks)
		all->gap_head++;
	for (size_t i = all->gap_head; i < all->gap_count; i++)
		if (all->gaps[i].from < step->end_ticks && all->gaps[i].to >= step->start_ticks)
			return false;
	return true;
}

static int hand_on(struct all *all, struct dw_sequence_step step, dw_sequence_each *each,
                   void *context)
{
	size_t count;
	const struct dw_sequence_item *items = gather(all, &step, &count);

	for (size_t i = 0; i < all->stream_count; i++)
		step.forward_ticks += take_forward(&all->streams[i], &step, &step.has_forward);
	for (size_t i = 0; i < count && !step.has_backward; i++)
		step.has_backward = items[i].thread == all->steps->thread &&
		                    DW_SEQUENCE_PHASE(items[i].key) == DW_IN_BACKWARD;
	step.complete = is_whole(all, &step);
	return all->failed ? -1 : each(context, &step, items, count);
}

/* ---- the walk ------------------------------------------------------------------------------------------- */

static uint32_t what_is(const struct dw_symbol *symbol)
{
	if (symbol->category == DWELL_CATEGORY_OPERATOR ||
	    symbol->category == DWELL_CATEGORY_COMMUNICATION)
		return IS_OPERATOR;
	switch (dw_share_of(symbol)) {
	case DW_SHARE_FORWARD: return DW_IN_FORWARD;
	case DW_SHARE_BACKWARD: return DW_IN_BACKWARD;
	case DW_SHARE_OPTIMIZER:
	case DW_SHARE_EVALUATION: return DW_IN_OTHER_PHASE;
	default: return IS_NOTHING;
	}
}

/* Of the process's file, by id. */
static uint32_t *make_codes(const struct dw_model *model, uint32_t file)
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

static int open_streams(struct all *all, const uint32_t *codes, void *buffer)
{
	const struct dw_source *source = all->model->source;

	all->streams = calloc(source->stream_count + 1, sizeof *all->streams);
	for (size_t i = 0; all->streams && i < source->stream_count; i++) {
		struct stream *stream = &all->streams[all->stream_count];

		if (source->streams[i].process != all->steps->process || source->streams[i].nested ||
		    !dw_scope_has_stream(all->model, &source->streams[i]))
			continue;
		dw_walk_init(&stream->walk, all->model, i, buffer);
		stream->all = all;
		stream->codes = codes;
		all->stream_count++;
	}
	return all->streams ? 0 : -1;
}

static int walk_steps(struct all *all, dw_sequence_each *each, void *context)
{
	int code = 0;

	for (size_t i = 0; i < all->steps->count && !code; i++) {
		const struct dw_sequence_step *step = &all->steps->steps[i];
		bool ready = false;

		all->from = step->start_ticks;
		while (!ready && !all->failed) {
			ready = true;
			for (size_t s = 0; s < all->stream_count && ready; s++)
				ready = has_passed(&all->streams[s], step->end_ticks);
			if (!ready)
				advance(furthest_behind(all));
		}
		code = hand_on(all, *step, each, context);
	}
	return code;
}

int dw_sequence_walk(struct dw_model *model, const struct dw_sequence_steps *steps,
                     dw_sequence_each *each, void *context)
{
	struct all all = { .model = model, .steps = steps };
	uint32_t file = model->source->processes[steps->process].file;
	uint32_t *codes = make_codes(model, file);
	void *buffer = malloc(DW_BLOCK_BYTES);
	int code = -1;

	all.linked = calloc(model->source->thread_count + 1, sizeof *all.linked);
	if (codes && buffer && all.linked && open_streams(&all, codes, buffer) == 0)
		code = walk_steps(&all, each, context);
	for (size_t i = 0; i < all.stream_count; i++) {
		free(all.streams[i].frames);
		free(all.streams[i].items);
		free(all.streams[i].forwards);
	}
	free(all.streams);
	free(all.linked);
	free(all.gaps);
	free(all.merged);
	free(codes);
	free(buffer);
	return code;
}
