/*
 * Threads: what each recorded, how long it was inside a range, and when records are missing.
 *
 * One row for each thread and kind of stream, in the order of threads: the signal handlers of a
 * thread are a track of their own. A stream that short threads hand on fills one row after the
 * other.
 *
 * Missing times (holes) are those in which a thread may have written records that the trace lacks:
 * chunks were recycled, there is a LOSS record, or the thread lost records until its end because
 * there was no space.
 */

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/core/scope.h"
#include "model/time/threads_pass.h"

/* ---- missing records -------------------------------------------------------------------- */

static void threads_add_hole(struct dw_threads_pass *count, uint64_t start_ticks, uint64_t end_ticks)
{
	struct dw_threads_sums *sums = count->sums;
	const struct dw_walk *walk = &count->pass->walk;

	if (start_ticks >= end_ticks || walk->thread == DW_NO_INDEX)
		return;
	pthread_mutex_lock(&sums->lock);
	if (!count->covered)
		count->rows[walk->thread].missing_ns += dw_source_span_ns(&walk->file->clock, end_ticks - start_ticks);
	sums->failed |= !DW_APPEND(&sums->holes, &sums->hole_capacity, &sums->hole_count,
	                           (struct dw_hole){ walk->thread, start_ticks, end_ticks });
	pthread_mutex_unlock(&sums->lock);
}

bool dw_threads_are_whole(const struct dw_model *model)
{
	const struct dw_source *source = model->source;

	if (model->whole->met_gap)
		return false;
	for (size_t i = 0; i < DW_LOSS_SLOTS; i++)
		if (source->lost[i])
			return false;
	for (size_t i = 0; i < source->file_count; i++)
		if (source->files[i].torn || source->files[i].missing_bytes)
			return false;
	for (size_t i = 0; i < source->stream_count; i++)
		for (size_t c = 0; c < source->streams[i].chunk_count; c++)
			if (source->streams[i].chunks[c].gap_before)
				return false;
	return true;
}

/* ---- a stream --------------------------------------------------------------------------- */

bool dw_threads_begin(void *own, void *all, void *worker, const struct dw_part_begin *from)
{
	struct dw_threads_pass *count = own;
	struct dw_threads_sums *sums = all;
	struct dw_pass *pass = from->pass;
	const struct dw_segment *segment = from->segment;
	const struct dw_source *source = sums->model->source;
	const struct dw_source_stream *stream = pass->walk.stream;
	const struct dw_source_chunk *first = &stream->chunks[0];

	*count = (struct dw_threads_pass){ .pass = pass, .sums = sums, .unusual = true,
		.rows = sums->rows + (stream->nested ? source->thread_count : 0) };
	if (segment->from) {
		count->resumed = segment->open_count;
		count->resumed_ticks = segment->ticks > segment->floor ? segment->ticks : segment->floor;
	} else if (first->gap_before) { /* the beginning of the stream was recycled */
		uint64_t began = dw_source_ticks(&pass->walk.file->clock, source->threads[first->thread].start_ns);

		if (first->base_ticks > began) {
			pass->walk.gap_ticks = first->base_ticks - began;
			count->hole_start = began;
			count->in_hole = true;
		}
	}
	return true;
}

__attribute__((noinline)) void dw_threads_unusual(struct dw_threads_pass *count, uint64_t ticks)
{
	if (count->resumed) { /* this is no record of the piece: its range began before */
		count->resumed--;
		count->records--;
		count->ranges--;
		count->busy_since = count->resumed_ticks;
		return;
	}
	if (count->in_hole)
		threads_add_hole(count, count->hole_start, ticks);
	count->in_hole = false;
	if (!count->any)
		count->first_ticks = ticks;
	count->any = true;
	count->unusual = false;
}

/* Adds what was counted to the row of the thread that wrote until now. */
static void threads_close_row(struct dw_threads_pass *count)
{
	const struct dw_walk *walk = &count->pass->walk;
	const struct dw_source_clock *clock = &walk->file->clock;
	struct dw_thread_row *row = &count->rows[walk->thread];

	pthread_mutex_lock(&count->sums->lock);
	if (count->any) {
		uint64_t *last = &count->sums->last_ticks[walk->thread];
		uint64_t first_ns = dw_source_ns(clock, count->first_ticks);
		uint64_t last_ns = dw_source_ns(clock, count->last_ticks);

		*last = *last > count->last_ticks ? *last : count->last_ticks;
		row->first_ns = row->records && row->first_ns < first_ns ? row->first_ns : first_ns;
		row->last_ns = row->last_ns > last_ns ? row->last_ns : last_ns;
	}
	row->records += count->records;
	row->ranges += count->ranges;
	row->busy_ns += dw_source_span_ns(clock, count->busy_ticks);
	row->busy_ticks += count->busy_ticks;
	row->gap_ns += dw_source_span_ns(clock, walk->gap_ticks - count->gap_before);
	pthread_mutex_unlock(&count->sums->lock);
	count->busy_ticks = count->ranges = count->records = 0;
	count->gap_before = walk->gap_ticks;
	count->any = false;
	count->unusual = true;
}

