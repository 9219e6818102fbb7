/* The slow half of writing a record. */
#pragma once

#include "record/thread.h"

/*
 * Enters the recorder out of line. Returns the calling thread's stream with `busy` set and space
 * for a record, or NULL (counted as lost). Call dw_stream_leave() after it.
 */
struct dwell_stream *dw_stream_enter(void);
/* The same for samples, which leave the time of the thread's records where it is: see dwell_late_put(). */
struct dwell_stream *dw_stream_enter_aside(void);
void dw_stream_leave(struct dwell_stream *stream);
/* Called when `busy` is set. True if the record that set it was abandoned; the stream is then
 * usable again. */
bool dw_stream_recover(struct dw_slot *slot, struct dwell_stream *stream, uintptr_t frame,
                       uint64_t now);
/* Values of `busy`: 0 while the stream is free, 1 while inline code writes, and dw_stream_busy() of
 * the frame while a function out of line writes. */
#define DW_BUSY_INLINE 1u
#define DW_BUSY_OUT_OF_LINE 2u
uint32_t dw_stream_busy(uintptr_t frame);
void dw_stream_put(struct dwell_stream *stream, uint64_t ticks, uint32_t word1,
                   const uint32_t *payload, unsigned words);
void dw_stream_put_end(struct dwell_stream *stream, uint64_t ticks);

/* Notes that the program records operators itself; see dwell_operator_probes. */
void dw_probe_note_operators(uint32_t category);
