/*
 * Segments: pieces of streams that workers walk side by side.
 *
 * A stream is one thread's records in order, and what is open where a piece begins depends on
 * all records before it. So a first pass over the pieces, itself side by side, finds what each
 * piece ends of the ranges around it and what it leaves open; put together from the first
 * piece on, that gives the stack of open ranges at the beginning of each. A pass then resumes
 * a piece with that stack (pass.h), as if it had walked all before it.
 *
 * A stream stays in one piece where splitting it gains nothing or is not exact: it is short,
 * its file is still written, some ends name their range, ranges overlap, only part of the
 * time is in scope, or ranges nest deeper than the call tree tells apart.
 */
#ifndef DW_MODEL_CORE_SEGMENTS_H
#define DW_MODEL_CORE_SEGMENTS_H

#include "model/core/model_data.h"

struct dw_open_range {
	uint64_t start; /* ticks */
	uint32_t id;    /* OP, by its file */
};

struct dw_segment {
	size_t stream;        /* index */
	size_t from, to;      /* its chunks; `to` is not included */
	/* Where the chunk before `from` ended. Not used when `from` is 0. */
	uint32_t thread;      /* index; DW_NO_INDEX: none yet */
	uint64_t ticks, floor; /* see struct dw_decode_time */
	const struct dw_open_range *open; /* outermost first */
	uint32_t open_count;
};

struct dw_segments {
	struct dw_segment *items; /* of all streams in scope, large ones first */
	size_t count;
};

/* NULL when out of memory. */
const struct dw_segments *dw_model_segments(struct dw_model *model);

#endif
