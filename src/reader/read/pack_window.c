/*
 * What a part of a trace needs of each block, for a stored trace that holds a part of a run's time; see pack.h.
 *
 * Chunks of records are kept if any of their records may lie in the window, as where `--keep newest` recycles others;
 * they end where the window ends. Of the work of devices, what calls in the window ask for is kept. Journals are kept
 * without the entries about other times: steps, readings, and sums over the whole run. They become zeros, which readers
 * skip. Processes and threads begin with the window.
 */

#include "format/decode.h"
#include "read/pack.h"
#include "read/source.h"

static bool window_has(const struct dw_pack_window *window, uint64_t from, uint64_t to)
{
	return from <= window->to_ticks && to >= window->from_ticks;
}

/* A step that has not ended has an end of 0. */
static bool window_needs_entry(const struct dw_pack_window *window, const struct dw_entry *entry)
{
	const struct dw_entry_step *step = (const void *)entry;
	const struct dw_entry_usage *usage = (const void *)entry;

	if (entry->bytes < sizeof *step)
		return true; /* readers check it */
	switch (entry->tag & 0xffff) {
	case DW_ENTRY_STEP:
		return step->start_ticks >= window->from_ticks && step->end_ticks && step->end_ticks <= window->to_ticks;
	case DW_ENTRY_USAGE: /* of the machine too: both begin with their times */
		return window_has(window, usage->start_ticks, usage->end_ticks);
	case DW_ENTRY_STEPS:
	case DW_ENTRY_PLACE: return false;
	default: return true;
	}
}

static void window_raise_start(const struct dw_pack_window *window, struct dw_entry *entry)
{
	struct dw_entry_process *process = (void *)entry;
	struct dw_entry_thread *thread = (void *)entry;
	uint32_t type = entry->tag & 0xffff;

	if (type == DW_ENTRY_PROCESS && entry->bytes >= sizeof *process && process->start_ticks < window->from_ticks)
		process->start_ticks = window->from_ticks;
	if (type == DW_ENTRY_THREAD && entry->bytes >= offsetof(struct dw_entry_thread, cpu_ns) &&
	    thread->start_ticks < window->from_ticks) {
		thread->start_ticks = window->from_ticks;
		if (entry->bytes >= sizeof *thread)
			thread->lived = 0;
	}
}

static void window_cut_journal(const struct dw_pack_window *window, uint8_t *block)
{
	uint32_t at = DW_CHUNK_HEADER_BYTES;

	while (at + sizeof(struct dw_entry) <= DW_BLOCK_BYTES) {
		struct dw_entry *entry = (struct dw_entry *)(void *)(block + at);

		if (entry->tag >> 16 != DW_ENTRY_MAGIC || entry->bytes < sizeof *entry || entry->bytes % 8 ||
		    entry->bytes > DW_BLOCK_BYTES - at) {
			at += 8; /* an entry that was not completed */
			continue;
		}
		at += entry->bytes;
		if (window_needs_entry(window, entry))
			window_raise_start(window, entry);
		else
			memset(entry, 0, entry->bytes);
	}
}

/* Ends a stream's chunk behind its last record before the window's end. */
static void window_cut_stream(const struct dw_pack_window *window, struct dw_chunk *chunk)
{
	uint32_t *words = (uint32_t *)(void *)(chunk + 1), low = 0, used = 0;
	uint32_t high = (DW_BLOCK_BYTES - DW_CHUNK_HEADER_BYTES) / 4 + 1;
	uint64_t last = chunk->base_ticks;

	while (low + 1 < high) { /* the first `low` words end in time, the first `high` words do not */
		struct dw_decode_time time = { .ticks = chunk->base_ticks };
		uint32_t middle = low + (high - low) / 2, records = dw_decode_skip(words, middle, &time);

		if (dw_time_now(&time) > window->to_ticks) {
			high = middle;
			continue;
		}
		low = middle;
		used = records;
		last = dw_time_now(&time);
	}
	memset(words + used, 0, DW_BLOCK_BYTES - DW_CHUNK_HEADER_BYTES - used * 4);
	chunk->end_bytes = DW_CHUNK_HEADER_BYTES + used * 4;
	chunk->end_ticks = last;
}

/* ---- devices ------------------------------------------------------------------------------------------------- */

static void window_no_begin(void *context, uint64_t ticks, uint32_t id)
{
}

static void window_no_end(void *context, uint64_t ticks)
{
}

static void window_add_call(struct dw_pack_window *window, uint32_t call)
{
	window->first_call = call < window->first_call ? call : window->first_call;
	window->last_call = call > window->last_call ? call : window->last_call;
}

