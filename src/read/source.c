/*
 * Opening: files become one source.
 *
 * Called by everything that reads traces. Opens the named files and those of the
 * same run beside them, then translates what each holds from its own ids and
 * ticks into indices and ns of the whole. Invariant: every index in the result
 * is valid; what an entry should have said and did not is made up ("(unknown)").
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "read/read.h"

struct reader {
	struct dw_source source;
	struct dw_arena arena;
	struct dw_read_file *files;
	size_t file_count, file_capacity;
	size_t repair_capacity;
};

/* ---- time ----------------------------------------------------------------------- */

static uint64_t to_u64(double value)
{
	return value <= 0 ? 0 : value < 9e18 ? (uint64_t)(value + 0.5) : (uint64_t)9e18;
}

uint64_t dw_source_ns(const struct dw_source_clock *clock, uint64_t ticks)
{
	double since = ticks >= clock->start_ticks ? (double)(ticks - clock->start_ticks)
	                                           : -(double)(clock->start_ticks - ticks);

	return to_u64((double)clock->start_ns + since * clock->ns_per_tick);
}

uint64_t dw_source_span_ns(const struct dw_source_clock *clock, uint64_t ticks)
{
	return to_u64((double)ticks * clock->ns_per_tick);
}

uint64_t dw_source_ticks(const struct dw_source_clock *clock, uint64_t ns)
{
	double since = ((double)ns - (double)clock->start_ns) / clock->ns_per_tick;

	if (since < 0)
		return to_u64((double)clock->start_ticks + since);
	return clock->start_ticks + to_u64(since);
}

const uint32_t *dw_source_borrow(const struct dw_source_chunk *chunk, void *buffer)
{
	if (!chunk->header)
		return chunk->words;
	memcpy(buffer, chunk->words, (size_t)chunk->word_count * 4);
	/* The copy's loads come before this one: with the number unchanged the chunk
	 * was not being emptied while they ran. Pairs with the recorder's recycle(). */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&chunk->header->number, __ATOMIC_RELAXED) == chunk->number ? buffer
	                                                                                  : NULL;
}

/* ---- small things ----------------------------------------------------------------- */

static int no_memory(struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening the trace");
}

static void *take(struct reader *reader, size_t count, size_t item_bytes)
{
	return dw_arena_alloc(&reader->arena, (count + 1) * item_bytes);
}

static int repair(struct reader *reader, const char *text)
{
	const char **slot = DW_GROW(&reader->source.repairs, &reader->repair_capacity,
	                            reader->source.repair_count);

	if (!slot || !text)
		return -1;
	*slot = text;
	reader->source.repair_count++;
	return 0;
}

/* ---- files -------------------------------------------------------------------------- */

static bool already_open(const struct reader *reader, const char *path)
{
	for (size_t i = 0; i < reader->file_count; i++)
		if (strcmp(reader->files[i].path, path) == 0)
			return true;
	return false;
}

static int read_file(struct reader *reader, const char *path, bool side, struct dwell_error *error)
{
	struct dw_read_file *file =
	    DW_GROW(&reader->files, &reader->file_capacity, reader->file_count);
	int result;

	if (!file)
		return no_memory(error);
	result = dw_read_file_open(file, &reader->arena, path, error);
	if (result)
		return result;
	reader->file_count++;
	file->side = side;
	result = dw_read_chunks(file, error);
	return result ? result : dw_read_journals(file, &reader->arena, error);
}

static int read_side_files(struct reader *reader, size_t index, struct dwell_error *error)
{
	const char **paths;
	size_t count;
	int result = dw_read_gather(&reader->files[index], &reader->arena, &paths, &count, error);

	for (size_t i = 0; result == 0 && i < count; i++) {
		struct dwell_error why;

		if (already_open(reader, paths[i]))
			continue;
		result = read_file(reader, paths[i], true, &why);
		if (result == DWELL_E_NOMEM)
			return no_memory(error);
		if (result && repair(reader, dw_arena_printf(&reader->arena, "left out: %s", why.message)))
			return no_memory(error);
		result = 0;
	}
	return result;
}

