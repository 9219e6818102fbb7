/*
 * Opening: combines files into one source.
 *
 * Called by all code that reads traces. Opens the named files and the files of the same runs in
 * their folders. Then converts the contents of each file from its own ids and ticks to indices and
 * ns of the source. Invariant: every index in the result is valid, and missing entries are replaced
 * by placeholders ("(unknown)").
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"
#include "format/keys.h"
#include "read/read.h"

const uint32_t *dw_source_borrow(const struct dw_source_chunk *chunk, void *buffer)
{
	const uint32_t *block = chunk->place ? dw_pack_borrow(chunk->place, buffer) : NULL;

	if (chunk->place)
		return block ? block + DW_CHUNK_HEADER_BYTES / 4 : NULL;
	if (!chunk->header)
		return chunk->words;
	memcpy(buffer, chunk->words, (size_t)chunk->word_count * 4);
	/* The copy's loads come before this one. If the number is unchanged, the chunk was not emptied
	 * during the copy. Pairs with chunk_recycle() in the recorder. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&chunk->header->number, __ATOMIC_RELAXED) == chunk->number ? buffer : NULL;
}

/* ---- helpers ----------------------------------------------------------------------- */

static int source_no_memory(struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening the trace");
}

static int source_repair(struct dw_reader *reader, const char *text)
{
	const char **slot = DW_GROW(&reader->source.repairs, &reader->repair_capacity, reader->source.repair_count);

	if (!slot || !text)
		return -1;
	*slot = text;
	reader->source.repair_count++;
	return 0;
}

/* ---- files -------------------------------------------------------------------------- */

static bool source_already_open(const struct dw_reader *reader, const char *path)
{
	for (size_t i = 0; i < reader->file_count; i++)
		if (strcmp(reader->files[i].path, path) == 0)
			return true;
	return false;
}

static int read_file(struct dw_reader *reader, const char *path, bool side, uint32_t profile, struct dwell_error *error)
{
	struct dw_read_file *file = DW_GROW(&reader->files, &reader->file_capacity, reader->file_count);
	int result;

	if (!file)
		return source_no_memory(error);
	result = dw_read_file_open(file, &reader->arena, path, error);
	if (result)
		return result;
	reader->file_count++;
	file->side = side;
	file->wanted_profile = profile;
	result = dw_read_chunks(file, error);
	if (result == 0 && profile)
		dw_read_choose_times(file);
	return result ? result : dw_read_journals(file, &reader->arena, error);
}

static int read_side_files(struct dw_reader *reader, size_t index, struct dwell_error *error)
{
	const char **paths;
	size_t count;
	int result = dw_read_gather(&reader->files[index], &reader->arena, &paths, &count, error);

	for (size_t i = 0; result == 0 && i < count; i++) {
		struct dwell_error why;

		if (source_already_open(reader, paths[i]))
			continue;
		result = read_file(reader, paths[i], true, 0, &why);
		if (result == DWELL_E_NOMEM)
			return source_no_memory(error);
		if (result && source_repair(reader, dw_arena_printf(&reader->arena, "left out: %s", why.message)))
			return source_no_memory(error);
		result = 0;
	}
	return result;
}

static int read_files(struct dw_reader *reader, const char *const *paths, size_t count, uint32_t profile,
                      struct dwell_error *error)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < count; i++)
		if (!source_already_open(reader, paths[i]))
			result = read_file(reader, paths[i], false, profile, error);
	size_t named = reader->file_count;
	for (size_t i = 0; result == 0 && i < named; i++)
		result = read_side_files(reader, i, error);
	return result;
}

/* ---- the source -------------------------------------------------------------------- */

