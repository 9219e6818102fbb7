/*
 * The structures and functions that nested.c and layout.c share.
 *
 * Nodes are laid out in their order, depth first, with one open interval for each level, so
 * memory grows with the depth and not with the number of nodes. There are two passes: the
 * first finds the number of rows and of merged nodes, the second writes the file.
 */
#pragma once

#include "pictures/pen.h"

#define DW_PICTURE_FRAMES (DW_PICTURE_WIDTH - 2 * DW_PICTURE_MARGIN)

struct dw_picture_level {
	uint64_t at, end;           /* where the next child begins; where the node ends */
	const char *label;
};

struct dw_picture_place {
	uint32_t x, width;
	uint64_t value;
};

struct dw_drawing {
	const struct dw_picture *picture;
	struct dw_pen pen;
	struct dw_picture_level *levels;       /* of the open nodes; [0] is the root */
	size_t capacity;
	uint32_t deepest_open;
	uint32_t closed;            /* depth of the last merged node; deeper nodes after it are in it */
	struct dw_picture_drawn drawn;
	uint64_t merged_value;
	uint32_t kinds;             /* mask of the kinds that occur */
};

/* Sums the root and makes the first pass. -1 when out of memory. */
int dw_picture_measure(struct dw_drawing *drawing);
/* Prepares the second pass. False when out of memory. */
bool dw_picture_start(struct dw_drawing *drawing);
/* The place of the next node. Afterwards levels[depth] is its parent. False if it has none,
 * because it is merged into its parent, or when out of memory, which sets *failed to -1. */
bool dw_picture_lay(struct dw_drawing *drawing, const struct dw_picture_node *node,
                    struct dw_picture_place *place, int *failed);
