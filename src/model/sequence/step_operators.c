/*
 * A process's streams to the operators of each step: see sequence.h.
 *
 * The streams are read a chunk at a time, always the one that is furthest behind, and
 * operators wait in a queue a stream until all streams have passed the step's end. So
 * memory holds a step and a chunk a stream, whatever the trace's size. Other threads'
 * operators count when their thread is known to run the backward pass of the step's
 * thread: some operator of theirs (LINK) names it as the one of its forward.
 *
 * Invariant: a step is handed on as complete only when nothing that belongs to it was
 * lost, recycled, left open or did not fit a queue.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "model/sequence/stream.h"

static struct dw_sequence_stream *furthest_behind(struct dw_sequence_streams *all)
{
	struct dw_sequence_stream *behind = NULL;

	for (size_t i = 0; i < all->stream_count; i++) {
		struct dw_sequence_stream *stream = &all->streams[i];

		if (!stream->finished && (!behind || dw_time_now(&stream->pass.walk.time) <
		                                         dw_time_now(&behind->pass.walk.time)))
			behind = stream;
	}
	return behind;
}

static bool has_passed(const struct dw_sequence_stream *stream, uint64_t ticks)
{
	if (stream->finished)
		return true;
	if (dw_time_now(&stream->pass.walk.time) < ticks)
		return false;
	return !stream->op_open || stream->op_start >= ticks || !dw_sequence_stream_is_ours(stream);
}

/* ---- a step's operators -------------------------------------------------------------- */

/* Those of the stream that begin before `ticks` and count; *count of them. */
static const struct dw_sequence_item *take_items(struct dw_sequence_stream *stream,
                                                 const struct dw_sequence_step *step,
                                                 size_t *count)
{
	const struct dw_sequence_streams *all = stream->all;
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
	return *count ? stream->items + from : NULL;
}

static int compare_starts(const void *left, const void *right)
{
	const struct dw_sequence_item *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Operators of a backward thread know no phase, for it is another thread that marks it. */
static void append(struct dw_sequence_streams *all, size_t *count,
                   const struct dw_sequence_item *items, size_t added)
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
static const struct dw_sequence_item *gather(struct dw_sequence_streams *all,
                                             const struct dw_sequence_step *step, size_t *result)
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

static uint64_t take_forward(struct dw_sequence_stream *stream,
                             const struct dw_sequence_step *step, bool *has)
{
	uint64_t ticks = 0;

	for (; stream->forward_head < stream->forward_count; stream->forward_head++) {
		const struct dw_sequence_span *span = &stream->forwards[stream->forward_head];

		if (span->start >= step->end_ticks)
			break;
		if (span->start >= step->start_ticks) {
			ticks += span->duration;
			*has = true;
		}
	}
	return ticks;
}

static bool is_whole(struct dw_sequence_streams *all, const struct dw_sequence_step *step)
{
	while (all->gap_head < all->gap_count && all->gaps[all->gap_head].to < step->start_ticks)
		all->gap_head++;
	for (size_t i = all->gap_head; i < all->gap_count; i++)
		if (all->gaps[i].from < step->end_ticks && all->gaps[i].to >= step->start_ticks)
			return false;
	return true;
}

static int hand_on(struct dw_sequence_streams *all, struct dw_sequence_step step,
                   dw_sequence_each *each, void *context)
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

/* ---- the walk ------------------------------------------------------------------------ */

static int open_streams(struct dw_sequence_streams *all, const uint32_t *codes, void *buffer)
{
	const struct dw_source *source = all->model->source;

	all->streams = calloc(source->stream_count + 1, sizeof *all->streams);
	for (size_t i = 0; all->streams && i < source->stream_count; i++) {
		struct dw_sequence_stream *stream = &all->streams[all->stream_count];

		if (source->streams[i].process != all->steps->process || source->streams[i].nested ||
		    !dw_scope_has_stream(all->model, &source->streams[i]))
			continue;
		dw_pass_init(&stream->pass, all->model, i, &stream->frames, buffer);
		stream->all = all;
		stream->codes = codes;
		all->stream_count++;
	}
	return all->streams ? 0 : -1;
}

static int walk_steps(struct dw_sequence_streams *all, dw_sequence_each *each, void *context)
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
				dw_sequence_stream_advance(furthest_behind(all));
		}
		code = hand_on(all, *step, each, context);
	}
	return code;
}

int dw_sequence_walk(struct dw_model *model, const struct dw_sequence_steps *steps,
                     dw_sequence_each *each, void *context)
{
	struct dw_sequence_streams all = { .model = model, .steps = steps };
	uint32_t file = model->source->processes[steps->process].file;
	uint32_t *codes = dw_sequence_codes(model, file);
	void *buffer = malloc(DW_BLOCK_BYTES);
	int code = -1;

	all.linked = calloc(model->source->thread_count + 1, sizeof *all.linked);
	if (codes && buffer && all.linked && open_streams(&all, codes, buffer) == 0)
		code = walk_steps(&all, each, context);
	for (size_t i = 0; i < all.stream_count; i++) {
		dw_walk_reset(&all.streams[i].pass.walk);
		dw_frames_reset(&all.streams[i].frames);
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