/* Tells a copy that was cut short from a trace of a program that was killed. */
static const char *source_torn_sentence(struct dw_reader *reader, const struct dw_read_file *file)
{
	double size = (double)file->size_bytes, missing = (double)file->missing_bytes;

	if (!file->missing_bytes)
		return dw_arena_printf(&reader->arena,
		                       "%s ends inside a chunk (the program was killed, or the file was cut); "
		                       "what lies before is here", file->path);
	return dw_arena_printf(&reader->arena, "%s is a truncated copy: %s of %s are missing; copy it again", file->path,
	                       dw_text_bytes(missing, " ").at, dw_text_bytes(size + missing, " ").at);
}

/* An imported trace that was stored says what its import said. What was left out are losses, which reports print. */
static int source_repeat_notes(struct dw_reader *reader, struct dw_read_file *file)
{
	for (size_t i = 0; i < file->meta_count; i++) {
		const char *key = dw_read_string(file, file->metas[i].key), *value = dw_read_string(file, file->metas[i].value);

		if (key && value && strcmp(key, DW_KEY_IMPORT_NOTES) == 0 &&
		    source_repair(reader, dw_arena_printf(&reader->arena, "%s: %s", file->path, value)))
			return -1;
	}
	return 0;
}

static int source_fill_repairs(struct dw_reader *reader)
{
	for (size_t f = 0; f < reader->file_count; f++) {
		struct dw_read_file *file = &reader->files[f];

		if ((file->torn || file->missing_bytes) && !reader->source.live &&
		    source_repair(reader, source_torn_sentence(reader, file)))
			return -1;
		if (file->clock_jumps &&
		    source_repair(reader, dw_arena_printf(&reader->arena,
		                                          "%s: its clock jumped %u time%s, by up to %.3g s (the "
		                                          "machine slept, or a virtual machine was paused); "
		                                          "times near that are estimates",
		                                          file->path, file->clock_jumps, file->clock_jumps == 1 ? "" : "s",
		                                          (double)file->clock_jump_ns / 1e9)))
			return -1;
		if (file->note && source_repair(reader, dw_arena_printf(&reader->arena, "%s: %s", file->path, file->note)))
			return -1;
		if (!file->foreign && source_repeat_notes(reader, file))
			return -1;
		if (file->damaged &&
		    source_repair(reader, dw_arena_printf(&reader->arena,
		                                          "%s is damaged: %zu blocks or entries that make no "
		                                          "sense were left out", file->path, file->damaged)))
			return -1;
	}
	return 0;
}

static int source_open(struct dw_source **source, const char *const *paths, size_t count, uint32_t profile,
                       struct dwell_error *error)
{
	struct dw_reader *reader;
	int result;

	*source = NULL;
	if (!count)
		return dw_error_set(error, DWELL_E_ARGUMENT, "no trace was named");
	reader = calloc(1, sizeof *reader);
	if (!reader)
		return source_no_memory(error);
	reader->source.private_data = reader;
	result = read_files(reader, paths, count, profile, error);
	if (result == 0 && (dw_read_fill_files(reader) || dw_read_fill_processes(reader) || dw_read_fill_stacks(reader) ||
	                    dw_read_fill_streams(reader) || dw_read_fill_devices(reader) ||
	                    dw_read_fill_steps(reader) || dw_read_fill_places(reader)))
		result = source_no_memory(error);
	if (result == 0 && source_fill_repairs(reader))
		result = source_no_memory(error);
	if (result) {
		dw_source_close(&reader->source);
		return result;
	}
	*source = &reader->source;
	return 0;
}

int dw_source_open(struct dw_source **source, const char *const *paths, size_t count, struct dwell_error *error)
{
	return source_open(source, paths, count, 0, error);
}

int dw_source_open_profile(struct dw_source **source, const char *path, uint32_t profile, struct dwell_error *error)
{
	return source_open(source, &path, 1, profile, error);
}

void dw_source_release(const struct dw_source *source)
{
	const struct dw_reader *reader = source->private_data;

	for (size_t i = 0; i < reader->file_count; i++)
		dw_read_file_release(&reader->files[i]);
}

