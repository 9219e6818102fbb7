/*
 * The hot part of the collectives: what a pass does for each range and each record.
 *
 * For the pass of collectives_pass.c and for passes that also compute other products. Each stream is walked
 * whole, and what it has is its own: streams may be walked in parallel. dw_collectives_finish() puts them
 * together in the order of the streams.
 */
#pragma once

#include "model/collectives/collectives.h"
#include "model/core/pass.h"
#include "model/core/product.h"

#define DW_MOST_COLLECTIVES ((size_t)1 << 22)

/* The part of a pass's frame that follows struct dw_frame. */
struct dw_collectives_frame {
	uint32_t symbol;
	uint32_t last; /* collective of its last record, plus 1; 0: none */
};

/* A collective of a stream. Its times are set when its range ends. */
struct dw_collective_noted {
	struct dw_collective collective;
	uint32_t group_id; /* a STRING of the stream's file */
	uint32_t previous; /* of the same range, plus 1; 0: none */
};

/* The collectives of a stream, in order of their records. All zero is empty. */
struct dw_collectives_stream {
	struct dw_collective_noted *noted;
	size_t count, capacity;
	uint64_t left_out;
	bool failed; /* memory ran out */
};

/* The state for a stream. */
struct dw_collectives_walk {
	struct dw_collectives_stream *stream;
	uint32_t process, symbol_count;
	const struct dw_source_clock *clock;
	const uint32_t *symbol_by_id;
};

/* Whether the stream may have collectives in scope. Other streams need no walk. */
bool dw_collectives_has_stream(const struct dw_model *model, size_t stream);
void dw_collectives_begin(struct dw_collectives_walk *walk, struct dw_collectives_stream *stream,
                          const struct dw_model *model, size_t index);
/* Makes the product, in zeroed memory, from what each stream has, and frees that. False: out of memory. */
bool dw_collectives_finish(struct dw_model *model, struct dw_collectives_stream *streams, void *result);

/* Internal: see collectives_pass.c. */
void dw_collectives_found(struct dw_collectives_walk *walk, struct dw_collectives_frame *frame,
                          const struct dw_record *record);
void dw_collectives_end(struct dw_collectives_walk *walk, const struct dw_collectives_frame *frame,
                        uint64_t start_ticks, uint64_t end_ticks, enum dw_leave how);

/* To be called when a range has begun and is on the stack. */
DW_INLINE void dw_collectives_enter(const struct dw_collectives_walk *walk, struct dw_collectives_frame *frame,
                                    uint32_t id)
{
	frame->symbol = walk->symbol_by_id[id < walk->symbol_count ? id : 0];
	frame->last = 0;
}

/* For other records: `frame` is the innermost range, and in scope. */
DW_INLINE void dw_collectives_note(struct dw_collectives_walk *walk, struct dw_collectives_frame *frame,
                                   const struct dw_record *record)
{
	if (record->kind == DW_EXT && record->id == (DW_EXT_COLLECTIVE << DW_EXT_TYPE_SHIFT | DW_COLLECTIVE_WORDS))
		dw_collectives_found(walk, frame, record);
}

DW_INLINE void dw_collectives_leave(struct dw_collectives_walk *walk, const struct dw_frame *frame,
                                    const struct dw_collectives_frame *own, uint64_t ticks, enum dw_leave how)
{
	if (__builtin_expect(own->last != 0, 0))
		dw_collectives_end(walk, own, frame->start, ticks, how);
}
