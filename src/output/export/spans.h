/*
 * Ranges as begins and ends in order of time, for formats that draw a stack.
 *
 * The timeline reports a range when it ends. A format that opens and closes frames needs them by time, so
 * dw_spans_collect() keeps the ranges, 32 bytes each. Of more than a given number the shortest are left out: their
 * time is then that of the range around them.
 */
#pragma once

#include "export/filter.h"
#include "model/model.h"

struct dw_span {
	uint64_t start_ns, end_ns;
	uint32_t symbol, depth;
	uint32_t track; /* thread * 2, or thread * 2 + 1 for its signal handlers */
};

#define DW_SPAN_BUCKETS 512u

struct dw_spans {
	struct dw_span *list; /* by track, then by time */
	size_t count, capacity, most;
	uint64_t left_out; /* how many ranges are not in the list */
	uint64_t longest_left_out_ns;
	uint32_t least_bucket;            /* shorter ranges are left out */
	uint64_t counts[DW_SPAN_BUCKETS]; /* how many of the list, by their length */
	struct dw_export_filter filter;
	const struct dw_symbol *symbols;
	size_t symbol_count;
	bool failed;
};

/* Collects the ranges that the filter wants; `most`: how many at most. Errors: those of dw_model_events(). */
int dw_spans_collect(struct dw_spans *spans, struct dw_model *model, const struct dw_export_filter *filter, size_t most,
                     struct dwell_error *error);
/* How many of the list, from `at` on, are of one track. */
size_t dw_spans_of_track(const struct dw_spans *spans, size_t at);

/* Calls `put` for each begin and end of `count` spans of one track, in order of time. An end is always that of the
 * innermost open range: ranges that overlap in part are closed and opened again. False: out of memory. */
bool dw_spans_replay(const struct dw_span *spans, size_t count,
                     void (*put)(void *to, bool opens, uint32_t symbol, uint64_t ns), void *to);
void dw_spans_reset(struct dw_spans *spans);
