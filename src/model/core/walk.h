/*
 * Walks one stream's records in order, with gaps and thread switches between them.
 *
 * For the products. dw_walk_chunk() decodes a stream's chunks one after the other and calls a product's
 * visitors, which are inlined (see format/decode.h). Some events between records end all open
 * ranges: a gap of recycled chunks, a thread that hands the stream on, the end of the data. For
 * these it calls `flush`. A product's `other` must pass its records to dw_walk_break().
 *
 * Invariant: the time passed to visitors and to flush never runs backward.
 */
#pragma once

#include "format/decode.h"
#include "model/core/model_data.h"

enum dw_flush {
	DW_FLUSH_GAP,    /* records are missing: the ends of open ranges may be lost */
	DW_FLUSH_THREAD, /* the thread ended with ranges open */
	DW_FLUSH_END,    /* the process ended, or is still running */
};

/* Memory that a walk of a stream leaves to the next one. All zero is empty. */
struct dw_frames {
	void *at;          /* the stack of open ranges (pass.h): capacity + 1 frames; the last one is used
	                    * to move a frame */
	uint32_t capacity; /* places are 0..capacity - 1 */
	void *copy;        /* of a chunk of a live file, DW_BLOCK_BYTES; NULL: there was none yet */
};

/* The first member of a product's context for a stream. */
struct dw_walk {
	const struct dw_model *model;
	const struct dw_source_stream *stream;
	const struct dw_source_file *file;
	const struct dw_op *ops;    /* by id */
	const uint32_t *symbol_by_id; /* merged symbol of each id */
	uint32_t op_count;
	uint32_t thread;            /* index of the current writer */
	bool wanted;                /* that thread is in scope */
	const struct dw_interval *interval; /* contains the current time or is the next one; NULL:
	                                     * all times are in scope */
	struct dw_decode_time time;
	struct dw_decode_open open;
	uint64_t end_ticks;         /* open ranges last until then */
	uint64_t gap_ticks;         /* recycled time so far */
	struct dw_frames *memory;   /* owned by the caller */
	bool failed;                /* memory ran out */
};

typedef void dw_walk_flush(void *context, uint64_t ticks, enum dw_flush why);

static inline void dw_walk_init(struct dw_walk *walk, const struct dw_model *model, size_t stream,
                                struct dw_frames *memory)
{
	const struct dw_source *source = model->source;
	const struct dw_source_stream *from = &source->streams[stream];
	const struct dw_source_file *file = &source->files[from->file];

	*walk = (struct dw_walk){ .model = model, .stream = from, .file = file, .ops = model->ops[from->file],
		.symbol_by_id = model->symbol_by_id[from->file], .op_count = file->symbol_count, .thread = DW_NO_INDEX,
		.interval = model->intervals ? model->intervals[from->process] : NULL,
		.end_ticks = dw_source_ticks(&file->clock, source->processes[from->process].end_ns), .memory = memory };
}

DW_INLINE struct dw_op dw_walk_op(const struct dw_walk *walk, uint32_t id)
{
	/* id 0 is never allocated; its row is "(unknown)" */
	return walk->ops[__builtin_expect(id < walk->op_count, 1) ? id : 0];
}

/* The merged symbol of an id. */
DW_INLINE uint32_t dw_walk_symbol(const struct dw_walk *walk, uint32_t id)
{
	return walk->symbol_by_id[__builtin_expect(id < walk->op_count, 1) ? id : 0];
}

/* Whether `ticks` is in scope. Times must not run backward. */
DW_INLINE bool dw_walk_in_time(struct dw_walk *walk, uint64_t ticks)
{
	if (!walk->interval)
		return true;
	while (ticks >= walk->interval->end_ticks && walk->interval->start_ticks != UINT64_MAX)
		walk->interval++;
	return ticks >= walk->interval->start_ticks;
}

DW_INLINE void dw_walk_set_thread(struct dw_walk *walk, uint32_t thread)
{
	walk->thread = thread;
	walk->wanted = !walk->model->wanted_threads || walk->model->wanted_threads[thread];
	if (walk->model->thread_intervals)
		walk->interval = walk->model->thread_intervals[thread];
}

/* Ends all open ranges, in the decoder (for ends that name their range) and in the product. */
DW_INLINE void dw_walk_end_all(struct dw_walk *walk, uint64_t ticks, enum dw_flush why, dw_walk_flush *flush)
{
	if (why == DW_FLUSH_GAP)
		__atomic_store_n(&walk->model->whole->met_gap, true, __ATOMIC_RELAXED);
	dw_decode_end_all(&walk->time);
	flush(walk, ticks, why);
}

/* Handles a DW_THREAD record: another thread writes the stream from here on. */
DW_INLINE void dw_walk_thread(struct dw_walk *walk, uint64_t ticks, uint32_t id, dw_walk_flush *flush)
{
	uint32_t thread = id < walk->file->symbol_count ? walk->file->thread_by_id[id] : DW_NO_INDEX;

	if (thread == DW_NO_INDEX || thread == walk->thread)
		return;
	dw_walk_end_all(walk, ticks, DW_FLUSH_THREAD, flush);
	dw_walk_set_thread(walk, thread);
}

/* Handles a record that ends all open ranges: the thread has changed, or records were lost here,
 * which may include ends. False: it is another kind of record. */
