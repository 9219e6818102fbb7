/*
 * Threads: what each wrote, how long it was inside some range, what is missing.
 *
 * One row a thread and kind of stream (a thread's signal handlers are a track of
 * their own), in the order of threads. A stream that short threads hand on fills
 * one row after the other.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "model/walk.h"

struct context {
	struct dw_walk walk;
	struct dw_thread_row *rows; /* of this kind of stream, by thread */
	pthread_mutex_t *lock;      /* of the rows: damaged headers may share a thread */
	uint64_t depth, busy_ticks, busy_since, records_before, ranges;
	uint64_t first_ticks, last_ticks, gap_before;
	bool any;
};

struct pass {
	struct dw_model *model;
	struct dw_thread_row *rows; /* by thread, then the same for nested streams */
	void **buffers;
	pthread_mutex_t lock;
};

static void close_row(struct context *context, uint64_t ticks)
{
	struct dw_walk *walk = &context->walk;
	const struct dw_source_clock *clock = &walk->file->clock;
	struct dw_thread_row *row = &context->rows[walk->thread];
	uint64_t records = walk->time.records - context->records_before;

	if (context->depth)
		context->busy_ticks += ticks - context->busy_since;
	pthread_mutex_lock(context->lock);
	if (context->any) {
		uint64_t first_ns = dw_source_ns(clock, context->first_ticks);
		uint64_t last_ns = dw_source_ns(clock, context->last_ticks);

		row->first_ns = row->records && row->first_ns < first_ns ? row->first_ns : first_ns;
		row->last_ns = row->last_ns > last_ns ? row->last_ns : last_ns;
	}
	row->records += records;
	row->ranges += context->ranges;
	row->busy_ns += dw_source_span_ns(clock, context->busy_ticks);
	row->gap_ns += dw_source_span_ns(clock, walk->gap_ticks - context->gap_before);
	pthread_mutex_unlock(context->lock);
	context->depth = context->busy_ticks = context->ranges = 0;
	context->records_before = walk->time.records;
	context->gap_before = walk->gap_ticks;
	context->any = false;
}

DW_INLINE void note(struct context *context, uint64_t ticks)
{
	if (!context->any)
		context->first_ticks = ticks;
	context->any = true;
	context->last_ticks = ticks;
}

DW_INLINE void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;

	note(context, ticks);
	context->ranges++;
	if (!context->depth++)
		context->busy_since = ticks;
}

DW_INLINE void visit_end(void *pointer, uint64_t ticks)
{
	struct context *context = pointer;

	note(context, ticks);
	if (context->depth && !--context->depth)
		context->busy_ticks += ticks - context->busy_since;
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	if (why != DW_FLUSH_GAP) {
		close_row(context, ticks);
		return;
	}
	if (context->depth)
		context->busy_ticks += ticks - context->busy_since;
	context->depth = 0;
}

static __attribute__((noinline)) void visit_rest(struct context *context, uint64_t ticks,
                                                 const struct dw_record *record)
{
	note(context, ticks);
	if (dw_walk_break(&context->walk, ticks, record, flush))
		return;
	if (record->kind == DW_END_OF && record->payload[0] < context->depth)
		visit_end(context, ticks);
}

DW_INLINE void visit_other(void *context, uint64_t ticks, const struct dw_record *record)
{
	struct dw_record copy = *record;

	visit_rest(context, ticks, &copy);
}

static void walk_stream(void *pointer, unsigned worker, size_t at)
{
	struct pass *pass = pointer;
	struct dw_model *model = pass->model;
	size_t stream = model->stream_order[at], threads = model->source->thread_count;
	const struct dw_source_stream *from = &model->source->streams[stream];
	const struct dw_source_thread *first = &model->source->threads[from->chunks[0].thread];
	struct context context;

	if (!dw_scope_has_stream(model, from))
		return;
	memset(&context, 0, sizeof context);
	dw_walk_init(&context.walk, model, stream, pass->buffers[worker]);
	context.lock = &pass->lock;
	context.rows = pass->rows + (from->nested ? threads : 0);
	if (from->chunks[0].gap_before) { /* the beginning was recycled */
		uint64_t began = dw_source_ticks(&context.walk.file->clock, first->start_ns);

		if (from->chunks[0].base_ticks > began)
			context.walk.gap_ticks = from->chunks[0].base_ticks - began;
	}
	dw_walk(&context.walk, visit_begin, visit_end, visit_other, flush, NULL);
}

static int fill(struct dw_model *model, struct dw_threads *threads, struct pass *pass)
{
	const struct dw_source *source = model->source;

	threads->rows = dw_arena_alloc(&model->arena, (source->thread_count * 2 + 1) *
	                                                  sizeof *threads->rows);
	if (!threads->rows)
		return -1;
	for (size_t i = 0; i < source->thread_count; i++)
		for (unsigned nested = 0; nested < 2; nested++) {
			struct dw_thread_row *row = &pass->rows[i + nested * source->thread_count];

			if ((model->wanted_threads && !model->wanted_threads[i]) || (nested && !row->records))
				continue;
			row->thread = (uint32_t)i;
			row->nested = nested;
			if (!row->records)
				row->first_ns = row->last_ns = source->threads[i].start_ns;
			for (unsigned cause = 0; cause < DW_LOSS_SLOTS && !nested; cause++)
				row->lost += source->threads[i].lost[cause];
			threads->rows[threads->count++] = *row;
		}
	return 0;
}

const struct dw_threads *dw_model_threads(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	unsigned workers = dw_pool_workers(source->stream_count);
	struct dw_threads *threads;
	struct pass pass = { model, NULL, NULL, PTHREAD_MUTEX_INITIALIZER };
	bool ready;

	if (model->threads)
		return model->threads;
	threads = dw_arena_alloc(&model->arena, sizeof *threads);
	pass.rows = calloc(source->thread_count * 2 + 1, sizeof *pass.rows);
	pass.buffers = calloc(workers, sizeof *pass.buffers);
	ready = threads && pass.rows && pass.buffers;
	for (unsigned i = 0; ready && i < workers; i++)
		ready = (pass.buffers[i] = malloc(DW_BLOCK_BYTES)) != NULL;
	if (ready) {
		dw_pool_run(source->stream_count, workers, walk_stream, &pass);
		ready = fill(model, threads, &pass) == 0;
	}
	for (unsigned i = 0; pass.buffers && i < workers; i++)
		free(pass.buffers[i]);
	free(pass.buffers);
	free(pass.rows);
	if (!ready) {
		dw_model_no_memory(model, error);
		return NULL;
	}
	model->threads = threads;
	return threads;
}
