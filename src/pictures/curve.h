/*
 * Curves: what several things have over time, one upon another, as an SVG that stands
 * for itself like those of picture.h.
 *
 * It knows no model; memory_curve.c makes curves of one. A panel is one account (a
 * device of a process); all panels have one time line. A value holds until the next
 * point. In a browser a line follows the pointer and says the values, dragging zooms,
 * and all of it works by keyboard; without scripts it is the same picture, still.
 *
 *   curve.c         the file
 *   curve_script.c  what a browser runs, and the style that only curves have
 */
#ifndef DW_PICTURES_CURVE_H
#define DW_PICTURES_CURVE_H

#include "pictures/picture.h"

#define DW_CURVE_SERIES 16u

struct dw_curve_panel {
	const char *label;
	size_t points;
	uint64_t peak_ns, peak_value; /* a point of the curve */
	const char *peak_label;
};

/* What the peak is made of: a line and a bar each. */
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
	const struct dw_picture_kind *series; /* from the bottom up; names and colours */
	size_t series_count;                  /* at most DW_CURVE_SERIES */
	uint64_t from_ns, to_ns;
	const struct dw_curve_panel *panels;
	size_t panel_count;
	/* Ascending points of a panel; `values` has room for all series. */
	void (*point)(const void *context, size_t panel, size_t index, uint64_t *at_ns,
	              uint64_t *values);
	const void *context;
	const char *mark;             /* what the marks are: "step" */
	const struct dw_curve_mark *marks; /* ascending; a line is where one begins */
	size_t mark_count;
	const char *holders_label;    /* above them */
	const struct dw_curve_holder *holders;
	size_t holder_count;
	const char *note;             /* or NULL */
};

/* Writes all of it through `put`, which keeps its own errors. */
void dw_curve_write(const struct dw_curve *curve, dw_put *put, void *to);

extern const char dw_curve_style[], dw_curve_script[];

#endif
