/* The place of each node of a picture; see inside.h. */
#include "pictures/inside.h"

#include <assert.h>

#include "base/grow.h"

#define LEAST (DW_PICTURE_FULL / (DW_PICTURE_FRAMES * 10)) /* a tenth of a pixel */
#define NOT_CLOSED UINT32_MAX

static uint32_t layout_x(const struct dw_drawing *drawing, uint64_t value)
{
	return (uint32_t)((double)value / (double)drawing->drawn.total * DW_PICTURE_FULL + 0.5);
}

bool dw_picture_start(struct dw_drawing *drawing)
{
	struct dw_picture_level *level = drawing->levels;

	if (!level)
		level = DW_GROW(&drawing->levels, &drawing->capacity, 0);
	if (!level)
		return false;
	level->at = 0;
	level->end = drawing->drawn.total;
	level->label = drawing->picture->root;
	drawing->deepest_open = 0;
	drawing->closed = NOT_CLOSED;
	drawing->drawn.nodes = 1;
	drawing->drawn.merged = 0;
	drawing->merged_value = 0;
	return true;
}

static bool layout_merge(struct dw_drawing *drawing, uint32_t depth, uint64_t value)
{
	drawing->drawn.merged++;
	if (depth <= drawing->closed) {
		drawing->merged_value += value;
		drawing->closed = depth;
	}
	return false;
}

bool dw_picture_lay(struct dw_drawing *drawing, const struct dw_picture_node *node,
                    struct dw_picture_place *place, int *failed)
{
	struct dw_picture_level *parent, *level;
	uint64_t start;

	if (node->depth > drawing->closed)
		return layout_merge(drawing, node->depth, 0);
	assert(node->depth <= drawing->deepest_open);
	parent = &drawing->levels[node->depth];
	start = parent->at;
	place->value = node->value < parent->end - start ? node->value : parent->end - start;
	parent->at += place->value;
	place->x = layout_x(drawing, start);
	place->width = layout_x(drawing, start + place->value) - place->x;
	if (place->width < LEAST || !place->value)
		return layout_merge(drawing, node->depth, place->value);
	if (node->depth + 1u == drawing->capacity && !DW_GROW(&drawing->levels, &drawing->capacity, node->depth + 1u)) {
		*failed = -1;
		return false;
	}
	level = &drawing->levels[node->depth + 1];
	level->at = start;
	level->end = start + place->value;
	level->label = node->label;
	drawing->deepest_open = node->depth + 1;
	drawing->closed = NOT_CLOSED;
	drawing->drawn.nodes++;
	return true;
}

/* Finds the sum, the depth, and the kinds that the legend needs. */
int dw_picture_measure(struct dw_drawing *drawing)
{
	const struct dw_picture *picture = drawing->picture;
	struct dw_picture_node node = { .note = NULL };
	struct dw_picture_place place;
	int failed = 0;

	for (size_t i = 0; i < picture->count; i++) {
		picture->node(picture->context, i, &node);
		if (!node.depth)
			drawing->drawn.total += node.value;
	}
	drawing->drawn.rows = 1;
	if (!dw_picture_start(drawing))
		return -1;
	for (size_t i = 0; i < picture->count; i++) {
		picture->node(picture->context, i, &node);
		if (!dw_picture_lay(drawing, &node, &place, &failed))
			continue;
		drawing->kinds |= 1u << node.kind;
		if (drawing->drawn.rows < node.depth + 2)
			drawing->drawn.rows = node.depth + 2;
	}
	return failed;
}
