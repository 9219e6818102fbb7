/*
 * The hot part of the collectives: what is done for each range and each record.
 *
 * A part (part.h) of walks over whole streams. What a stream has is its own; dw_collectives_finish() puts all of them
 * together in the order of the streams.
 */
#pragma once

#include "model/collectives/collectives.h"
#include "model/core/part.h"
#include "model/core/product.h"

#define DW_MOST_COLLECTIVES ((size_t)1 << 22)

struct dw_collectives_frame {
	uint32_t symbol;
	uint32_t last; /* collective of its last record, plus 1; 0: none */
	bool in_scope;
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

struct dw_collectives_sums {
	struct dw_model *model;
	struct dw_collectives_stream *streams; /* by stream */
};

struct dw_collectives_worker { };

/* The state for a stream. */
struct dw_collectives_pass {
	struct dw_collectives_stream *stream; /* NULL: it has none in scope */
	const struct dw_pass *pass;
	size_t frame_bytes, frame_offset;
	uint32_t process, symbol_count;
	const struct dw_source_clock *clock;
	const uint32_t *symbol_by_id;
};

/* Whether the stream may have collectives in scope. Other streams need no walk. */
bool dw_collectives_has_stream(const struct dw_model *model, size_t stream);
/* False: out of memory. Call the reset function in any case. */
bool dw_collectives_sums_init(struct dw_collectives_sums *sums, struct dw_model *model);
void dw_collectives_sums_reset(struct dw_collectives_sums *sums);
/* Makes the product, in zeroed memory. False: out of memory. */
bool dw_collectives_finish(struct dw_collectives_sums *sums, void *result);

/* The functions of the part. */
bool dw_collectives_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from);

/* Internal: see collectives_pass.c. */
void dw_collectives_found(struct dw_collectives_pass *walk, struct dw_collectives_frame *frame,
                          const struct dw_record *record);
void dw_collectives_end(struct dw_collectives_pass *walk, const struct dw_collectives_frame *frame,
                        uint64_t start_ticks, uint64_t end_ticks, enum dw_leave how);

DW_INLINE void dw_collectives_enter(void *pass, void *place, const struct dw_here *here)
{
	const struct dw_collectives_pass *walk = pass;
	struct dw_collectives_frame *frame = place;

	frame->symbol = walk->symbol_by_id[here->id < walk->symbol_count ? here->id : 0];
	frame->last = 0;
	frame->in_scope = here->everything || dw_pass_in_scope(here->pass, here->ticks);
	here->range->in_scope = frame->in_scope;
}

static inline void dw_collectives_note(void *pass, uint64_t ticks, const struct dw_record *record)
{
	struct dw_collectives_pass *walk = pass;
	const struct dw_pass *at = walk->pass;
	struct dw_collectives_frame *frame;

	if (!walk->stream || !at->depth || at->folded || record->kind != DW_EXT ||
	    record->id != (DW_EXT_COLLECTIVE << DW_EXT_TYPE_SHIFT | DW_COLLECTIVE_WORDS))
		return;
	frame = (void *)((char *)dw_pass_at(at, walk->frame_bytes, at->depth) + walk->frame_offset);
	if (frame->in_scope)
		dw_collectives_found(walk, frame, record);
}

DW_INLINE void dw_collectives_leave(void *pass, void *place, const struct dw_here *here)
{
	const struct dw_collectives_frame *own = place;

	if (__builtin_expect(own->last != 0, 0))
		dw_collectives_end(pass, own, here->range->start, here->ticks, here->how);
}

static const struct dw_part dw_collectives_part = {
	.begin = dw_collectives_begin, .enter = dw_collectives_enter, .leave = dw_collectives_leave,
	.note = dw_collectives_note,
};
