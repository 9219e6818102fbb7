/*
 * Segments whose begins another walk finds.
 *
 * A walk that visits whole streams in any case knows the open ranges at every chunk. It can replace
 * the first pass of segments.h:
 *
 *     dw_segments_plan()     where streams are to be cut
 *     dw_segment_begin()     at each of these chunks, and the caller fills the open ranges
 *     dw_segments_put()      the product; dw_model_segments() returns it from then on
 *
 * A stream of which not all begins were found stays in one piece.
 */
#pragma once

#include "model/core/pass.h"

struct dw_segment_plan {
	struct dw_segment segment;
	struct dw_segment_range *open; /* the open ranges at its begin; malloc'ed. NULL: not found */
};

struct dw_segments_plan {
	struct dw_segment_plan *items; /* by stream, in order of chunks */
	size_t count;
};

/* Plans nothing if the segments exist already. False: out of memory. */
bool dw_segments_plan(struct dw_segments_plan *plan, struct dw_model *model);
void dw_segments_plan_reset(struct dw_segments_plan *plan);
/* Sets the begin of a segment: the next chunk that `pass` visits is its first. Allocates `open` for
 * as many ranges as are open. False: the segment cannot begin here. */
bool dw_segment_begin(struct dw_segment_plan *item, const struct dw_pass *pass);
/* Does nothing without a plan. False: out of memory. */
bool dw_segments_put(const struct dw_segments_plan *plan, struct dw_model *model);
