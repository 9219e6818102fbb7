/*
 * Streams: the slow half of writing a record.
 *
 * The inline half (probe.h) writes while the chunk has space. This file handles the rest: new
 * chunks, long silences, new threads, interrupted records and all losses. A stream has one
 * writer: a thread writes to its own, and a signal handler that interrupted a record writes to
 * the thread's second one.
 */
#include "record/chunks.h"
#include "record/entry.h"
#include "record/ids.h"
#include "record/journal.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/streams.h"
#include "record/thread.h"


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
	/* Pairs with the fence of dw_process_halt(): either that clears the limit after this code set
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

/* `aside`: while the thread waits for records of the past, this one goes to its second stream. */
static inline __attribute__((always_inline)) struct dwell_stream *stream_enter(uintptr_t frame, bool aside)
{
	uint64_t entered = dw_now();
	enum dw_loss cause;
	struct dw_slot *slot;
	struct dwell_stream *stream;

	dw_hold_enter();
	slot = dw_slot_here(&cause);
	if (!slot) {
		dw_slot_lost(NULL, cause, 1);
		return NULL;
	}
	dw_journal_look(entered);
	if (DWELL_UNLIKELY(stream_clock_was_reset(slot, entered)))
		dw_journal_rebase(slot->main.last_ticks);
	aside = (aside && DW_LOAD(slot->late)) || stream_is_interrupted(slot, &slot->main, frame, entered);
	stream = aside ? &slot->nested : &slot->main;
	if (stream == &slot->nested && stream_is_interrupted(slot, stream, frame, entered)) {
		dw_slot_lost(slot, DW_LOSS_BUSY, 1);
		return NULL;
	}
	DW_STORE(stream->busy, dw_stream_busy(frame));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return stream_prepare(stream, slot, frame, entered) ? stream : NULL;
}

__attribute__((noinline)) struct dwell_stream *dw_stream_enter(void)
{
	return stream_enter((uintptr_t)__builtin_frame_address(0), false);
}

__attribute__((noinline)) struct dwell_stream *dw_stream_enter_aside(void)
{
	return stream_enter((uintptr_t)__builtin_frame_address(0), true);
}
