/* Slots of threads, and chunks of their streams. */
#pragma once

#include "record/thread.h"

extern const struct dwell_stream dw_slot_none; /* dwell_this_stream of threads without a slot */
/* The slot of a stream of the calling thread, and the stream's writer. */
struct dw_slot *dw_slot_of(struct dwell_stream *stream, struct dw_writer **writer);
/* Counts lost records. `slot` NULL: of a thread that has none. */
void dw_slot_lost(struct dw_slot *slot, enum dw_loss cause, uint64_t records);

/* Sets a stream's cursor and time from the records in its open chunk. */
void dw_chunk_resume(struct dwell_stream *stream, const struct dw_chunk *chunk);
/* Counts the records of a chunk as lost and empties it, while readers may copy it. `slot`: as for dw_slot_lost(). */
void dw_chunk_recycle(struct dw_chunk *chunk, struct dw_slot *slot, uint64_t records);
/* Gives the stream a new chunk; false with the cause. */
bool dw_chunk_next(struct dwell_stream *stream, struct dw_slot *slot, struct dw_writer *writer,
                   enum dw_loss *cause);
/* Atomic: id of the ranges that show what a new chunk cost. They are not counted when lost. */
extern uint32_t dw_chunk_own_range;
