/*
 * Chunks: a stream's next piece of the file.
 *
 * When a chunk is full the stream takes a fresh block, or, when the file may not
 * grow, empties the oldest chunk of its own and counts what was in it. Only the
 * stream's own thread is here, under its `busy`; the process's lock is held for the
 * moment in which a block is taken.
 */
#include "record/record.h"

#include <string.h>

#include "format/words.h"

static void chunk_open(struct dwell_stream *stream, struct dw_slot *slot, struct dw_writer *writer,
                       uint32_t block, char *address)
{
	struct dw_chunk *chunk = (struct dw_chunk *)(void *)address;

	if (!stream->last_ticks)
		stream->last_ticks = dw_now();
	writer->thread = slot->thread;
	chunk->type = DW_CHUNK_STREAM;
	chunk->process = slot->process; /* another session may have begun meanwhile */
	chunk->stream = writer->stream;
	chunk->base_ticks = stream->last_ticks;
	chunk->thread = slot->thread;
	/* A follower that sees the number sees the rest. */
	__atomic_store_n(&chunk->number, ++writer->number, __ATOMIC_RELEASE);
	if (writer->chunk)
		writer->chunk->next = block;
	writer->chunk = chunk;
	writer->block = block;
	writer->closes = false;
	stream->cursor = address + sizeof *chunk;
	/* On a clock that needs a call the inline half never finds space. */
	__atomic_store_n(&stream->limit,
	                 dw_session_inline() ? address + DW_BLOCK_BYTES - DW_CHUNK_TAIL_BYTES
	                                     : stream->cursor,
	                 __ATOMIC_RELAXED);
}

static void chunk_close(struct dwell_stream *stream, struct dw_writer *writer)
{
	struct dw_chunk *chunk = writer->chunk;

	chunk->end_ticks = stream->last_ticks;
	__atomic_store_n(&chunk->end_bytes, (uint32_t)(stream->cursor - (char *)chunk), __ATOMIC_RELEASE);
	if (writer->block >= dw_session_map()->keep_blocks && !writer->oldest)
		writer->oldest = writer->block;
}

uint32_t dw_chunk_own_range;

/* Counts the records that the program made, without those that the recorder added. */
static uint64_t chunk_count_records(const struct dw_chunk *chunk)
{
	uint32_t own = __atomic_load_n(&dw_chunk_own_range, __ATOMIC_RELAXED);
	const uint32_t *word = (const uint32_t *)(const void *)chunk + sizeof *chunk / 4;
	const uint32_t *end = (const uint32_t *)(const void *)chunk + chunk->end_bytes / 4;
	uint64_t records = 0;

	for (; word < end; word += dw_record_words(word)) {
		uint32_t kind = *word & DW_WORD_END ? DW_BEGIN : word[1] >> DW_KIND_SHIFT;

		if (kind == DW_EXT || kind == DW_THREAD || kind == DW_LOSS)
			continue;
		if (!(*word & DW_WORD_END) && own && word[1] == own)
			records--; /* a BEGIN of kind 0: its END will be counted and must not be */
		else
			records++;
	}
	return records;
}

/* Empties this stream's oldest chunk for reuse; its block, 0 if it cannot be written. */
static uint32_t chunk_recycle(struct dw_slot *slot, struct dw_writer *writer, char **address)
{
	uint32_t block = writer->oldest;
	struct dw_chunk *chunk = (struct dw_chunk *)(void *)dw_window_address(block);
	uint64_t records;

	if (!chunk || !dw_window_fetch(block, (char *)chunk))
		return 0;
	records = chunk_count_records(chunk);
	writer->oldest = block == writer->block ? 0 : chunk->next;
	if (block == writer->block)
		writer->chunk = NULL; /* the only one: it has no successor */
	/* Followers recheck the number after copying: 0 first, the new one last. */
	__atomic_store_n(&chunk->number, 0, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	chunk->end_bytes = 0;
	chunk->end_ticks = 0;
	chunk->next = 0;
	memset(chunk + 1, 0, DW_BLOCK_BYTES - sizeof *chunk);
	dw_slot_lost(slot, DW_LOSS_RECYCLED, records);
	*address = (char *)chunk;
	return block;
}

/* Under the lock, so that a session that stops next does not trim what this thread
 * is about to write. Number 0 keeps readers away until the header is whole. */
static void chunk_mark_taken(char *address)
{
	struct dw_chunk *chunk = (struct dw_chunk *)(void *)address;

	chunk->type = DW_CHUNK_STREAM;
	__atomic_store_n(&chunk->magic, DW_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

static uint32_t chunk_find_block(struct dw_slot *slot, struct dw_writer *writer, char **address,
                                 enum dw_loss *cause)
{
	/* A stream that has nothing to recycle may take a chunk of the reserve. */
	bool reserved = !writer->oldest && dw_session_map()->keep != DW_KEEP_OLDEST;
	uint32_t block = 0;

	*cause = (enum dw_loss)slot->refusal;
	if (dw_now() >= slot->retry_ticks) {
		*cause = DW_LOSS_BUSY;
		if (dw_process_lock()) {
			*cause = DW_LOSS_STOPPED; /* sessions start and stop under the lock */
			if (dw_session_head() && slot->generation == DW_LOAD(dw_session.generation))
				block = dw_window_take(reserved ? DW_CLAIM_RESERVED : DW_CLAIM_STREAM, address,
				                       cause);
			if (block)
				chunk_mark_taken(*address);
			dw_process_unlock();
		}
	}
	if (block && dw_window_fetch(block, *address))
		return block;
	if (block)
		*cause = DW_LOSS_DISK;
	/* Asking again for every record would cost more than recording did. */
	if (dw_now() >= slot->retry_ticks && *cause != DW_LOSS_BUSY) {
		slot->retry_ticks = dw_now() + dw_session_map()->ticks_per_second / 16;
		slot->refusal = *cause;
	}
	return writer->oldest ? chunk_recycle(slot, writer, address) : 0;
}

bool dw_chunk_next(struct dwell_stream *stream, struct dw_slot *slot, struct dw_writer *writer,
                   enum dw_loss *cause)
{
	char *address = NULL;
	uint32_t block, closed = 0;

	dw_step_look();
	if (writer->chunk && !writer->chunk->end_bytes) {
		/* A record that was taken for abandoned has gone on: see stream.c. */
		if ((uintptr_t)stream->cursor - (uintptr_t)writer->chunk > DW_BLOCK_BYTES)
			dw_slot_resume(stream, writer->chunk);
		chunk_close(stream, writer);
		closed = writer->block;
	}
	block = chunk_find_block(slot, writer, &address, cause);
	if (block)
		chunk_open(stream, slot, writer, block, address);
	/* After the last write to it, which is the new chunk's place. */
	if (closed && closed != block)
		dw_window_drop(closed);
	return block != 0;
}
