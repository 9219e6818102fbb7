/*
 * Streams: the slow half of writing a record.
 *
 * The inline half (probe.h) writes while the chunk has space. This file handles the rest: new
 * chunks, long silences, new threads, interrupted records and all losses. A stream has one
 * writer: a thread writes to its own, and a signal handler that interrupted a record writes to
 * the thread's second one.
 */
#include "record/record.h"

/* The least distance on the stack between interrupted code and its signal handler's frame. */
#define SIGNAL_FRAME_BYTES 512u
#define USUAL_STACK_BYTES (64 << 20) /* few stacks are larger */
#define LOOKS 512u /* checks in a second of a record that seems abandoned */

/* ---- records ----------------------------------------------------------------- */

static void stream_put_word(struct dwell_stream *stream, uint32_t word)
{
	/* Pairs with the acquire of a reader of the live file, as in probe.h. */
	__atomic_store_n((uint32_t *)(void *)stream->cursor, word, __ATOMIC_RELEASE);
}

static void stream_put(struct dwell_stream *stream, uint64_t ticks, uint32_t word1,
                       const uint32_t *payload, unsigned words)
{
	uint32_t *at = (uint32_t *)(void *)stream->cursor;

	for (unsigned i = 0; i < words; i++)
		at[2 + i] = payload[i];
	__atomic_store_n(at + 1, word1, __ATOMIC_RELAXED);
	stream_put_word(stream,
	                (uint32_t)(ticks - stream->last_ticks) << DW_DELTA_SHIFT | DW_WORD_PRESENT);
	stream->last_ticks = ticks;
	stream->cursor += 8 + 4 * words;
}

/* Readers rely on times that never decrease within a stream. A clock value may still be too small:
 * the thread moved to a core whose counter is behind, or a signal handler recorded between the
 * reading of the clock and the write. */
static uint64_t stream_not_before(const struct dwell_stream *stream, uint64_t ticks)
{
	return ticks < stream->last_ticks ? stream->last_ticks : ticks;
}

/* After a long time without records the delta does not fit: an EXT record has the full time. */
static void stream_put_time(struct dwell_stream *stream, uint64_t ticks)
{
	uint32_t word1 = (uint32_t)DW_EXT << DW_KIND_SHIFT | DW_EXT_TIME << DW_EXT_TYPE_SHIFT | 2;
	uint32_t payload[2] = { (uint32_t)ticks, (uint32_t)(ticks >> 32) };

	if (ticks - stream->last_ticks < (uint64_t)1 << DW_DELTA_BITS)
		return;
	stream_put(stream, stream->last_ticks, word1, payload, 2);
	stream->last_ticks = ticks;
}

static void stream_put_end(struct dwell_stream *stream, uint64_t ticks)
{
	stream_put_time(stream, ticks);
	stream_put_word(stream, (uint32_t)(ticks - stream->last_ticks) << DW_DELTA_SHIFT | DW_WORD_END |
	                            DW_WORD_PRESENT);
	stream->last_ticks = ticks;
	stream->cursor += 4;
}

/* Records the time that a new chunk took as a range. */
static void stream_put_slow_range(struct dwell_stream *stream)
{
	struct dw_writer *writer;
	uint32_t id = __atomic_load_n(&dw_chunk_own_range, __ATOMIC_RELAXED);
	uint64_t start, end;

	dw_slot_of(stream, &writer);
	if (!writer->slow_end)
		return;
	if (!id) {
		uint32_t first = 0;

		/* Two threads may get two ids. Both use the first one, by which chunk_count_records()
		 * recognises the recorder's own ranges. */
		id = dw_intern_op(DWELL_CATEGORY_PROFILER, "dwell: new chunk", NULL, 0, NULL, 0);
		if (!__atomic_compare_exchange_n(&dw_chunk_own_range, &first, id, false, __ATOMIC_RELAXED,
		                                 __ATOMIC_RELAXED))
			id = first;
	}
	start = stream_not_before(stream, writer->slow_start);
	end = writer->slow_end;
	writer->slow_end = 0;
	stream_put_time(stream, start);
	stream_put(stream, start, id, NULL, 0);
	stream_put_end(stream, stream_not_before(stream, end));
}

void dw_stream_put(struct dwell_stream *stream, uint64_t ticks, uint32_t word1,
                   const uint32_t *payload, unsigned words)
{
	stream_put_slow_range(stream);
	ticks = stream_not_before(stream, ticks);
	stream_put_time(stream, ticks);
	stream_put(stream, ticks, word1, payload, words);
}

void dw_stream_put_end(struct dwell_stream *stream, uint64_t ticks)
{
	stream_put_end(stream, stream_not_before(stream, ticks)); /* before a new chunk was claimed */
	stream_put_slow_range(stream);
}

