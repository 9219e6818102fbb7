/*
 * Pictures: nodes that lie in one another, as one SVG that stands for itself.
 *
 * One renderer for flame graphs and icicles of whatever has a value and parts: calls
 * and their time, layers and their bytes. It knows no model; flamegraph.h makes nodes
 * of one. The file needs nothing beside it: style and script are in it. Opened in a
 * browser it zooms, searches and works by keyboard alone; within <img> or in a viewer
 * without scripts it is the same picture, still.
 *
 *   layout.c   where each node lies
 *   picture.c  the file
 *   style.c    colours and fonts, for light and dark
 *   script.c   what a browser runs
 *   xml.c      text in XML, whatever its bytes
 *
 * Places are whole numbers, DW_PICTURE_FULL being the width of all: a part never
 * reaches beyond what it is part of, in the file as in the values.
 */
#ifndef DW_PICTURES_PICTURE_H
#define DW_PICTURES_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "dwell/dwell.h"

#define DW_PICTURE_FULL 10000000u          /* x and width in these: 100.00000% */
#define DW_PICTURE_WIDTH 1200u             /* pixels, until a browser fits it */
#define DW_PICTURE_NO_SELF UINT64_MAX

enum dw_picture_hue {
	DW_HUE_GREY, DW_HUE_STONE, DW_HUE_BLUE, DW_HUE_GREEN, DW_HUE_AMBER, DW_HUE_YELLOW,
	DW_HUE_TEAL, DW_HUE_VIOLET, DW_HUE_ROSE, DW_HUE_LIME, DW_HUE_SLATE, DW_HUE_COUNT
};

/* What a node is: its colour, and its name in tooltips and in the legend, where those of
 * one hue stand together. */
struct dw_picture_kind {
	const char *name;
	enum dw_picture_hue hue;
};

struct dw_picture_node {
	const char *label;   /* any bytes */
	uint64_t value;      /* inclusive; what is more than the parent has is cut */
	uint64_t self;       /* for the tooltip, or DW_PICTURE_NO_SELF */
	uint64_t count;      /* calls and the like, for the tooltip; 0: not said */
	uint32_t depth;      /* 0: lies in the whole; at most one more than the node before */
	uint32_t kind;       /* into kinds */
};

/* The quantity with its unit, as dw_text_ns() and dw_text_bytes() give it. */
typedef struct dw_text dw_picture_unit(double value, const char *gap);

struct dw_picture {
	const char *title;
	const char *subtitle;               /* or NULL */
	const char *root;                   /* what the whole is called: "all" */
	const char *counted;                /* what count counts: "call" */
	dw_picture_unit *unit;
	bool down;                          /* the whole on top: an icicle */
	const struct dw_picture_kind *kinds; /* the first is the whole's */
	size_t kind_count;                  /* at most 32 */
	/* Nodes depth first; asked for in order, a few times over. Labels have to last until
	 * the picture is written. */
	void (*node)(const void *context, size_t index, struct dw_picture_node *node);
	const void *context;
	size_t count;
};

/* What was drawn; for messages and tests. */
struct dw_picture_drawn {
	uint64_t nodes;      /* with the whole */
	uint64_t merged;     /* narrower than a tenth of a pixel: part of their parents */
	uint32_t rows;
	uint64_t total;
};

/* Writes all of it through `put`, which keeps its own errors. `drawn` may be NULL.
 * Errors: DWELL_E_NOMEM. */
int dw_picture_write(const struct dw_picture *picture, dw_put *put, void *to,
                     struct dw_picture_drawn *drawn, struct dwell_error *error);

/* xml.c: text for content and quoted attributes. What XML cannot hold becomes U+FFFD,
 * a line break too. With `columns` it ends in "…" where it would be wider. */
void dw_picture_xml(dw_put *put, void *to, const char *text, unsigned columns);
#define DW_PICTURE_UNCUT UINT32_MAX

extern const char dw_picture_style[], dw_picture_script[];

#endif
