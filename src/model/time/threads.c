/*
 * Threads: what each wrote, how long it was inside some range, what is missing.
 *
 * One row a thread and kind of stream (a thread's signal handlers are a track of
 * their own), in the order of threads. A stream that short threads hand on fills
 * one row after the other.
 *
 * Missing times are those in which a thread may have written records that the trace
 * does not hold: chunks were recycled, a LOSS record says so, or the thread lost
 * records until its end because there was no space.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/pool.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/core/walk.h"
#include "model/time/threads.h"

/* A time in which records of a thread are missing. */
struct hole {
	uint32_t thread;
	uint64_t start_ticks, end_ticks;
};

struct pass {
	struct dw_model *model;
	struct dw_thread_row *rows; /* by thread, then the same for nested streams */
	struct hole *holes;
	size_t hole_count, hole_capacity;
	uint64_t *losses;           /* by thread: records that its LOSS records count */
	uint64_t *last_ticks;       /* by thread: its last record */
	uint64_t *covered_ticks;    /* by thread: until when ranges last that did not end */
	void **buffers;
	pthread_mutex_t lock;       /* of all but `buffers`: damaged headers may share a thread */
	bool failed;
};

struct context {
	struct dw_walk walk;
	struct pass *pass;
	struct dw_thread_row *rows; /* of this kind of stream, by thread */
	uint64_t depth, busy_ticks, busy_since, records, ranges;
	uint64_t first_ticks, last_ticks, gap_before;
	uint64_t hole_start;        /* records after this time are missing; see in_hole */
	bool any, in_hole;
	bool covered;               /* with in_hole: a range lasts until the next record */
};

/* ---- what is missing -------------------------------------------------------------------- */

static void add_hole(struct context *context, uint64_t start_ticks, uint64_t end_ticks)
{
	struct pass *pass = context->pass;
	struct hole *hole;

	if (start_ticks >= end_ticks || context->walk.thread == DW_NO_INDEX)
		return;
	pthread_mutex_lock(&pass->lock);
	if (!context->covered)
		context->rows[context->walk.thread].missing_ns +=
		    dw_source_span_ns(&context->walk.file->clock, end_ticks - start_ticks);
	hole = DW_GROW(&pass->holes, &pass->hole_capacity, pass->hole_count);
	if (hole) {
		*hole = (struct hole){ context->walk.thread, start_ticks, end_ticks };
		pass->hole_count++;
	}
	pass->failed |= !hole;
	pthread_mutex_unlock(&pass->lock);
}

/* ---- a stream --------------------------------------------------------------------------- */

static void close_row(struct context *context, uint64_t ticks)
{
	struct dw_walk *walk = &context->walk;
	const struct dw_source_clock *clock = &walk->file->clock;
	struct dw_thread_row *row = &context->rows[walk->thread];

	if (context->depth)
		context->busy_ticks += ticks - context->busy_since;
	if (context->in_hole)
		add_hole(context, context->hole_start, ticks);
	context->in_hole = false;
	pthread_mutex_lock(&context->pass->lock);
	if (context->any) {
		uint64_t *last = &context->pass->last_ticks[walk->thread];

		*last = *last > context->last_ticks ? *last : context->last_ticks;
	}
	if (context->depth)
		context->pass->covered_ticks[walk->thread] = ticks;
	if (context->any) {
		uint64_t first_ns = dw_source_ns(clock, context->first_ticks);
		uint64_t last_ns = dw_source_ns(clock, context->last_ticks);

		row->first_ns = row->records && row->first_ns < first_ns ? row->first_ns : first_ns;
		row->last_ns = row->last_ns > last_ns ? row->last_ns : last_ns;
	}
	row->records += context->records;
	row->ranges += context->ranges;
	row->busy_ns += dw_source_span_ns(clock, context->busy_ticks);
	row->gap_ns += dw_source_span_ns(clock, walk->gap_ticks - context->gap_before);
	pthread_mutex_unlock(&context->pass->lock);
	context->depth = context->busy_ticks = context->ranges = context->records = 0;
	context->gap_before = walk->gap_ticks;
	context->any = false;
}