void dw_pack_see_source(struct dw_pack_window *window, const struct dw_source *source)
{
	char *buffer = malloc(DW_BLOCK_BYTES);

	window->first_call = UINT32_MAX;
	window->last_call = 0;
	for (size_t i = 0; buffer && i < source->events_count; i++) {
		const struct dw_source_events *events = &source->events[i];
		const char *words = (const char *)dw_source_borrow(&events->chunk, buffer);
		size_t bytes = (size_t)events->chunk.word_count * 4;

		for (size_t at = 0; words && at + events->record_bytes <= bytes; at += events->record_bytes) {
			const struct dw_device_record *record = (const void *)(words + at);
			uint64_t ticks = dw_source_device_ticks(&events->clock, record->start_ticks);

			if (record->what >> DW_KIND_SHIFT == DW_DEVICE_CALL && record->correlation && window_has(window, ticks, ticks))
				window_add_call(window, record->correlation);
		}
	}
	free(buffer);
}

static void window_see_call(void *context, uint64_t ticks, const struct dw_record *record)
{
	if (record->kind != DW_EXT || record->id >> DW_EXT_TYPE_SHIFT != DW_EXT_CORRELATION || !record->words ||
	    !window_has(context, ticks, ticks))
		return;
	window_add_call(context, record->payload[0]);
}

void dw_pack_see(struct dw_pack_window *window, const void *block)
{
	const struct dw_chunk *chunk = block;
	struct dw_decode_time time = { .ticks = chunk->base_ticks };

	if (chunk->magic == DW_CHUNK_MAGIC && chunk->type == DW_CHUNK_STREAM &&
	    window_has(window, chunk->base_ticks, chunk->end_ticks ? chunk->end_ticks : UINT64_MAX))
		dw_decode_words((const uint32_t *)(const void *)(chunk + 1), (DW_BLOCK_BYTES - DW_CHUNK_HEADER_BYTES) / 4, &time,
		                window, window_no_begin, window_no_end, window_see_call);
}

/* A device works after its call, and possibly long after. What names no call is of the time in which it lies, if its
 * clock is the file's. */
static bool window_needs_work(const struct dw_pack_window *window, const struct dw_chunk *chunk,
                              const struct dw_device_record *record)
{
	if (record->correlation && window->first_call <= window->last_call)
		return record->correlation >= window->first_call && record->correlation <= window->last_call;
	return chunk->clock || window_has(window, record->start_ticks, record->start_ticks);
}

static void window_cut_device(const struct dw_pack_window *window, struct dw_chunk *chunk)
{
	uint32_t size = chunk->record_bytes, end = chunk->end_bytes ? chunk->end_bytes : DW_BLOCK_BYTES;
	uint8_t *block = (uint8_t *)chunk;
	uint32_t kept = DW_CHUNK_HEADER_BYTES;

	if (size < DW_DEVICE_RECORD_BYTES || size % 8 || end > DW_BLOCK_BYTES)
		return; /* readers refuse it */
	for (uint32_t at = DW_CHUNK_HEADER_BYTES; at + size <= end; at += size) {
		const struct dw_device_record *record = (const void *)(block + at);

		if (!record->what)
			break;
		if (!window_needs_work(window, chunk, record))
			continue;
		memmove(block + kept, block + at, size);
		kept += size;
	}
	memset(block + kept, 0, DW_BLOCK_BYTES - kept);
	chunk->end_bytes = kept;
}

/* The part is a run of its own, which has ended: next to its trace, it must not count twice. */
static void window_cut_head(const struct dw_pack_window *window, struct dw_head *head)
{
	for (size_t i = 0; i < sizeof window->from_ticks; i++) {
		head->run_id[i] ^= (uint8_t)(window->from_ticks >> 8 * i) | 1;
		head->run_id[8 + i] ^= (uint8_t)(window->to_ticks >> 8 * i);
	}
	head->flags = (head->flags & ~DW_HEAD_FINISHING) | DW_HEAD_FINISHED;
	head->end_blocks = window->blocks;
}

bool dw_pack_cut(const struct dw_pack_window *window, uint32_t number, void *block)
{
	struct dw_chunk *chunk = block;

	if (!number) {
		window_cut_head(window, block);
		return true;
	}
	if (chunk->magic != DW_CHUNK_MAGIC || !chunk->number)
		return false;
	if (chunk->type == DW_CHUNK_JOURNAL) {
		window_cut_journal(window, block);
		return true;
	}
	if (chunk->type == DW_CHUNK_DEVICE) {
		window_cut_device(window, chunk);
		return true;
	}
	if (!window_has(window, chunk->base_ticks, chunk->end_ticks ? chunk->end_ticks : UINT64_MAX))
		return false;
	if (!chunk->end_ticks || chunk->end_ticks > window->to_ticks)
		window_cut_stream(window, chunk);
	return true;
}
