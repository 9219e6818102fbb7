/*
 * Chunks: the pieces of the file that streams write to.
 *
 * When its chunk is full, a stream takes a new block of the file. If the file may not grow, the
 * stream recycles its own oldest chunk and counts the records in it as lost. Only the stream's
 * own thread runs this code, with the stream's `busy` set. The process's lock is held only while
 * a block is taken.
 */
#include "record/chunks.h"
#include "record/open_ranges.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/steps.h"
#include "record/thread.h"
#include "record/windows.h"

#include <string.h>

#include "format/record_length.h"

static void chunk_open(struct dwell_stream *stream, struct dw_slot *slot, struct dw_writer *writer,
                       uint32_t block, char *address)
{
	struct dw_chunk *chunk = (struct dw_chunk *)(void *)address;

	if (!stream->last_ticks)
		stream->last_ticks = dw_now();
	writer->thread = slot->thread;
	chunk->type = DW_CHUNK_STREAM;
	chunk->process = slot->process; /* another session may have started meanwhile */
	chunk->stream = writer->stream;
	chunk->base_ticks = stream->last_ticks;
	chunk->thread = slot->thread;
	/* A follower that sees the number also sees the fields that were written before it. */
	__atomic_store_n(&chunk->number, ++writer->number, __ATOMIC_RELEASE);
	if (writer->chunk)
		writer->chunk->next = block;
	writer->chunk = chunk;
	writer->block = block;
	writer->closes = false;
	stream->cursor = address + sizeof *chunk;
	/* If reading the clock needs a call, the limit is NULL: inline code always finds no space. */
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

/* Counts the program's records; the records that the recorder added are left out. */
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
			records--; /* the END that follows a BEGIN of kind 0 is counted, and should not be */
		else
			records++;
	}
	return records;
}

/*
 * A process may be killed at any instruction, and then each record is in the file or counted. So the records are
 * counted before they are gone, and `recycling` says of which chunk they are: a reader can tell that they may be both.
 */
void dw_chunk_recycle(struct dw_chunk *chunk, struct dw_slot *slot, uint64_t records)
{
	__atomic_store_n(&chunk->recycling, (uint32_t)records, __ATOMIC_RELEASE);
	dw_slot_lost(slot, DW_LOSS_RECYCLED, records);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* Followers check the number again after copying. So it is 0 first, and is set again last. */
	__atomic_store_n(&chunk->number, 0, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	chunk->recycling = 0;
	chunk->end_bytes = 0;
	chunk->end_ticks = 0;
	chunk->next = 0;
	memset(chunk + 1, 0, DW_BLOCK_BYTES - sizeof *chunk);
}

/* Empties this stream's oldest chunk for reuse. Returns its block, or 0 if it cannot be written. */
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
		writer->chunk = NULL; /* the stream has only this chunk, so it has no successor */
	dw_chunk_recycle(chunk, slot, records);
	*address = (char *)chunk;
	return block;
}

/* Called under the lock, so that a session that stops next does not trim the block that this
 * thread is about to write. Readers skip the chunk while its number is 0, until the header is
 * complete. */
static void chunk_mark_taken(char *address)
{
	struct dw_chunk *chunk = (struct dw_chunk *)(void *)address;

	chunk->type = DW_CHUNK_STREAM;
	__atomic_store_n(&chunk->magic, DW_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

static uint32_t chunk_find_block(struct dw_slot *slot, struct dw_writer *writer, char **address,
                                 enum dw_loss *cause)
{
	/* A stream without a chunk to recycle may use the reserve. */
	bool reserved = !writer->oldest && dw_session_map()->keep != DW_KEEP_OLDEST;
	uint32_t block = 0;

	*cause = (enum dw_loss)slot->refusal;
	if (dw_now() >= slot->retry_ticks) {
		*cause = dw_process_lock_loss();
		if (dw_process_lock()) {
			*cause = DW_LOSS_STOPPED; /* sessions start and stop under the same lock */
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
	/* After a refusal no block is claimed for a while: a claim for every record would cost more
	 * than recording it. */
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

	*cause = DW_LOSS_STOPPED;
	if (!dw_session_is_whole())
		return false;
	dw_step_look();
	if (writer->chunk && !writer->chunk->end_bytes) {
		/* The cursor is outside the chunk: a thread that seemed to have abandoned its record went on
		 * to write it (see stream.c). */
		if ((uintptr_t)stream->cursor - (uintptr_t)writer->chunk > DW_BLOCK_BYTES)
			dw_chunk_resume(stream, writer->chunk);
		if (slot->open && stream == &slot->main)
			dw_open_follow(slot);
		chunk_close(stream, writer);
		closed = writer->block;
	}
	block = chunk_find_block(slot, writer, &address, cause);
	if (block)
		chunk_open(stream, slot, writer, block, address);
	/* After the last write to the closed chunk, which stores the place of the new one. */
	if (closed && closed != block)
		dw_window_drop(closed);
	return block != 0;
}

/*
 * A thread that was cancelled inside a record may have left the stream's cursor and time different
 * from the records in the chunk. The records are right, so both are computed from them.
 */
void dw_chunk_resume(struct dwell_stream *stream, const struct dw_chunk *chunk)
{
	uint32_t *word;

	if (!chunk || chunk->end_bytes)
		return;
	stream->last_ticks = chunk->base_ticks;
	for (word = (uint32_t *)(uintptr_t)(chunk + 1); *word; word += dw_record_words(word)) {
		stream->last_ticks += *word >> DW_DELTA_SHIFT;
		if (!(*word & DW_WORD_END) && word[1] >> DW_KIND_SHIFT == DW_EXT &&
		    (word[1] & DW_EXT_WORDS_MASK) >= 2)
			stream->last_ticks = word[2] | (uint64_t)word[3] << 32;
	}
	stream->cursor = (char *)word;
	/* Clears the rest of an unfinished record, which would otherwise be read as data. */
	size_t left = DW_BLOCK_BYTES - (size_t)(stream->cursor - (const char *)chunk);
	memset(word, 0, left < DW_CHUNK_TAIL_BYTES ? left : DW_CHUNK_TAIL_BYTES);
}