/* At the first record after missing ones. */
static __attribute__((noinline)) void end_hole(struct context *context, uint64_t ticks)
{
	context->in_hole = false;
	add_hole(context, context->hole_start, ticks);
}

DW_INLINE void note(struct context *context, uint64_t ticks)
{
	if (__builtin_expect(context->in_hole, 0))
		end_hole(context, ticks);
	if (!context->any)
		context->first_ticks = ticks;
	context->any = true;
	context->records++;
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
	if (!context->in_hole)
		context->hole_start = context->any ? context->last_ticks : ticks;
	context->in_hole = true;
	context->covered = context->depth && ticks > context->hole_start;
	context->depth = 0;
}

static __attribute__((noinline)) void visit_rest(struct context *context, uint64_t ticks,
                                                 const struct dw_record *record)
{
	struct pass *pass = context->pass;

	if (record->kind == DW_THREAD) {
		/* The record that hands the stream on is the first one of the next thread. */
		dw_walk_break(&context->walk, ticks, record, flush);
		note(context, ticks);
		return;
	}
	if (dw_walk_break(&context->walk, ticks, record, flush)) {
		if (record->kind == DW_LOSS && context->walk.thread != DW_NO_INDEX) {
			pthread_mutex_lock(&pass->lock);
			pass->losses[context->walk.thread] += dw_record_u64(record, 0);
			pthread_mutex_unlock(&pass->lock);
		}
		note(context, ticks);
		return;
	}
	note(context, ticks);
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
	context.pass = pass;
	context.rows = pass->rows + (from->nested ? threads : 0);
	if (from->chunks[0].gap_before) { /* the beginning was recycled */
		uint64_t began = dw_source_ticks(&context.walk.file->clock, first->start_ns);

		if (from->chunks[0].base_ticks > began) {
			context.walk.gap_ticks = from->chunks[0].base_ticks - began;
			context.hole_start = began;
			context.in_hole = true;
		}
	}
	dw_walk(&context.walk, visit_begin, visit_end, visit_other, flush, NULL);
}

/* Whether the thread lost records after its last one, until its end. Records that it lost
 * before are in its LOSS records; those of causes that refuse no space leave none. */
static bool ends_in_hole(const struct pass *pass, uint32_t thread)
{
	const struct dw_source *source = pass->model->source;
	const struct dw_source_thread *from = &source->threads[thread];
	uint64_t refused = from->lost[DW_LOSS_FULL] + from->lost[DW_LOSS_DISK] +
	                   from->lost[DW_LOSS_LIMIT] + from->lost[DW_LOSS_MEMORY];

	return refused > pass->losses[thread];
}

/* Where a copy of a file was cut off nobody knows what any of its threads wrote then. */
static int add_ends(struct pass *pass)
{
	const struct dw_source *source = pass->model->source;

	for (uint32_t i = 0; i < source->thread_count; i++) {
		const struct dw_source_process *process = &source->processes[source->threads[i].process];
		const struct dw_source_clock *clock = &source->files[process->file].clock;
		const struct dw_source_file *file = &source->files[process->file];
		bool cut = (file->torn || file->missing_bytes) && !source->live;
		uint64_t start_ticks = pass->last_ticks[i], end_ticks;
		struct hole *hole;

		if ((pass->model->wanted_threads && !pass->model->wanted_threads[i]) ||
		    (!cut && !ends_in_hole(pass, i)))
			continue;
		if (!start_ticks)
			start_ticks = dw_source_ticks(clock, source->threads[i].start_ns);
		/* Of a process that could write no more nobody knows when it ended. */
		end_ticks = dw_source_ticks(clock, source->end_ns);
		if (start_ticks >= end_ticks)
			continue;
		hole = DW_GROW(&pass->holes, &pass->hole_capacity, pass->hole_count);
		if (!hole)
			return -1;
		*hole = (struct hole){ i, start_ticks, end_ticks };
		pass->hole_count++;
		if (pass->covered_ticks[i] > start_ticks)
			start_ticks = pass->covered_ticks[i];
		if (start_ticks < end_ticks)
			pass->rows[i].missing_ns += dw_source_span_ns(clock, end_ticks - start_ticks);
	}
	return 0;
}

