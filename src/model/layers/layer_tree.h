/*
 * The tree of layers during the walk over the records.
 *
 * A node is a layer. Sums are collected in places. A place belongs to a node or to one call of it.
 * If the layer is not known yet, the place is a late place: its sums are added to another place
 * after the walk. Node 0 and place 0 are for everything outside layers. A parent has a smaller
 * index than its children, and a call a smaller index than the calls in it.
 */
#pragma once

#include "model/core/call_paths.h"
#include "model/layers/layers.h"

#define DW_LAYER_LATE UINT32_MAX /* the node of a late place */

/* Like struct dw_layer_sums, in ticks of the first file. */
struct dw_layer_ticks {
	uint64_t operators, backward, device;
	uint64_t events_ns, backward_events_ns, events; /* work of devices; in ns */
	int64_t bytes, backward_bytes, device_bytes;
	uint64_t flops;
};

struct dw_layer_node {
	const char *path;
	uint32_t path_length;
	uint32_t symbol;        /* a symbol that names it; DW_NO_INDEX: no range has its name */
	uint32_t parent, first_child, last_child, next; /* 0: none; top layers are children of node 0 */
	uint32_t place;         /* sums outside its calls; all its sums if calls are not kept */
	uint32_t unpaired;      /* its last call without a backward call; 0: none */
	uint32_t within;        /* number of its calls that are open now in the walk */
	uint64_t calls, open, total, self;
};

/* Ranges of layers within one another. Their names need to be compared only once. */
struct dw_layer_called {
	struct dw_call_path path;
	uint32_t node;          /* 0: not looked up yet */
};

struct dw_layer_place {
	uint32_t node;          /* or DW_LAYER_LATE */
	uint32_t around;        /* call: the call around it; late place: the place found, or 0 */
	uint32_t before;        /* call: the node's previous call without a backward call */
	uint32_t thread;        /* call: its thread; late place: the thread of its forward */
	union {
		uint64_t start_ns;  /* of a call */
		uint64_t sequence;  /* of a late place */
	};
	uint64_t total, self;   /* of a call */
	bool counted, open;     /* it is a call in scope; it has no end */
	struct dw_layer_ticks ticks;
};

/* All operators of one name in a place. */
struct dw_layer_entry {
	uint32_t place, row;    /* row: see dw_model.row_symbol */
	uint32_t within;        /* number open now in the walk */
	uint64_t calls, backward_calls, total, backward_total, device_total_ns;
	const struct dw_device_call *last_call; /* the one that was added to device_total_ns last */
	int64_t total_bytes, device_total_bytes;
	struct dw_layer_ticks ticks;
};

/* A forward operator or a flow that late places may name by `sequence` and `thread`. */
struct dw_layer_link {
	uint64_t sequence;
	uint32_t thread, place;
};

struct dw_layer_tree {
	struct dw_model *model;
	struct dw_layer_node *nodes;
	size_t count, capacity;
	struct dw_map by_path;  /* nodes; all but the first */
	struct dw_call_paths called; /* of struct dw_layer_called, by symbol; 0: in no layer */

	struct dw_layer_place *places;
	size_t place_count, place_capacity;
	struct dw_layer_link *links;
	size_t link_count, link_capacity;
	bool unsorted;          /* some link is less than the one before it */
	struct dw_layer_entry *entries; /* [0] is not used: index 0 means none */
	size_t entry_count, entry_capacity;
	struct dw_map by_name;  /* entries by place and row; all but the first */
	bool has_memory, failed;
};

/* ---- nodes. False or 0 when out of memory, here and below ----------------------- */
bool dw_layer_tree_make(struct dw_layer_tree *tree, struct dw_model *model);
/* The layer of a range of this symbol in the layer `around` (0: in no layer). `called` is the path
 * of the ranges of layers around it, and is set to that with this range. */
uint32_t dw_layer_node(struct dw_layer_tree *tree, uint32_t symbol, uint32_t around, uint32_t *called);
/* Adds the layers that have a name but were never called, of models that were called. */
bool dw_layer_tree_add_uncalled(struct dw_layer_tree *tree);
void dw_layer_tree_reset(struct dw_layer_tree *tree);

/* ---- places, and operators by name in them -------------------------------------------------- */

uint32_t dw_layer_place(struct dw_layer_tree *tree, uint32_t node);
uint32_t dw_layer_late(struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread);
/* The place that a late place would find, if that is known already; otherwise 0. */
uint32_t dw_layer_known(const struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread);
bool dw_layer_link(struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread, uint32_t place);
uint32_t dw_layer_entry(struct dw_layer_tree *tree, uint32_t place, uint32_t row);
/* Finds the places of late places and adds their sums and operators to these. */
bool dw_layer_settle(struct dw_layer_tree *tree);

/* ---- the product of the tree, in nanoseconds (layer_rows.c) --------------------------------- */

bool dw_layers_take(struct dw_layer_tree *tree, const struct dw_layers_ask *ask, struct dw_layers *layers);

static inline void dw_layer_ticks_add(struct dw_layer_ticks *into, const struct dw_layer_ticks *from)
{
	into->operators += from->operators;
	into->backward += from->backward;
	into->device += from->device;
	into->events_ns += from->events_ns;
	into->backward_events_ns += from->backward_events_ns;
	into->events += from->events;
	into->bytes += from->bytes;
	into->backward_bytes += from->backward_bytes;
	into->device_bytes += from->device_bytes;
	into->flops = dw_flops_add(into->flops, from->flops);
}