static int read_files(struct reader *reader, const char *const *paths, size_t count,
                      struct dwell_error *error)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < count; i++)
		if (!already_open(reader, paths[i]))
			result = read_file(reader, paths[i], false, error);
	size_t named = reader->file_count;
	for (size_t i = 0; result == 0 && i < named; i++)
		result = read_side_files(reader, i, error);
	return result;
}

/* ---- the dictionary ------------------------------------------------------------------- */

static int fill_symbols(struct reader *reader, const struct dw_read_file *from,
                        struct dw_source_file *file)
{
	struct dw_symbol *symbols = take(reader, from->id_count, sizeof *symbols);

	if (!symbols)
		return -1;
	for (uint32_t id = 0; id < from->id_count; id++)
		symbols[id].name = "(unknown)";
	for (size_t i = 0; i < from->op_count; i++) {
		const struct dw_read_op *op = &from->ops[i];
		struct dw_symbol *symbol = &symbols[op->id];
		const char *name = dw_read_string(from, op->name);

		symbol->name = name ? name : "(unknown)";
		symbol->detail = dw_read_string(from, op->detail);
		symbol->file = dw_read_string(from, op->file);
		symbol->line = op->line;
		symbol->category = op->category;
		symbol->shapes = op->shapes < from->id_count ? from->shapes[op->shapes] : NULL;
	}
	file->symbols = symbols;
	file->symbol_count = from->id_count;
	file->strings = from->strings;
	return 0;
}

static int fill_files(struct reader *reader)
{
	struct dw_source *source = &reader->source;

	source->realtime_start_ns = dw_read_clocks(reader->files, reader->file_count);
	source->files = take(reader, reader->file_count, sizeof *source->files);
	if (!source->files)
		return -1;
	source->file_count = reader->file_count;
	for (size_t i = 0; i < source->file_count; i++) {
		struct dw_read_file *from = &reader->files[i];
		struct dw_source_file *file = &source->files[i];

		file->path = from->path;
		file->size_bytes = from->size_bytes;
		file->head = from->head;
		file->torn = from->torn;
		file->clock = (struct dw_source_clock){ from->head->start_ticks, to_u64(from->start_ns),
			                                    from->ns_per_tick, from->error_ns };
		if (fill_symbols(reader, from, file))
			return -1;
		for (unsigned cause = 0; cause < DW_LOSS_SLOTS; cause++)
			source->lost[cause] += from->head->lost[cause];
	}
	return 0;
}

/* ---- processes and threads ---------------------------------------------------------------- */

static struct dw_read_process *find_process(struct dw_read_file *file, uint32_t id)
{
	for (size_t i = 0; i < file->process_count; i++)
		if (file->processes[i].id == id)
			return &file->processes[i];
	return NULL;
}

/* The index of the process `id` of a file, made up where its entry is lost. */
static int process_index(struct reader *reader, struct dw_read_file *file, uint32_t id,
                         uint32_t *index)
{
	struct dw_read_process *process = find_process(file, id);

	if (!process) {
		process = DW_GROW(&file->processes, &file->process_capacity, file->process_count);
		if (!process)
			return -1;
		*process = (struct dw_read_process){ .id = id, .rank = -1, .local_rank = -1,
			.world_size = -1, .start_ticks = file->head->start_ticks, .index = DW_NO_INDEX };
		file->process_count++;
	}
	if (process->index == DW_NO_INDEX)
		process->index = (uint32_t)reader->source.process_count++;
	*index = process->index;
	return 0;
}

static const char *text_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

/* Indices first: entries that nothing refers to but say who was there count too. */
static int number_processes(struct reader *reader)
{
	uint32_t index;

	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->process_count; i++)
			if (process_index(reader, file, file->processes[i].id, &index))
				return -1;
		for (size_t i = 0; i < file->chunk_count; i++)
			if ((i == 0 || file->chunks[i].process != file->chunks[i - 1].process) &&
			    process_index(reader, file, file->chunks[i].process, &index))
				return -1;
		for (size_t i = 0; i < file->thread_count; i++)
			if (process_index(reader, file, file->threads[i].process, &index))
				return -1;
	}
	return 0;
}