/* ---- entering ---------------------------------------------------------------- */

static bool stream_has_space(const struct dwell_stream *stream, const struct dw_writer *writer)
{
	const char *chunk = (const char *)writer->chunk;

	return chunk && !writer->closes && !writer->chunk->end_bytes && stream->cursor > chunk &&
	       stream->cursor < chunk + DW_BLOCK_BYTES - DW_CHUNK_TAIL_BYTES;
}

/* Marks lost records, so that a reader does not match ends to begins across this place. */
static void stream_put_loss(struct dwell_stream *stream, struct dw_writer *writer)
{
	uint64_t now = stream_not_before(stream, dw_now());
	uint32_t payload[2] = { (uint32_t)writer->lost, (uint32_t)(writer->lost >> 32) };

	writer->lost = 0;
	stream_put_time(stream, now);
	stream_put(stream, now, (uint32_t)DW_LOSS << DW_KIND_SHIFT | writer->lost_cause, payload, 2);
}

static bool stream_find_space(struct dwell_stream *stream, struct dw_slot *slot, uint64_t entered,
                              enum dw_loss *cause)
{
	struct dw_writer *writer;

	dw_slot_of(stream, &writer);
	if (!stream_has_space(stream, writer)) {
		if (!dw_chunk_next(stream, slot, writer, cause)) {
			writer->lost++;
			writer->lost_cause = *cause;
			return false;
		}
		writer->slow_start = entered;
		writer->slow_end = dw_now();
		if (writer->lost)
			stream_put_loss(stream, writer);
	} else if (writer->thread != slot->thread) {
		/* The slot's last thread has ended; the new thread goes on in its chunk. */
		uint64_t now = stream_not_before(stream, dw_now());

		stream_put_time(stream, now);
		stream_put(stream, now, (uint32_t)DW_THREAD << DW_KIND_SHIFT | slot->thread, NULL, 0);
		writer->thread = slot->thread;
	}
	if (dw_session_inline())
		__atomic_store_n(&stream->limit, (char *)writer->chunk + DW_BLOCK_BYTES - DW_CHUNK_TAIL_BYTES,
		                 __ATOMIC_RELAXED);
	else if (DW_LOAD(dw_session.tick_offset))
		__atomic_store_n(&stream->limit, NULL, __ATOMIC_RELAXED);
	/* Pairs with the fence of dw_stream_halt(): either that clears the limit after this code set
	 * it, or this code sees that the session has ended. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!dw_session_head() || slot->generation != DW_LOAD(dw_session.generation))
		__atomic_store_n(&stream->limit, NULL, __ATOMIC_RELAXED);
	return true;
}

/* The counters of cores differ by microseconds. A counter that is more than a second behind was
 * reset. Without a correction, all later records would get the time of the last one. */
static bool stream_clock_was_reset(const struct dw_slot *slot, uint64_t now)
{
	return slot->main.last_ticks > now &&
	       slot->main.last_ticks - now > dw_session_map()->ticks_per_second;
}

void dw_stream_leave(struct dwell_stream *stream)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	DW_STORE(stream->busy, 0);
}

/*
 * The value of `busy` while a function out of line writes: the address of its frame in units of
 * 16 bytes, and 2 in the lowest bits. Both are in one word, so that a signal handler never finds
 * `busy` set together with the frame of another function: it would conclude that the frame is gone.
 */
uint32_t dw_stream_busy(uintptr_t frame)
{
	return (uint32_t)(frame >> 4) << 2 | DW_BUSY_OUT_OF_LINE;
}

/* Whether the function out of line that set `busy` can no longer continue, as seen from another
 * frame. If the frames are far apart they may be of two stacks, which proves nothing. */
static bool stream_frame_is_gone(uint32_t busy, uintptr_t frame)
{
	/* In units of 4 bytes: the frame's address in `busy` is shifted by 2. */
	int32_t above = (int32_t)((dw_stream_busy(frame) - busy) & ~3u);

	return above <= USUAL_STACK_BYTES / 4 &&
	       dw_process_jumped((frame & ~(uintptr_t)15) - (uintptr_t)((intptr_t)above * 4), frame);
}

/*
 * Whether the record for which `busy` is set will never be finished, because a signal handler
 * left the code that wrote it by siglongjmp().
 *
 * For code out of line this can be certain: its frame is gone if the caller's frame is not below
 * it. Inline code does not store its frame, and must not get slower by doing so. The program may
 * also have gone on in deeper frames. In these cases the stream is checked again, at most every
 * 2 ms. The record counts as abandoned if the stream did not change for a second, or during 8
 * checks outside signal handlers. A check is outside handlers if its frame is well above that of
 * the first check and if the thread blocks the same signals as when it registered. Both are
 * required: handlers that interrupt each other also check from different frames, and on a busy
 * machine they may leave the interrupted code no time to run.
 *
 * A wrong answer costs a chunk. Inline code that continues after all writes past the end of a
 * closed chunk. Code out of line finds that `busy` has changed.
 */