static int compare_holes(const void *left, const void *right)
{
	const struct hole *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->start_ticks > b->start_ticks) - (a->start_ticks < b->start_ticks);
}

/* The holes as lists of times, by thread and by process. */
static int fill_missing(struct dw_model *model, struct dw_threads *threads, struct pass *pass)
{
	static const struct dw_interval none = { UINT64_MAX, UINT64_MAX };
	const struct dw_source *source = model->source;
	struct dw_interval *times;
	size_t at = 0;

	threads->missing = dw_arena_alloc(&model->arena, (source->thread_count + 1) *
	                                                     sizeof *threads->missing);
	threads->process_missing = dw_arena_alloc(&model->arena, (source->process_count + 1) *
	                                                             sizeof *threads->process_missing);
	times = dw_arena_alloc(&model->arena,
	                       (2 * pass->hole_count + source->thread_count + source->process_count + 1) *
	                           sizeof *times);
	if (!threads->missing || !threads->process_missing || !times)
		return -1;
	if (pass->hole_count)
		qsort(pass->holes, pass->hole_count, sizeof *pass->holes, compare_holes);
	for (uint32_t i = 0; i < source->thread_count; i++) {
		size_t count = 0;

		threads->missing[i] = &none;
		for (; at < pass->hole_count && pass->holes[at].thread == i; at++)
			times[count++] = (struct dw_interval){ pass->holes[at].start_ticks,
				                                   pass->holes[at].end_ticks };
		if (!count)
			continue;
		threads->missing[i] = times;
		count = dw_intervals_unite(times, count);
		times[count] = none;
		times += count + 1;
	}
	for (uint32_t p = 0; p < source->process_count; p++) {
		size_t count = 0;

		threads->process_missing[p] = &none;
		for (size_t h = 0; h < pass->hole_count; h++)
			if (source->threads[pass->holes[h].thread].process == p)
				times[count++] = (struct dw_interval){ pass->holes[h].start_ticks,
					                                   pass->holes[h].end_ticks };
		if (!count)
			continue;
		threads->process_missing[p] = times;
		count = dw_intervals_unite(times, count);
		times[count] = none;
		times += count + 1;
	}
	return 0;
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

static bool threads_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_source *source = model->source;
	unsigned workers = dw_pool_workers(source->stream_count);
	struct dw_threads *threads = result;
	struct pass pass = { .model = model, .lock = PTHREAD_MUTEX_INITIALIZER };
	bool ready;

	pass.rows = calloc(source->thread_count * 2 + 1, sizeof *pass.rows);
	pass.buffers = calloc(workers, sizeof *pass.buffers);
	pass.losses = calloc(source->thread_count + 1, sizeof *pass.losses);
	pass.last_ticks = calloc(source->thread_count + 1, sizeof *pass.last_ticks);
	pass.covered_ticks = calloc(source->thread_count + 1, sizeof *pass.covered_ticks);
	ready = pass.rows && pass.buffers && pass.losses && pass.last_ticks &&
	        pass.covered_ticks;
	for (unsigned i = 0; ready && i < workers; i++)
		ready = (pass.buffers[i] = malloc(DW_BLOCK_BYTES)) != NULL;
	if (ready) {
		dw_pool_run(source->stream_count, workers, walk_stream, &pass);
		ready = !pass.failed && add_ends(&pass) == 0 &&
		        fill_missing(model, threads, &pass) == 0 && fill(model, threads, &pass) == 0;
	}
	for (unsigned i = 0; pass.buffers && i < workers; i++)
		free(pass.buffers[i]);
	free(pass.buffers);
	free(pass.rows);
	free(pass.losses);
	free(pass.last_ticks);
	free(pass.covered_ticks);
	free(pass.holes);
	return ready;
}

const struct dw_threads *dw_model_threads(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct dw_threads), threads_compute, NULL };

	return dw_product_get(model, &product, 0, NULL, error);
}
