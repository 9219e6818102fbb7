/* The call paths of all runs of a comparison, and how their change is classed. */
#pragma once

#include "base/map.h"
#include "diff/diff.h"

#define DW_DIFF_LEAST (1.0 / 16) /* of the largest change: less is shown as no change */

/* A call path of all runs; the names of symbols differ in numbers from trace to trace. */
struct dw_diff_path {
	const char *name;
	uint32_t category, parent, depth; /* parent: DW_MAP_NONE for a thread */
	uint32_t child, sibling;          /* DW_MAP_NONE: none; set by dw_diff_paths_sort() */
	double total[DW_DIFF_SIDES], self[DW_DIFF_SIDES], calls[DW_DIFF_SIDES]; /* per step, sums of runs */
};

struct dw_diff_paths {
	struct dw_diff_path *nodes;
	size_t count, capacity;
	struct dw_map map;
	uint32_t *open;           /* of the run that is added: the node of each depth */
	size_t open_capacity;
};

/* Of sums of runs: their mean of a side, and the change of the mean. */
double dw_diff_path_mean(const struct dw_diff *diff, const double *sums, unsigned side);
double dw_diff_path_change(const struct dw_diff *diff, const double *sums);
/* The largest change of the self time of a path. */
double dw_diff_paths_largest_ns(const struct dw_diff *diff);
/* The quarter of the largest change in which the path's change of self time is: 1 to DW_DIFF_CLASSES,
 * negative if it is faster; 0: a thread, or next to no change. */
int dw_diff_path_class(const struct dw_diff *diff, const struct dw_diff_path *path, double largest_ns);
/* Numbers of paths, depth first. Siblings are in the order of their time after, and those without are
 * left out; with `both` it is the longer of their times before and after. The caller frees the array.
 * NULL: out of memory. */
uint32_t *dw_diff_paths_sort(struct dw_diff *diff, bool both, size_t *count);
