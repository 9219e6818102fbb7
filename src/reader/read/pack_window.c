/*
 * What a part of a trace needs of each block, for a stored trace that holds a part of a run's time; see pack.h.
 *
 * Chunks of records are kept if any of their records may lie in the window, as where `--keep newest` recycles others;
 * they end where the window ends. Journals are kept without the entries about other times: steps, readings, and sums
 * over the whole run. They become zeros, which readers skip. Processes and threads begin with the window.
 */
#include <string.h>

#include "format/decode.h"
#include "read/pack.h"

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
	if (type == DW_ENTRY_THREAD && entry->bytes >= sizeof *thread && thread->start_ticks < window->from_ticks)
		thread->start_ticks = window->from_ticks;
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
		uint32_t middle = low + (high - low) / 2;
		uint32_t records = dw_decode_skip(words, middle, &time);

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
	if (chunk->clock) /* of a device: its times are not the file's */
		return true;
	if (!window_has(window, chunk->base_ticks, chunk->end_ticks ? chunk->end_ticks : UINT64_MAX))
		return false;
	if (chunk->type == DW_CHUNK_STREAM && (!chunk->end_ticks || chunk->end_ticks > window->to_ticks))
		window_cut_stream(window, chunk);
	return true;
}
