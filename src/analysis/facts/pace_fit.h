/*
 * How lengths change over a run: by a trend, or at one point, or not at all.
 *
 * The trend is that of the sequence view (Mann-Kendall over medians of blocks, Theil-Sen). A change
 * point divides the medians of the blocks into two parts by Pettitt's test at 0.01. Only one of the
 * two is reported: the trend if the medians deviate less from a line, the change point if they
 * deviate less from two levels.
 */
#pragma once

#include <stddef.h>

#define DW_PACE_MOST 1.75 /* times as slow: no processor's clock changes more */
#define DW_PACE_LEAST 0.1 /* of a step, or of its CPU time: less has no pace of its own */

/* One of `trend` and `change` is not 0, or neither. */
struct dw_pace_fit {
	double trend;  /* from the first to the last, divided by the median */
	double change; /* from the median before the point to the one after it, divided by the one before */
	double before, after; /* these medians, if there is a change point */
	size_t at;     /* the first length after the change point; half of them without one */
};

/* `lengths`: in the order of the run; their order afterwards is not defined. */
struct dw_pace_fit dw_pace_fit(double *lengths, size_t count);
