/*
 * Layers from inside: the tree while it grows.
 *
 * Node 0 stands for what lies in no layer. A node's parent has a smaller index.
 */
#ifndef DW_MODEL_LAYERS_INSIDE_H
#define DW_MODEL_LAYERS_INSIDE_H

#include "model/inside.h"
#include "model/layers.h"

/* As struct dw_layer_sums, in ticks of the first file. */
struct dw_layer_ticks {
	uint64_t operators, backward;
	int64_t bytes, backward_bytes;
	uint64_t flops;
};

struct dw_layer_node {
	const char *path;
	uint32_t path_length;
	uint32_t parent, first_child, last_child, next; /* 0: none; of the top ones, node 0's */
	uint32_t within;        /* calls of it that are open where the walk is */
	uint64_t calls, open, total, self;
	struct dw_layer_ticks ticks;
};

struct dw_layer_tree {
	struct dw_model *model;
	struct dw_layer_node *nodes;
	size_t count, capacity;
	uint32_t *slots;        /* node, by path; 0: free */
	size_t mask;
	struct { uint32_t around, node; } *last; /* by symbol: what it was found to be */
};

/* False or 0 when out of memory, here and below. */
bool dw_layer_tree_make(struct dw_layer_tree *tree, struct dw_model *model);
/* Which layer a range of this symbol is, inside the layer `around` (0: in none). */
uint32_t dw_layer_node(struct dw_layer_tree *tree, uint32_t symbol, uint32_t around);
bool dw_layer_tree_take(struct dw_layer_tree *tree, struct dw_layers *layers);
void dw_layer_tree_reset(struct dw_layer_tree *tree);

static inline void dw_layer_ticks_add(struct dw_layer_ticks *into, const struct dw_layer_ticks *from)
{
	into->operators += from->operators;
	into->backward += from->backward;
	into->bytes += from->bytes;
	into->backward_bytes += from->backward_bytes;
	into->flops += from->flops;
}

#endif
