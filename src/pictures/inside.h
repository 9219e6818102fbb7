/*
 * The renderer from inside: what picture.c and layout.c share.
 *
 * Nodes are laid out as they come, depth first, with one open interval a level: what
 * is kept grows with the depth, not with the nodes. It is done twice, first for the
 * number of rows and of merged nodes, then for the file.
 */
#ifndef DW_PICTURES_INSIDE_H
#define DW_PICTURES_INSIDE_H

#include "pictures/pen.h"

#define DW_PICTURE_MARGIN 10u
#define DW_PICTURE_FRAMES (DW_PICTURE_WIDTH - 2 * DW_PICTURE_MARGIN)

struct dw_picture_level {
	uint64_t at, end;           /* where the next part begins; where the node ends */
	const char *label;
};

struct dw_picture_place {
	uint32_t x, width;
	uint64_t value;
};

struct dw_drawing {
	const struct dw_picture *picture;
	struct dw_pen pen;
	struct dw_picture_level *levels;       /* of the nodes that are open; [0] is the whole */
	size_t capacity;
	uint32_t deepest_open;
	uint32_t closed;            /* depth of the merged node that the next ones may lie in */
	struct dw_picture_drawn drawn;
	uint64_t merged_value;
	uint32_t kinds;             /* mask of those seen */
};

/* Sums the whole and makes the first pass. -1: out of memory. */
int dw_picture_measure(struct dw_drawing *drawing);
/* Before the second pass. false: out of memory. */
bool dw_picture_start(struct dw_drawing *drawing);
/* Where the next node lies; false: nowhere, it is part of its parent, or out of memory,
 * and then *failed is -1. Afterwards levels[depth] is its parent. */
bool dw_picture_lay(struct dw_drawing *drawing, const struct dw_picture_node *node,
                    struct dw_picture_place *place, int *failed);

#endif