DW_INLINE bool dw_walk_break(struct dw_walk *walk, uint64_t ticks, const struct dw_record *record, dw_walk_flush *flush)
{
	if (record->kind == DW_THREAD)
		dw_walk_thread(walk, ticks, record->id, flush);
	else if (record->kind == DW_LOSS)
		dw_walk_end_all(walk, ticks, DW_FLUSH_GAP, flush);
	else
		return false;
	return true;
}

DW_INLINE void dw_walk_gap(struct dw_walk *walk, const struct dw_source_chunk *chunk, dw_walk_flush *flush)
{
	uint64_t now = dw_time_now(&walk->time);

	dw_walk_end_all(walk, now, DW_FLUSH_GAP, flush);
	if (walk->time.ticks && chunk->base_ticks > now)
		walk->gap_ticks += chunk->base_ticks - now;
}

/* Frees the walk's memory; dw_walk_finish() does this. */
static inline void dw_walk_reset(struct dw_walk *walk)
{
	free(walk->open.ids);
	walk->open = (struct dw_decode_open){ 0 };
}

/* Counts a visit of a chunk, if a test has asked for it. Several workers may call it. */
static inline void dw_walk_count_visit(const struct dw_walk *walk, size_t chunk)
{
	uint32_t **visits = walk->model->whole->visits;

	if (__builtin_expect(visits != NULL, 0))
		__atomic_add_fetch(&visits[walk->stream - walk->model->source->streams][chunk], 1, __ATOMIC_RELAXED);
}

/* Makes space for the copy of a chunk of a live file. False: out of memory. */
static __attribute__((noinline, unused)) bool dw_walk_can_copy(struct dw_walk *walk)
{
	if (!walk->memory->copy)
		walk->memory->copy = malloc(DW_BLOCK_BYTES);
	walk->failed |= !walk->memory->copy;
	return !walk->failed;
}

/* Whether no thread has times in the chunk, which may go to another thread with times of its own. */
DW_INLINE bool dw_walk_is_outside(const struct dw_walk *walk, const struct dw_source_chunk *chunk)
{
	const struct dw_model *model = walk->model;
	const struct dw_interval *at = model->thread_intervals ? model->intervals[walk->stream->process] : NULL;

	for (; at && at->start_ticks != UINT64_MAX; at++)
		if (chunk->base_ticks < at->end_ticks && chunk->end_ticks >= at->start_ticks)
			return false;
	return true;
}

/*
 * Visits the stream's i-th chunk; chunks are visited in order. `skip` is called if nothing in the
 * chunk begins in scope, and returns whether the chunk may be skipped. NULL: no chunk is skipped.
 */
DW_INLINE void dw_walk_chunk(struct dw_walk *walk, size_t i, dw_visit_begin *begin,
                             dw_visit_end *end, dw_visit_other *other, dw_visit_over *over, dw_visit_burst *burst, dw_walk_flush *flush,
                             bool (*skip)(void *))
{
	const struct dw_source_chunk *chunk = &walk->stream->chunks[i];
	const uint32_t *words;

	if (i && chunk->gap_before)
		dw_walk_gap(walk, chunk, flush);
	if (chunk->thread != walk->thread) {
		if (walk->thread != DW_NO_INDEX)
			dw_walk_end_all(walk, dw_time_now(&walk->time), DW_FLUSH_THREAD, flush);
		dw_walk_set_thread(walk, chunk->thread);
	}
	dw_time_set(&walk->time, chunk->base_ticks);
	if (skip && walk->interval && !dw_walk_in_time(walk, dw_time_now(&walk->time)) &&
	    chunk->end_ticks < walk->interval->start_ticks && dw_walk_is_outside(walk, chunk) && skip(walk)) {
		if (chunk->end_ticks > walk->time.ticks)
			dw_time_set(&walk->time, chunk->end_ticks);
		dw_decode_end_all(&walk->time); /* skip() has ended all open ranges of the product */
		return;
	}
	if (__builtin_expect(i % DW_SOURCE_RELEASE_CHUNKS == 0 && i && walk->file->large, 0))
		dw_source_release_chunks(walk->stream, i - DW_SOURCE_RELEASE_CHUNKS, i);
	words = !dw_source_needs_buffer(chunk) || dw_walk_can_copy(walk)
	            ? dw_source_borrow(chunk, walk->memory->copy) : NULL;
	if (!words) {
		dw_walk_end_all(walk, dw_time_now(&walk->time), DW_FLUSH_GAP, flush);
		return;
	}
	dw_walk_count_visit(walk, i);
	walk->time.open = walk->file->named_ends ? &walk->open : NULL;
	dw_decode_words_over(words, chunk->word_count, &walk->time, walk, begin, end, other, over, burst);
}

/* To be called after the last chunk. */
DW_INLINE void dw_walk_finish(struct dw_walk *walk, dw_walk_flush *flush)
{
	uint64_t now = dw_time_now(&walk->time);
	size_t chunks = walk->stream->chunk_count;

	if (walk->file->large)
		dw_source_release_chunks(walk->stream, chunks - chunks % DW_SOURCE_RELEASE_CHUNKS, chunks);
	dw_walk_reset(walk);
	flush(walk, now > walk->end_ticks ? now : walk->end_ticks, DW_FLUSH_END);
}