bool dw_source_visit_devices(const struct dw_source *source,
                             bool (*take)(void *context, const struct dw_source_events *chunk, const struct dw_device_record_wide *record),
                             void *context)
{
	void *buffer = malloc(DW_BLOCK_BYTES);
	bool good = buffer != NULL;

	for (size_t i = 0; i < source->events_count && good; i++) {
		const struct dw_source_events *chunk = &source->events[i];
		const char *at = (const char *)dw_source_borrow(&chunk->chunk, buffer);
		size_t count = (size_t)chunk->chunk.word_count * 4 / chunk->record_bytes;
		size_t bytes = chunk->record_bytes < DW_DEVICE_WIDE_BYTES ? DW_DEVICE_RECORD_BYTES : DW_DEVICE_WIDE_BYTES;

		for (size_t r = 0; at && r < count && good; r++) {
			struct dw_device_record_wide record = { .external = 0 };

			memcpy(&record, at + r * chunk->record_bytes, bytes);
			good = take(context, chunk, &record);
		}
		if (i % DW_SOURCE_RELEASE_CHUNKS == 0 && i && source->files[chunk->file].large)
			dw_source_release(source);
	}
	free(buffer);
	return good;
}

#define NEAR_BYTES ((uintptr_t)128 << 10)

void dw_source_release_chunks(const struct dw_source_stream *stream, size_t from, size_t to)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = 0, end = 0;

	/* Chunks that lie next to each other are released at once. What else is on their pages is only
	 * mapped again. */
	for (size_t i = from; i < to; i++) {
		const struct dw_source_chunk *chunk = &stream->chunks[i];
		uintptr_t at = (uintptr_t)chunk->words & ~(page - 1), after;

		if (!chunk->words)
			return; /* nothing of a stored trace stays in memory */
		after = ((uintptr_t)(chunk->words + chunk->word_count) + page - 1) & ~(page - 1);
		if (end && at >= begin && at <= end + NEAR_BYTES) {
			end = after > end ? after : end;
			continue;
		}
		if (end)
			madvise((void *)begin, end - begin, MADV_DONTNEED);
		begin = at;
		end = after;
	}
	if (end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void dw_source_close(struct dw_source *source)
{
	struct dw_reader *reader;

	if (!source)
		return;
	reader = source->private_data;
	for (size_t i = 0; i < reader->file_count; i++)
		dw_read_file_close(&reader->files[i]);
	DW_FREE(reader->files, source->repairs);
	dw_arena_reset(&reader->arena);
	free(reader);
}

void dw_source_keep_since(struct dw_source *source, uint64_t ns)
{
	for (size_t i = 0; i < source->stream_count; i++) {
		struct dw_source_stream *stream = &source->streams[i];
		uint64_t ticks = dw_source_ticks(&source->files[stream->file].clock, ns);
		size_t first = 0;

		while (first + 1 < stream->chunk_count && stream->chunks[first].end_ticks < ticks)
			first++;
		if (!first)
			continue;
		stream->chunks += first;
		stream->chunk_count -= first;
		stream->chunks[0].gap_before = true;
	}
}

static bool source_step_contains(const struct dw_source *source, size_t step, uint32_t process, uint64_t ns)
{
	const struct dw_source_step *at = &source->steps[step];

	return at->start_ns <= ns && ns < at->end_ns && source->threads[at->thread].process == process;
}

const struct dw_source_step *dw_source_step_at(const struct dw_source *source, uint32_t process,
                                               uint64_t ns, size_t *last)
{
	uint32_t other;
	size_t low;

	if (*last < source->step_count && source_step_contains(source, *last, process, ns))
		return &source->steps[*last];
	/* the first step after (process, ns) */
	low = DW_FIRST(i, 0, source->step_count, (other = source->threads[source->steps[i].thread].process) > process ||
	               (other == process && source->steps[i].start_ns > ns));
	if (!low || !source_step_contains(source, low - 1, process, ns))
		return NULL;
	*last = low - 1;
	return &source->steps[*last];
}
