/*
 * Curves: stacked values over time, as an SVG that needs no other file, like those of
 * picture.h.
 *
 * It knows no model; memory_curve.c makes a curve from one. A panel is one account (a device
 * of a process); all panels share a time line. A value holds until the next point. In a
 * browser a line follows the pointer and shows the values, dragging zooms, and everything
 * works by keyboard. Without scripts the picture is the same, but does not move.
 *
 *   curve.c         the file
 *   curve_script.c  the script for browsers, and the style that only curves have
 */
#pragma once

#include "pictures/picture.h"

#define DW_CURVE_SERIES 16u

struct dw_curve_panel {
	const char *label;
	size_t points;
	uint64_t peak_ns, peak_value; /* a point of the curve */
	const char *peak_label;
};

/* A holder of memory at the peak: a line of text and a bar. */
struct dw_curve_holder {
	const char *name;
	uint64_t value, of;
};

struct dw_curve_mark {
	uint64_t from_ns, to_ns, number;
};

struct dw_curve {
	const char *title, *subtitle;
	dw_picture_unit *unit;
	const struct dw_picture_kind *series; /* names and colours, from the bottom up */
	size_t series_count;                  /* at most DW_CURVE_SERIES */
	uint64_t from_ns, to_ns;
	const struct dw_curve_panel *panels;
	size_t panel_count;
	/* The points of a panel in order of time; `values` has space for all series. */
	void (*point)(const void *context, size_t panel, size_t index, uint64_t *at_ns, uint64_t *values);
	const void *context;
	const char *mark;             /* the word for a mark: "step" */
	const struct dw_curve_mark *marks; /* in order of time; a line is drawn at the begin of each */
	size_t mark_count;
	const char *holders_label;    /* the heading above the holders */
	const struct dw_curve_holder *holders;
	size_t holder_count;
	const char *note;             /* or NULL */
};

/* Writes the file through `put`, which keeps its own errors. */
void dw_curve_write(const struct dw_curve *curve, dw_put *put, void *to);

extern const char dw_curve_style[], dw_curve_script[];