void dw_threads_flushed(void *pass, uint64_t ticks, enum dw_flush why)
{
	struct dw_threads_pass *count = pass;
	bool cut = count->cut;

	count->cut = false;
	count->resumed = 0;
	if (why == DW_FLUSH_GAP) {
		if (!count->in_hole)
			count->hole_start = count->any ? count->last_ticks : ticks;
		count->in_hole = count->unusual = true;
		count->covered = cut && ticks > count->hole_start;
		return;
	}
	if (count->in_hole)
		threads_add_hole(count, count->hole_start, ticks);
	count->in_hole = false;
	if (cut) {
		pthread_mutex_lock(&count->sums->lock);
		count->sums->covered_ticks[count->pass->walk.thread] = ticks;
		pthread_mutex_unlock(&count->sums->lock);
	}
	threads_close_row(count);
}

/* A piece ends; its open ranges continue in the next piece. */
void dw_threads_carried(void *pass)
{
	struct dw_threads_pass *count = pass;
	uint64_t now = dw_time_now(&count->pass->walk.time);

	if (count->pass->depth && now > count->busy_since)
		count->busy_ticks += now - count->busy_since;
	threads_close_row(count);
}

/* The record that hands the stream on is the first one of the next thread. */
void dw_threads_after_break(void *pass, uint64_t ticks, const struct dw_record *record)
{
	struct dw_threads_pass *count = pass;
	uint32_t thread = count->pass->walk.thread;

	if (record->kind == DW_LOSS && thread != DW_NO_INDEX) {
		pthread_mutex_lock(&count->sums->lock);
		count->sums->losses[thread] += dw_record_u64(record, 0);
		pthread_mutex_unlock(&count->sums->lock);
	}
	dw_threads_record(count, ticks);
}

/* ---- the end of the walk ---------------------------------------------------------------- */

/* Whether the thread lost records after its last record, until its end. Earlier losses are counted
 * in its LOSS records. Only the causes below are compared: they mean that there was no space. */
static bool threads_ends_in_hole(const struct dw_threads_sums *sums, uint32_t thread)
{
	const struct dw_source *source = sums->model->source;
	const struct dw_source_thread *from = &source->threads[thread];
	uint64_t refused = from->lost[DW_LOSS_FULL] + from->lost[DW_LOSS_DISK] +
	                   from->lost[DW_LOSS_LIMIT] + from->lost[DW_LOSS_MEMORY];

	return refused > sums->losses[thread];
}

/* Adds the holes at the ends of threads. If a copy of a file was cut off, any of its threads may
 * have written records after the cut. */
static int threads_add_ends(struct dw_threads_sums *sums)
{
	const struct dw_source *source = sums->model->source;

	for (uint32_t i = 0; i < source->thread_count; i++) {
		const struct dw_source_process *process = &source->processes[source->threads[i].process];
		const struct dw_source_clock *clock = &source->files[process->file].clock;
		const struct dw_source_file *file = &source->files[process->file];
		bool cut = (file->torn || file->missing_bytes) && !source->live;
		uint64_t start_ticks = sums->last_ticks[i], end_ticks;

		if ((sums->model->wanted_threads && !sums->model->wanted_threads[i]) ||
		    (!cut && !threads_ends_in_hole(sums, i)))
			continue;
		if (!start_ticks)
			start_ticks = dw_source_ticks(clock, source->threads[i].start_ns);
		/* The end of a process that could not write any more is not known; use the end of the
		 * run. */
		end_ticks = dw_source_ticks(clock, source->end_ns);
		if (start_ticks >= end_ticks)
			continue;
		if (!DW_APPEND(&sums->holes, &sums->hole_capacity, &sums->hole_count,
		               (struct dw_hole){ i, start_ticks, end_ticks }))
			return -1;
		if (sums->covered_ticks[i] > start_ticks)
			start_ticks = sums->covered_ticks[i];
		if (start_ticks < end_ticks)
			sums->rows[i].missing_ns += dw_source_span_ns(clock, end_ticks - start_ticks);
	}
	return 0;
}

DW_ORDER(threads_compare_holes, struct dw_hole, DW_UP(thread) DW_UP(start_ticks))

