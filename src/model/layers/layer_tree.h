/*
 * The tree of layers while it is counted.
 *
 * A node is a layer. A place is what sums are kept of: a node, one call of it, or, of
 * something whose layer is not known yet, a late place, which finds its place in the end.
 * Node 0 and place 0 stand for what lies in no layer. Parents and what is around have
 * smaller indices.
 */
#ifndef DW_MODEL_LAYERS_LAYER_TREE_H
#define DW_MODEL_LAYERS_LAYER_TREE_H

#include "base/map.h"
#include "model/core/model_data.h"
#include "model/layers/layers.h"

#define DW_LAYER_LATE UINT32_MAX /* the node of a late place */

/* As struct dw_layer_sums, in ticks of the first file. */
struct dw_layer_ticks {
	uint64_t operators, backward, device;
	int64_t bytes, backward_bytes;
	uint64_t flops;
};

struct dw_layer_node {
	const char *path;
	uint32_t path_length;
	uint32_t symbol;        /* one of those that name it, or DW_NO_INDEX: made up */
	uint32_t parent, first_child, last_child, next; /* 0: none; of the top ones, node 0's */
	uint32_t place;         /* what is in none of its calls, or all of it */
	uint32_t unpaired;      /* its last call whose backward is still to come; 0: none */
	uint32_t within;        /* calls of it that are open where the walk is */
	uint64_t calls, open, total, self;
};

struct dw_layer_place {
	uint32_t node;          /* or DW_LAYER_LATE */
	uint32_t around;        /* of a call: the call around it */
	uint32_t before;        /* of a call: the node's unpaired one before it */
	uint32_t thread;        /* of a call: whose; of a late place: who ran its forward */
	union {
		uint64_t start_ns;  /* of a call */
		uint64_t sequence;  /* of a late place */
	};
	uint64_t total, self;   /* of a call */
	bool counted, open;     /* a call in scope; without an end */
	struct dw_layer_ticks ticks;
};

/* Operators of a name in a place. */
struct dw_layer_entry {
	uint32_t place, row;    /* row: see dw_model.row_symbol */
	uint32_t within;        /* open where the walk is */
	uint64_t calls, backward_calls, total, backward_total;
	int64_t total_bytes;
	struct dw_layer_ticks ticks;
};

/* Where something began that a late place goes by. */
struct dw_layer_link {
	uint64_t sequence;
	uint32_t thread, place;
};

struct dw_layer_tree {
	struct dw_model *model;
	struct dw_layer_node *nodes;
	size_t count, capacity;
	struct dw_map by_path;  /* nodes; all but the first */
	struct dw_layer_seen { uint32_t symbol, around, node; } *seen;
	size_t seen_count, seen_capacity;
	struct dw_map by_symbol; /* `seen` by symbol and what is around */

	struct dw_layer_place *places;
	size_t place_count, place_capacity;
	struct dw_layer_link *links;
	size_t link_count, link_capacity;
	struct dw_layer_entry *entries; /* [0] stands for none */
	size_t entry_count, entry_capacity;
	struct dw_map by_name;  /* entries by place and row; all but the first */
	bool has_memory, failed;
};

/* ---- nodes. False or 0 when out of memory, here and below ----------------------- */
bool dw_layer_tree_make(struct dw_layer_tree *tree, struct dw_model *model);
/* Which layer a range of this symbol is, inside the layer `around` (0: in none). */
uint32_t dw_layer_node(struct dw_layer_tree *tree, uint32_t symbol, uint32_t around);
/* Layers that were named and never called, of models that were. */
bool dw_layer_tree_add_uncalled(struct dw_layer_tree *tree);
void dw_layer_tree_reset(struct dw_layer_tree *tree);

/* ---- places, and operators by name in them -------------------------------------------------- */

uint32_t dw_layer_place(struct dw_layer_tree *tree, uint32_t node);
uint32_t dw_layer_late(struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread);
bool dw_layer_link(struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread, uint32_t place);
uint32_t dw_layer_entry(struct dw_layer_tree *tree, uint32_t place, uint32_t row);
/* What is late finds its place, with its operators. */
bool dw_layer_settle(struct dw_layer_tree *tree);

/* ---- the product out of it, in nanoseconds (layer_rows.c) ----------------------------------- */

bool dw_layers_take(struct dw_layer_tree *tree, const struct dw_layers_ask *ask,
                    struct dw_layers *layers);

static inline void dw_layer_ticks_add(struct dw_layer_ticks *into, const struct dw_layer_ticks *from)
{
	into->operators += from->operators;
	into->backward += from->backward;
	into->device += from->device;
	into->bytes += from->bytes;
	into->backward_bytes += from->backward_bytes;
	into->flops += from->flops;
}

#endif