static int fill_processes(struct reader *reader)
{
	struct dw_source *source = &reader->source;

	if (number_processes(reader))
		return -1;
	source->processes = take(reader, source->process_count, sizeof *source->processes);
	if (!source->processes)
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->process_count; i++) {
			const struct dw_read_process *from = &file->processes[i];
			struct dw_read_process *parent = find_process(file, from->parent);

			if (from->index == DW_NO_INDEX)
				continue; /* a second entry of the same id */
			source->processes[from->index] = (struct dw_source_process){
				.file = (uint32_t)f, .id = from->id,
				.parent = parent && parent != from ? parent->index : DW_NO_INDEX,
				.pid = from->pid, .ppid = from->ppid, .rank = from->rank,
				.local_rank = from->local_rank, .world_size = from->world_size,
				.flags = from->flags,
				.name = text_or(dw_read_string(file, from->name), "(unknown)"),
				.command = text_or(dw_read_string(file, from->command), ""),
				.job = text_or(dw_read_string(file, from->job), ""),
				.start_ns = dw_source_ns(&source->files[f].clock, from->start_ticks),
				.alive = dw_read_process_alive(file, from),
			};
			source->live |= source->processes[from->index].alive;
		}
	}
	return 0;
}

static int fill_threads(struct reader *reader)
{
	struct dw_source *source = &reader->source;
	size_t most = 0;

	for (size_t f = 0; f < reader->file_count; f++)
		most += reader->files[f].thread_count + reader->files[f].chunk_count;
	source->threads = take(reader, most, sizeof *source->threads);
	if (!source->threads)
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->thread_count; i++) {
			struct dw_read_thread *from = &file->threads[i];
			struct dw_source_thread *thread = &source->threads[source->thread_count];

			from->index = (uint32_t)source->thread_count++;
			if (process_index(reader, file, from->process, &thread->process))
				return -1;
			thread->id = from->id;
			thread->tid = from->tid;
			thread->stream = from->stream;
			thread->name = from->name;
			thread->start_ns = dw_source_ns(&source->files[f].clock, from->start_ticks);
			memcpy(thread->lost, from->lost, sizeof thread->lost);
			for (unsigned cause = 0; cause < DW_LOSS_SLOTS; cause++)
				source->lost[cause] += from->lost[cause];
		}
		for (uint32_t id = 0; id < file->id_count; id++)
			if (file->thread_by_id[id] != DW_NO_INDEX)
				file->thread_by_id[id] = file->threads[file->thread_by_id[id]].index;
		source->files[f].thread_by_id = file->thread_by_id;
	}
	return 0;
}

/* A thread whose entry is lost, one a stream. */
static uint32_t unknown_thread(struct dw_source *source, const struct dw_source_stream *stream)
{
	struct dw_source_thread *thread = &source->threads[source->thread_count];

	thread->process = stream->process;
	thread->stream = stream->stream & ~DW_STREAM_NESTED;
	thread->name = "(unknown)";
	return (uint32_t)source->thread_count++;
}

/* ---- streams -------------------------------------------------------------------------------- */

static void fill_chunk(struct dw_source *source, const struct dw_source_stream *stream,
                       const struct dw_read_file *file, const struct dw_read_chunk *from,
                       struct dw_source_chunk *chunk, const struct dw_source_chunk *before)
{
	chunk->words = (const uint32_t *)(const void *)(from->header + 1);
	chunk->word_count = (from->data_bytes - DW_CHUNK_HEADER_BYTES) / 4;
	chunk->base_ticks = from->base_ticks;
	chunk->end_ticks = from->end_ticks;
	chunk->number = from->number;
	chunk->gap_before = from->number != (before ? before->number + 1 : 1);
	chunk->header = source->processes[stream->process].alive ? from->header : NULL;
	chunk->thread = from->thread < file->id_count ? file->thread_by_id[from->thread] : DW_NO_INDEX;
	if (chunk->thread == DW_NO_INDEX && before &&
	    source->threads[before->thread].id == 0)
		chunk->thread = before->thread;
	else if (chunk->thread == DW_NO_INDEX)
		chunk->thread = unknown_thread(source, stream);
}

static bool starts_stream(const struct dw_read_file *file, size_t i)
{
	const struct dw_read_chunk *a = &file->chunks[i], *b = i ? a - 1 : NULL;

	return a->type == DW_CHUNK_STREAM &&
	       (!b || b->type != a->type || b->process != a->process || b->stream != a->stream);
}

