/*
 * What threads did in order of time, by samples: each function from the first to the last of neighbouring samples that
 * lie in it. Timelines draw it for threads that have no ranges, or few.
 *
 * A sample reaches back for the time that it stands for, of CPU time or of waiting, at most to the sample before. A
 * function that both samples are in is open between them; the innermost one only if there is no gap. The outermost one is
 * the program's: what starts it is left out, and between functions what interprets it.
 */
#pragma once

#include "model/core/model.h"

struct dw_sample_span {
	uint64_t start_ns, end_ns;
	uint32_t thread, symbol, depth;
};

struct dw_sample_chart {
	const struct dw_symbol *symbols; /* those of the model, then functions */
	uint32_t symbol_count;
	struct dw_sample_span *spans;    /* by thread; of a thread by their ends, those inside before those around them */
	size_t count;
	uint64_t *sampled_ns;            /* by thread: the time of the outermost ones */
};

/* Without samples there are no spans. */
const struct dw_sample_chart *dw_model_sample_chart(struct dw_model *model, struct dwell_error *error);
