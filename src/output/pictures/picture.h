/*
 * Pictures: nested nodes, as one SVG that needs no other file.
 *
 * One renderer draws flame graphs and icicles of anything with a value and parts: calls and
 * their time, layers and their bytes. It knows no model; flamegraph.c and layers.c make nodes
 * from one. The file contains its style and its script. In a browser it zooms, searches and
 * works by keyboard. In an <img>, or in a viewer without scripts, the picture is the same, but
 * does not move.
 *
 *   layout.c   the place of each node
 *   nested.c  the file
 *   style.c    colours and fonts, for light and dark
 *   script.c   the script for browsers
 *   xml.c      any bytes as text in XML
 *
 * Places are whole numbers, in parts of DW_PICTURE_FULL, which is the width of the root. So a
 * node never reaches beyond its parent, neither in the file nor in its value.
 */
#pragma once

#include "base/text.h"
#include "dwell/dwell.h"

#define DW_PICTURE_FULL 10000000u          /* the unit of x and width: 100.00000% */
#define DW_PICTURE_WIDTH 1200u             /* pixels; browsers fit it to the page */
#define DW_PICTURE_NO_SELF UINT64_MAX

enum dw_picture_hue {
	DW_HUE_GREY, DW_HUE_STONE, DW_HUE_BLUE, DW_HUE_GREEN, DW_HUE_AMBER, DW_HUE_YELLOW,
	DW_HUE_TEAL, DW_HUE_VIOLET, DW_HUE_ROSE, DW_HUE_LIME, DW_HUE_SLATE, DW_HUE_COUNT
};

/* A kind of nodes: a colour, and a name in tooltips and in the legend, which joins the kinds of
 * one hue. */
/* A hue from DW_HUE_COUNT to DW_HUE_MOST - 1 has its colour in dw_picture.style. */
#define DW_HUE_MOST (DW_HUE_COUNT + 8)

struct dw_picture_kind {
	const char *name;
	enum dw_picture_hue hue;
};

struct dw_picture_node {
	const char *label;   /* any bytes */
	uint64_t value;      /* with its children; cut at the value of its parent */
	uint64_t self;       /* for the tooltip, or DW_PICTURE_NO_SELF */
	uint64_t count;      /* of calls or the like, for the tooltip; 0 means not shown */
	uint32_t depth;      /* 0 for children of the root; at most one more than the node before */
	uint32_t kind;       /* index into kinds */
	const char *note;    /* the end of the tooltip, or NULL; valid until the next node is read */
};

/* A value as text with its unit, like dw_text_ns() and dw_text_bytes(). */
typedef struct dw_text dw_picture_unit(double value, const char *gap);

struct dw_picture {
	const char *title;
	const char *subtitle;               /* or NULL */
	const char *root;                   /* the name of the root: "all" */
	const char *counted;                /* the word for one of `count`: "call" */
	dw_picture_unit *unit;
	bool down;                          /* the root on top: an icicle */
	bool plain;                         /* colours are a scale: no shades of neighbours, no kinds in tooltips */
	const char *style;                  /* colours from .c11 on for further hues, or NULL */
	const struct dw_picture_kind *kinds; /* the first is that of the root */
	size_t kind_count;                  /* at most 32 */
	/* Sets *node to the node of this index. Nodes are in order, depth first, and are read several
	 * times. Labels must exist until the picture is written. */
	void (*node)(const void *context, size_t index, struct dw_picture_node *node);
	const void *context;
	size_t count;
};

/* What was drawn, for messages and tests. */
struct dw_picture_drawn {
	uint64_t nodes;      /* with the root */
	uint64_t merged;     /* narrower than a tenth of a pixel, so drawn as part of their parents */
	uint32_t rows;
	uint64_t total;
};

/* Writes the file through `put`, which keeps its own errors. `drawn` may be NULL.
 * Errors: DWELL_E_NOMEM. */
int dw_picture_write(const struct dw_picture *picture, dw_put *put, void *to,
                     struct dw_picture_drawn *drawn, struct dwell_error *error);

/* xml.c: text for content and quoted attributes. Characters that XML cannot hold, and line
 * breaks, become U+FFFD. If `columns` is not 0, a wider text is cut and ends in "…". */
void dw_picture_xml(dw_put *put, void *to, const char *text, unsigned columns);
#define DW_PICTURE_UNCUT UINT32_MAX

extern const char dw_picture_style[], dw_picture_script[];