/* Converts the holes to lists of intervals, by thread and by process. */
static int threads_fill_missing(struct dw_model *model, struct dw_threads *threads, struct dw_threads_sums *sums)
{
	static const struct dw_interval none = { UINT64_MAX, UINT64_MAX };
	const struct dw_source *source = model->source;
	struct dw_interval *times;
	size_t at = 0;

	threads->missing = dw_arena_alloc(&model->arena, (source->thread_count + 1) * sizeof *threads->missing);
	threads->process_missing = dw_arena_alloc(&model->arena, (source->process_count + 1) *
	                                                             sizeof *threads->process_missing);
	times = dw_arena_alloc(&model->arena,
	                       (2 * sums->hole_count + source->thread_count + source->process_count + 1) * sizeof *times);
	if (!threads->missing || !threads->process_missing || !times)
		return -1;
	DW_SORT(sums->holes, sums->hole_count, threads_compare_holes);
	for (uint32_t i = 0; i < source->thread_count; i++) {
		size_t count = 0;

		threads->missing[i] = &none;
		for (; at < sums->hole_count && sums->holes[at].thread == i; at++)
			times[count++] = (struct dw_interval){ sums->holes[at].start_ticks, sums->holes[at].end_ticks };
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
		for (size_t h = 0; h < sums->hole_count; h++)
			if (source->threads[sums->holes[h].thread].process == p)
				times[count++] = (struct dw_interval){ sums->holes[h].start_ticks, sums->holes[h].end_ticks };
		if (!count)
			continue;
		threads->process_missing[p] = times;
		count = dw_intervals_unite(times, count);
		times[count] = none;
		times += count + 1;
	}
	return 0;
}

static int threads_fill(struct dw_model *model, struct dw_threads *threads, struct dw_threads_sums *sums)
{
	const struct dw_source *source = model->source;

	threads->rows = dw_arena_alloc(&model->arena, (source->thread_count * 2 + 1) * sizeof *threads->rows);
	if (!threads->rows)
		return -1;
	for (size_t i = 0; i < source->thread_count; i++)
		for (unsigned nested = 0; nested < 2; nested++) {
			struct dw_thread_row *row = &sums->rows[i + nested * source->thread_count];

			if ((model->wanted_threads && !model->wanted_threads[i]) || (nested && !row->records))
				continue;
			row->thread = (uint32_t)i;
			if (!nested && sums->covered_ticks[i])
				row->open_ns = dw_source_ns(&source->files[source->processes[source->threads[i].process].file].clock,
				                            sums->covered_ticks[i]);
			row->nested = nested;
			if (!row->records)
				row->first_ns = row->last_ns = source->threads[i].start_ns;
			for (unsigned cause = 0; cause < DW_LOSS_SLOTS && !nested; cause++)
				row->lost += source->threads[i].lost[cause];
			threads->rows[threads->count++] = *row;
		}
	return 0;
}

/* ---- the product ------------------------------------------------------------------------ */

bool dw_threads_sums_init(struct dw_threads_sums *sums, struct dw_model *model)
{
	size_t count = model->source->thread_count;

	*sums = (struct dw_threads_sums){ .model = model, .lock = PTHREAD_MUTEX_INITIALIZER };
	return DW_NEW(&sums->rows, count * 2 + 1) && DW_NEW(&sums->losses, count + 1) &&
	       DW_NEW(&sums->last_ticks, count + 1) && DW_NEW(&sums->covered_ticks, count + 1);
}

void dw_threads_sums_reset(struct dw_threads_sums *sums)
{
	DW_FREE(sums->rows, sums->losses, sums->last_ticks, sums->covered_ticks, sums->holes);
}

bool dw_threads_finish(struct dw_threads_sums *sums, struct dw_threads *threads)
{
	return !sums->failed && threads_add_ends(sums) == 0 && threads_fill_missing(sums->model, threads, sums) == 0 &&
	       threads_fill(sums->model, threads, sums) == 0;
}

#define LOOP threads_alone
#define LOOP_HOOKS
#define LOOP_PARTS(PART) PART(threads, ALWAYS)
#define LOOP_DROPS_ROWS
#include "model/core/loop.h"

static bool threads_wants_stream(const struct dw_model *model, size_t stream)
{
	return dw_scope_has_stream(model, &model->source->streams[stream]);
}

static bool threads_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_threads_sums own;
	struct dw_part_sums sums = { .threads = &own };
	/* Only a trace without missing records is split: a hole may begin in one segment and end in
	 * another. */
	bool ready = dw_threads_sums_init(&own, model), whole = dw_threads_are_whole(model);
	const struct dw_segments *segments = whole ? dw_model_segments(model) : NULL;

	ready = ready && (segments || !whole) && threads_alone_walk_all(model, &sums, segments, threads_wants_stream) &&
	        dw_threads_finish(&own, result);
	dw_threads_sums_reset(&own);
	return ready;
}

DW_PRODUCT_OF_RECORDS(threads, struct dw_threads, threads_compute, NULL);

DW_PRODUCT_GETTER(threads, struct dw_threads)