static int fill_streams(struct reader *reader)
{
	struct dw_source *source = &reader->source;
	struct dw_source_stream *stream = NULL;
	size_t count = 0;

	for (size_t f = 0; f < reader->file_count; f++)
		for (size_t i = 0; i < reader->files[f].chunk_count; i++)
			count += starts_stream(&reader->files[f], i);
	source->streams = take(reader, count, sizeof *source->streams);
	if (!source->streams)
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];
		struct dw_source_chunk *chunks = take(reader, file->chunk_count, sizeof *chunks);

		if (!chunks)
			return -1;
		for (size_t i = 0; i < file->chunk_count; i++) {
			const struct dw_read_chunk *from = &file->chunks[i];

			if (from->type != DW_CHUNK_STREAM)
				continue;
			if (starts_stream(file, i)) {
				stream = &source->streams[source->stream_count++];
				stream->file = (uint32_t)f;
				stream->stream = from->stream;
				stream->nested = from->stream & DW_STREAM_NESTED;
				stream->chunks = chunks;
				if (process_index(reader, file, from->process, &stream->process))
					return -1;
			}
			fill_chunk(source, stream, file, from, chunks,
			           stream->chunk_count ? chunks - 1 : NULL);
			stream->chunk_count++;
			chunks++;
		}
	}
	return 0;
}

/* ---- steps, facts, ends ------------------------------------------------------------------------ */

static int compare_steps(const void *left, const void *right)
{
	const struct dw_source_step *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* By process, then start: a counting sort by process of what is sorted by start. */
static int order_steps(struct reader *reader)
{
	struct dw_source *source = &reader->source;
	size_t *place = take(reader, source->process_count + 1, sizeof *place);
	struct dw_source_step *ordered = take(reader, source->step_count, sizeof *ordered);

	if (!place || !ordered)
		return -1;
	if (source->step_count)
		qsort(source->steps, source->step_count, sizeof *source->steps, compare_steps);
	for (size_t i = 0; i < source->step_count; i++)
		place[source->threads[source->steps[i].thread].process + 1]++;
	for (size_t i = 0; i < source->process_count; i++)
		place[i + 1] += place[i];
	for (size_t i = 0; i < source->step_count; i++)
		ordered[place[source->threads[source->steps[i].thread].process]++] = source->steps[i];
	source->steps = ordered;
	return 0;
}

static int fill_steps(struct reader *reader)
{
	struct dw_source *source = &reader->source;
	size_t count = 0;

	for (size_t f = 0; f < reader->file_count; f++)
		count += reader->files[f].step_count;
	source->steps = take(reader, count, sizeof *source->steps);
	if (!source->steps)
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		const struct dw_read_file *file = &reader->files[f];
		const struct dw_source_clock *clock = &source->files[f].clock;

		for (size_t i = 0; i < file->step_count; i++) {
			const struct dw_read_step *from = &file->steps[i];
			struct dw_source_step *step = &source->steps[source->step_count];

			if (from->thread >= file->id_count ||
			    file->thread_by_id[from->thread] == DW_NO_INDEX)
				continue; /* nobody's step */
			source->step_count++;
			step->thread = file->thread_by_id[from->thread];
			step->recorded = from->recorded;
			step->open = !from->end_ticks;
			step->number = from->number;
			step->start_ns = dw_source_ns(clock, from->start_ticks);
			step->end_ns = step->open ? 0 : dw_source_ns(clock, from->end_ticks);
			step->cpu_ns = from->cpu_ns;
			if (!step->open && step->end_ns < step->start_ns)
				step->end_ns = step->start_ns;
		}
	}
	return order_steps(reader);
}

static int fill_metas(struct reader *reader)
{
	struct dw_source *source = &reader->source;
	size_t count = 0;

	for (size_t f = 0; f < reader->file_count; f++)
		count += reader->files[f].meta_count;
	source->metas = take(reader, count, sizeof *source->metas);
	if (!source->metas)
		return -1;
	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->meta_count; i++) {
			struct dw_source_meta *meta = &source->metas[source->meta_count];

			meta->key = dw_read_string(file, file->metas[i].key);
			meta->value = dw_read_string(file, file->metas[i].value);
			meta->json = file->metas[i].json;
			if (!meta->key || !meta->value)
				continue;
			if (process_index(reader, file, file->metas[i].process, &meta->process))
				return -1;
			source->meta_count++;
		}
	}
	return 0;
}

