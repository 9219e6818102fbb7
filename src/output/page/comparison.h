/*
 * The page of a comparison: the file of `dwell diff --format html`.
 *
 * It is the page of a report (report.h) with other data, from which the page knows what to draw:
 *
 *   {"version":1,"comparison":{"before":[path...],"after":[path...],"before_count","after_count"},
 *    "tables":[verdict, parts, operators, runs, comparable, environment, a table of names by category],
 *    "flame":{"largest_ns","left_out","names":[...],"nodes":[...]}}
 *
 * A node of the flame graph is depth, name, category (-1: a thread), class of the change of its self
 * time (-4 faster to 4 slower), total, self and calls, each before and after: times in ns per step.
 * Nodes are depth first. They include those that only the runs before have. Narrow ones are left out,
 * with all below them.
 */
#pragma once

#include "diff/diff.h"
#include "export/out.h"

/* Writes a comparison to whose runs paths and environments were added. Errors of `out` are its own. */
int dw_page_comparison(struct dw_diff *diff, struct dw_writer_out *out, struct dwell_error *error);
/* Writes the differential flame graph alone, as SVG. `put` keeps its own errors. comparison_flame.c */
int dw_page_comparison_flame(struct dw_diff *diff, dw_put *put, void *to, struct dwell_error *error);
