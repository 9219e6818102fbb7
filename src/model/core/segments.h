/*
 * Segments: pieces of streams that workers walk in parallel.
 *
 * A stream is one thread's records in order, so the ranges that are open where a piece begins
 * depend on all records before it. A first pass over the pieces, also in parallel, finds which
 * outer ranges each piece ends and which ranges it leaves open. Combined from the first piece on,
 * this gives the stack of open ranges at the begin of each piece. A pass then starts a piece with
 * that stack (pass.h), as if it had walked everything before it.
 *
 * A stream stays in one piece if splitting it gains nothing or is not exact: it is short, its file
 * is still being written, some ends name their range, ranges overlap, only part of the time is in
 * scope, or ranges nest deeper than the call tree distinguishes.
 */
#pragma once

#include "model/core/model_data.h"

struct dw_segment_range {
	uint64_t start; /* ticks */
	uint32_t id;    /* id of its OP record, in its file */
};

struct dw_segment {
	size_t stream;        /* index into the source's streams */
	size_t from, to;      /* its chunks; `to` is excluded */
	/* The state at the end of the chunk before `from`. Not used if `from` is 0. */
	uint32_t thread;      /* index; DW_NO_INDEX: no thread yet */
	uint64_t ticks, floor; /* see struct dw_decode_time */
	const struct dw_segment_range *open; /* outermost first */
	uint32_t open_count;
};

struct dw_segments {
	struct dw_segment *items; /* of all streams in scope, largest first */
	size_t count;
};

/* NULL when out of memory. */
const struct dw_segments *dw_model_segments(struct dw_model *model);
/* The same for passes that need whole streams: each is one piece, and there is no first pass. */
const struct dw_segments *dw_model_whole_streams(struct dw_model *model);
