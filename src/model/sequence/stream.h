/*
 * A stream's operators while a process's streams are read side by side: between
 * sequence_stream.c, which reads one, and sequence_walk.c, which puts them together.
 */
#ifndef DW_MODEL_SEQUENCE_STREAM_H
#define DW_MODEL_SEQUENCE_STREAM_H

#include "model/sequence/positions.h"
#include "model/core/pass.h"

#define DW_SEQUENCE_MOST_ITEMS (1u << 20) /* waiting, of a stream */

/* What an id is, above its row: nothing, a phase (enum dw_sequence_phase), an operator. */
enum { DW_IS_NOTHING, DW_IS_OPERATOR = DW_IN_OTHER_PHASE + 1 };

/* A stretch in which something of the steps is missing. */
struct dw_sequence_gap {
	uint64_t from, to; /* both inclusive */
};

struct dw_sequence_span {
	uint64_t start, duration;
};

struct dw_sequence_streams;

/* `pass` first. */
struct dw_sequence_stream {
	struct dw_pass pass;
	struct dw_frames frames;
	struct dw_sequence_streams *all;
	const uint32_t *codes;   /* by id: row, and above it what it is */
	bool op_open;            /* an operator that lies in no other is open */
	uint32_t op_key;
	uint64_t op_start;
	bool op_wanted;
	uint32_t phase;          /* the innermost open one */
	bool forward_open;       /* the outermost "forward" */
	struct dw_sequence_item *items;
	size_t head, count, item_capacity;
	struct dw_sequence_span *forwards;   /* of the step's thread */
	size_t forward_head, forward_count, forward_capacity;
	size_t next_chunk;
	bool finished;
};

/* Those of a process. */
struct dw_sequence_streams {
	struct dw_model *model;
	const struct dw_sequence_steps *steps;
	uint64_t from;           /* what begins before is of no step that is still to come */
	struct dw_sequence_stream *streams;
	size_t stream_count;
	bool *linked;            /* threads, by index: backward passes of the steps' */
	struct dw_sequence_gap *gaps;
	size_t gap_head, gap_count, gap_capacity;
	struct dw_sequence_item *merged;
	size_t merged_capacity;
	bool failed;
};

/* Whether its operators belong to the steps, where it is now. */
static inline bool dw_sequence_stream_is_ours(const struct dw_sequence_stream *stream)
{
	uint32_t thread = stream->pass.walk.thread;

	return thread == stream->all->steps->thread ||
	       (thread != DW_NO_INDEX && stream->all->linked[thread]);
}

/* Reads its next chunk; behind the last one it is finished. */
void dw_sequence_stream_advance(struct dw_sequence_stream *stream);
/* By id of a process's file: row, and above it what the id is. To be freed; NULL when
 * out of memory. */
uint32_t *dw_sequence_codes(const struct dw_model *model, uint32_t file);

#endif