static bool stream_is_abandoned(const struct dw_slot *slot, const struct dwell_stream *stream,
                                struct dw_writer *writer, uintptr_t frame, uint64_t now)
{
	uint32_t busy = DW_LOAD(stream->busy);
	bool no_handler;

	if (busy != DW_BUSY_INLINE && stream_frame_is_gone(busy, frame))
		return true;
	if (!writer->seen_frame || writer->seen_cursor != stream->cursor) {
		writer->seen_frame = frame;
		writer->seen_cursor = stream->cursor;
		writer->seen_ticks = now;
		writer->seen_weight = 0;
		return false;
	}
	if (now - writer->seen_ticks < dw_session_map()->ticks_per_second / LOOKS)
		return false;
	no_handler = frame > writer->seen_frame + SIGNAL_FRAME_BYTES &&
	             dw_process_blocked_signals() == slot->blocked_signals;
	writer->seen_ticks = now;
	writer->seen_weight += no_handler ? LOOKS / 8 : 1;
	return writer->seen_weight >= LOOKS;
}

bool dw_stream_recover(struct dw_slot *slot, struct dwell_stream *stream, uintptr_t frame,
                       uint64_t now)
{
	struct dw_writer *writer = &slot->writers[stream == &slot->nested];
	uint32_t busy = DW_LOAD(stream->busy);
	const char *before = stream->cursor;

	if (!stream_is_abandoned(slot, stream, writer, frame, now))
		return false;
	/* It fails when a handler has just recovered the stream. */
	if (!__atomic_compare_exchange_n(&stream->busy, &busy, dw_stream_busy(frame), false,
	                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	writer->seen_frame = 0;
	dw_slot_resume(stream, writer->chunk);
	if (stream->cursor == before) { /* the record is not in the chunk */
		writer->lost++;
		writer->lost_cause = DW_LOSS_BUSY;
		dw_slot_lost(slot, DW_LOSS_BUSY, 1);
	}
	writer->closes = true;
	__atomic_store_n(&stream->limit, NULL, __ATOMIC_RELAXED);
	dw_stream_leave(stream);
	return true;
}

/* Whether a record is being written to the stream: the caller runs in a signal handler. */
static bool stream_is_interrupted(struct dw_slot *slot, struct dwell_stream *stream, uintptr_t frame,
                                  uint64_t now)
{
	return stream->busy && !dw_stream_recover(slot, stream, frame, now);
}

/* Finds space for a record in a claimed stream. False: the record is counted as lost and the
 * stream is free again. */
static bool stream_prepare(struct dwell_stream *stream, struct dw_slot *slot, uintptr_t frame,
                           uint64_t entered)
{
	enum dw_loss cause;
	bool place = stream_find_space(stream, slot, entered, &cause);

	/* A signal handler considered this record abandoned, because finding space took longer than
	 * a second on a slow disk. It counted the record as lost and gave the stream another chunk. */
	if (DWELL_UNLIKELY(DW_LOAD(stream->busy) != dw_stream_busy(frame)))
		return false;
	if (place)
		return true;
	dw_stream_leave(stream);
	dw_slot_lost(slot, cause, 1);
	return false;
}

__attribute__((noinline)) struct dwell_stream *dw_stream_enter(void)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	uint64_t entered = dw_now();
	enum dw_loss cause;
	struct dw_slot *slot = dw_slot_here(&cause);
	struct dwell_stream *stream;

	if (!slot) {
		dw_slot_lost(NULL, cause, 1);
		return NULL;
	}
	dw_journal_look(entered);
	if (DWELL_UNLIKELY(stream_clock_was_reset(slot, entered)))
		dw_journal_rebase(slot->main.last_ticks);
	stream = stream_is_interrupted(slot, &slot->main, frame, entered) ? &slot->nested : &slot->main;
	if (stream == &slot->nested && stream_is_interrupted(slot, stream, frame, entered)) {
		dw_slot_lost(slot, DW_LOSS_BUSY, 1);
		return NULL;
	}
	DW_STORE(stream->busy, dw_stream_busy(frame));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return stream_prepare(stream, slot, frame, entered) ? stream : NULL;
}

void dw_stream_halt(void)
{
	uint32_t count = dw_process ? __atomic_load_n(&dw_process->slot_count, __ATOMIC_ACQUIRE) : 0;

	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* see stream_find_space() */
	for (uint32_t i = 0; i < count && i < DW_MAX_SLOTS; i++) {
		__atomic_store_n(&dw_process->slots[i].main.limit, NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&dw_process->slots[i].nested.limit, NULL, __ATOMIC_RELAXED);
	}
}