static void raise_end(uint64_t *end_ns, uint64_t ns)
{
	if (ns > *end_ns)
		*end_ns = ns;
}

static void fill_ends(struct reader *reader)
{
	struct dw_source *source = &reader->source;

	for (size_t i = 0; i < source->process_count; i++)
		source->processes[i].end_ns = source->processes[i].start_ns;
	for (size_t i = 0; i < source->thread_count; i++)
		raise_end(&source->processes[source->threads[i].process].end_ns,
		          source->threads[i].start_ns);
	for (size_t i = 0; i < source->stream_count; i++) {
		const struct dw_source_stream *stream = &source->streams[i];

		for (size_t c = 0; c < stream->chunk_count; c++)
			raise_end(&source->processes[stream->process].end_ns,
			          dw_source_ns(&source->files[stream->file].clock,
			                       stream->chunks[c].end_ticks));
	}
	for (size_t i = 0; i < source->step_count; i++)
		raise_end(&source->processes[source->threads[source->steps[i].thread].process].end_ns,
		          source->steps[i].open ? source->steps[i].start_ns : source->steps[i].end_ns);
	for (size_t i = 0; i < source->process_count; i++)
		raise_end(&source->end_ns, source->processes[i].end_ns);
	for (size_t f = 0; f < reader->file_count; f++)
		if (reader->files[f].last_clock.ticks)
			raise_end(&source->end_ns, dw_source_ns(&source->files[f].clock,
			                                        reader->files[f].last_clock.ticks));
	for (size_t i = 0; i < source->process_count; i++)
		if (source->processes[i].alive)
			source->processes[i].end_ns = source->end_ns;
	for (size_t i = 0; i < source->step_count; i++)
		if (source->steps[i].open)
			source->steps[i].end_ns =
			    source->processes[source->threads[source->steps[i].thread].process].end_ns;
}

static int fill_repairs(struct reader *reader)
{
	for (size_t f = 0; f < reader->file_count; f++) {
		const struct dw_read_file *file = &reader->files[f];

		if (file->torn && !reader->source.live &&
		    repair(reader, dw_arena_printf(&reader->arena,
		                                   "%s ends inside a chunk (the program was killed, or "
		                                   "the file was cut); what lies before is here",
		                                   file->path)))
			return -1;
		if (file->damaged &&
		    repair(reader, dw_arena_printf(&reader->arena,
		                                   "%s is damaged: %zu blocks or entries that make no "
		                                   "sense were left out", file->path, file->damaged)))
			return -1;
	}
	return 0;
}

int dw_source_open(struct dw_source **source, const char *const *paths, size_t count,
                   struct dwell_error *error)
{
	struct reader *reader;
	int result;

	*source = NULL;
	if (!count)
		return dw_error_set(error, DWELL_E_ARGUMENT, "no trace was named");
	reader = calloc(1, sizeof *reader);
	if (!reader)
		return no_memory(error);
	reader->source.private_data = reader;
	result = read_files(reader, paths, count, error);
	if (result == 0 && (fill_files(reader) || fill_processes(reader) || fill_threads(reader) ||
	                    fill_streams(reader) || fill_steps(reader) || fill_metas(reader)))
		result = no_memory(error);
	if (result == 0) {
		fill_ends(reader);
		if (fill_repairs(reader))
			result = no_memory(error);
	}
	if (result) {
		dw_source_close(&reader->source);
		return result;
	}
	*source = &reader->source;
	return 0;
}

void dw_source_close(struct dw_source *source)
{
	struct reader *reader;

	if (!source)
		return;
	reader = source->private_data;
	for (size_t i = 0; i < reader->file_count; i++)
		dw_read_file_close(&reader->files[i]);
	free(reader->files);
	free(source->repairs);
	dw_arena_reset(&reader->arena);
	free(reader);
}
