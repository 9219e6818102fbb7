/*
 * Whether a stream is in use, and records that a signal handler left by siglongjmp().
 */
#include "record/chunks.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/streams.h"
#include "record/thread.h"

/* The least distance on the stack between interrupted code and its signal handler's frame. */
#define SIGNAL_FRAME_BYTES 512u
#define USUAL_STACK_BYTES (64 << 20) /* few stacks are larger */
#define LOOKS 512u /* checks in a second of a record that seems abandoned */

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
static bool busy_frame_is_gone(uint32_t busy, uintptr_t frame)
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
static bool busy_is_abandoned(const struct dw_slot *slot, const struct dwell_stream *stream,
                                struct dw_writer *writer, uintptr_t frame, uint64_t now)
{
	uint32_t busy = DW_LOAD(stream->busy);
	bool no_handler;

	if (busy != DW_BUSY_INLINE && busy_frame_is_gone(busy, frame))
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

	if (!busy_is_abandoned(slot, stream, writer, frame, now))
		return false;
	/* It fails when a handler has just recovered the stream. */
	if (!__atomic_compare_exchange_n(&stream->busy, &busy, dw_stream_busy(frame), false,
	                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	writer->seen_frame = 0;
	dw_chunk_resume(stream, writer->chunk);
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
