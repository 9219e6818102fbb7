/*
 * STEP and PROFILE entries that a reader of one profile does not need.
 *
 * Called by source_open.c when the chunks of a file are known. A program may have had thousands of profiles and steps
 * before. Their entries lie in journal chunks that have nothing else. When all entries of a chunk have ended, its header
 * says when the last one did, and it is not read unless that was during the wanted profile.
 */
#include "read/read.h"

static bool times_has(const struct dw_read_chunk *chunk)
{
	return chunk->type == DW_CHUNK_JOURNAL && chunk->header && chunk->record_bytes == DW_TIMES_BYTES;
}

/* Finds the wanted profile in a chunk. `ends` receives UINT64_MAX while it is open. */
static bool times_find(const struct dw_read_chunk *chunk, uint32_t wanted, uint64_t *begins, uint64_t *ends)
{
	const struct dw_entry_profile *entry = (const struct dw_entry_profile *)(const void *)(chunk->header + 1);
	uint32_t count = (chunk->data_bytes - DW_CHUNK_HEADER_BYTES) / DW_TIMES_BYTES;

	for (uint32_t i = 0; i < count; i++) {
		if (__atomic_load_n(&entry[i].entry.tag, __ATOMIC_ACQUIRE) != DW_ENTRY_TAG(DW_ENTRY_PROFILE) ||
		    __atomic_load_n(&entry[i].entry.id, __ATOMIC_RELAXED) != wanted)
			continue;
		*ends = __atomic_load_n(&entry[i].end_ticks, __ATOMIC_ACQUIRE);
		*ends = *ends ? *ends : UINT64_MAX;
		*begins = __atomic_load_n(&entry[i].start_ticks, __ATOMIC_RELAXED);
		return true;
	}
	return false;
}

void dw_read_choose_times(struct dw_read_file *file)
{
	uint64_t begins = 0, ends = 0;
	bool found = false;
	size_t kept = 0;

	/* The newest first: a result is mostly read at once. */
	for (size_t i = file->chunk_count; i && !found; i--)
		found = times_has(&file->chunks[i - 1]) && times_find(&file->chunks[i - 1], file->wanted_profile, &begins, &ends);
	for (size_t i = 0; i < file->chunk_count && found; i++) {
		const struct dw_read_chunk *chunk = &file->chunks[i];

		if (!times_has(chunk) || !chunk->end_ticks || (chunk->end_ticks >= begins && chunk->base_ticks <= ends))
			file->chunks[kept++] = *chunk;
	}
	file->chunk_count = found ? kept : file->chunk_count;
}
