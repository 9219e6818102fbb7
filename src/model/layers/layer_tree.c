/*
 * The tree of layers: finds the nodes of paths, and keeps the places in which sums are collected.
 *
 * The node of a path is found by the hash of the whole path. Only a new path searches for its
 * parent, so that a layer of a deep model costs as little as one of a flat model.
 *
 * The walk adds places and links in the order of the records. After the walk each late place finds
 * its place by its link. A link may lead to another late place (a backward pass that was itself
 * differentiated). Then the search continues with the link of that place. Most backward passes need
 * no late place: their links were added before, in ascending order.
 */
#include "model/layers/layer_tree.h"

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"

/* ---- places -------------------------------------------------------------------------------- */

#define MOST_CALLED (1u << 18)
#define DEEPEST_CALLED 256u
#define MOST_HOPS 16 /* links to follow, from one backward pass to the next */

static bool tree_init_places(struct dw_layer_tree *tree)
{
	if (!DW_GROW(&tree->entries, &tree->entry_capacity, 0))
		return false;
	tree->entry_count = 1;
	/* place 0 belongs to node 0 */
	if (!DW_GROW(&tree->places, &tree->place_capacity, 0))
		return false;
	tree->place_count = 1;
	return true;
}

static void tree_reset_places(struct dw_layer_tree *tree)
{
	DW_FREE(tree->places, tree->links, tree->entries);
	dw_map_reset(&tree->by_name);
}

uint32_t dw_layer_place(struct dw_layer_tree *tree, uint32_t node)
{
	struct dw_layer_place *place =
	    tree->place_count < UINT32_MAX ? DW_GROW(&tree->places, &tree->place_capacity, tree->place_count) : NULL;

	if (!place)
		return 0;
	place->node = node;
	return (uint32_t)tree->place_count++;
}

uint32_t dw_layer_late(struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread)
{
	uint32_t index = dw_layer_place(tree, DW_LAYER_LATE);

	if (index) {
		tree->places[index].sequence = sequence;
		tree->places[index].thread = thread;
	}
	return index;
}

DW_ORDER(tree_compare_links, struct dw_layer_link, DW_UP(thread) DW_UP(sequence))

bool dw_layer_link(struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread, uint32_t place)
{
	const struct dw_layer_link added = { sequence, thread, place };

	if (tree->link_count) {
		int order = tree_compare_links(&tree->links[tree->link_count - 1], &added);

		if (!order && tree->links[tree->link_count - 1].place == place)
			return true; /* an operator and those that it calls */
		tree->unsorted |= order > 0;
	}
	return DW_APPEND(&tree->links, &tree->link_capacity, &tree->link_count, added);
}

static const struct dw_layer_link *tree_find_link(const struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread)
{
	const struct dw_layer_link wanted = { sequence, thread, 0 };

	return tree->link_count ? bsearch(&wanted, tree->links, tree->link_count, sizeof *tree->links,
	                                  tree_compare_links) : NULL;
}

uint32_t dw_layer_known(const struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread)
{
	const struct dw_layer_link *link = tree->unsorted ? NULL : tree_find_link(tree, sequence, thread);
	const struct dw_layer_link *last = link ? tree->links + tree->link_count - 1 : NULL;

	/* If other layers have it too, all links decide. */
	if (!link || tree->places[link->place].node == DW_LAYER_LATE ||
	    (link > tree->links && tree_compare_links(link - 1, link) == 0) ||
	    (link < last && tree_compare_links(link, link + 1) == 0))
		return 0;
	return link->place;
}

/* ---- operators by name ---------------------------------------------------------------- */

uint32_t dw_layer_entry(struct dw_layer_tree *tree, uint32_t place, uint32_t row)
{
	uint32_t hash = dw_map_hash((uint64_t)place << 32 | row), found;
	struct dw_layer_entry *entry;

	found = DW_MAP_FIND(&tree->by_name, hash, i, tree->entries[i].place == place && tree->entries[i].row == row);
	if (found != DW_MAP_NONE)
		return found;
	entry = DW_GROW(&tree->entries, &tree->entry_capacity, tree->entry_count);
	if (!entry || !dw_map_add(&tree->by_name, hash, (uint32_t)tree->entry_count))
		return 0;
	entry->place = place;
	entry->row = row;
	return (uint32_t)tree->entry_count++;
}

/* ---- late places ------------------------------------------------------------------------ */

static uint32_t tree_find_place(const struct dw_layer_tree *tree, uint32_t place)
{
	for (int hops = 0; tree->places[place].node == DW_LAYER_LATE; hops++) {
		const struct dw_layer_link *link =
		    hops < MOST_HOPS ? tree_find_link(tree, tree->places[place].sequence, tree->places[place].thread) : NULL;

		place = link ? link->place : 0;
	}
	return place;
}

/* Adds the operators of late places to those of the places found, in order of their first calls. */
static bool tree_settle_operators(struct dw_layer_tree *tree)
{
	for (uint32_t i = 1, count = (uint32_t)tree->entry_count; i < count; i++) {
		const struct dw_layer_entry from = tree->entries[i];
		struct dw_layer_entry *to;
		uint32_t index;

		if (tree->places[from.place].node != DW_LAYER_LATE)
			continue;
		index = dw_layer_entry(tree, tree->places[from.place].around, from.row);
		if (!index)
			return false;
		to = &tree->entries[index];
		to->calls += from.calls;
		to->backward_calls += from.backward_calls;
		to->total += from.total;
		to->backward_total += from.backward_total;
		to->total_bytes += from.total_bytes;
		to->device_total_bytes += from.device_total_bytes;
		to->device_total_ns += from.device_total_ns;
		dw_layer_ticks_add(&to->ticks, &from.ticks);
	}
	return true;
}

bool dw_layer_settle(struct dw_layer_tree *tree)
{
	if (tree->unsorted)
		qsort(tree->links, tree->link_count, sizeof *tree->links, tree_compare_links);
	for (uint32_t i = 1; i < tree->place_count; i++) {
		struct dw_layer_place *place = &tree->places[i];

		if (place->node != DW_LAYER_LATE)
			continue;
		place->around = tree_find_place(tree, i);
		dw_layer_ticks_add(&tree->places[place->around].ticks, &place->ticks);
	}
	return tree_settle_operators(tree);
}

/* ---- nodes --------------------------------------------------------------------------------- */

bool dw_layer_tree_make(struct dw_layer_tree *tree, struct dw_model *model)
{
	memset(tree, 0, sizeof *tree);
	tree->model = model;
	if (!tree_init_places(tree))
		return false;
	tree->called = (struct dw_call_paths){ .node_bytes = sizeof(struct dw_layer_called),
		.most = MOST_CALLED, .deepest = DEEPEST_CALLED };
	if (dw_call_path_root(&tree->called, 0) != 0 || !DW_GROW(&tree->nodes, &tree->capacity, 0))
		return false;
	tree->nodes[0].path = "";
	tree->nodes[0].symbol = DW_NO_INDEX;
	tree->count = 1;
	return true;
}

/* The node of a path, or 0 if it has none. */
static uint32_t tree_find_path(const struct dw_layer_tree *tree, const char *path, size_t length)
{
	uint32_t found = DW_MAP_FIND(&tree->by_path, dw_map_hash_bytes(0, path, length), i,
	                             tree->nodes[i].path_length == length &&
	                                 memcmp(tree->nodes[i].path, path, length) == 0);

	return found == DW_MAP_NONE ? 0 : found;
}

static uint32_t tree_add_node(struct dw_layer_tree *tree, const char *path, size_t length, uint32_t parent)
{
	struct dw_layer_node *node;
	uint32_t index = (uint32_t)tree->count;

	node = DW_GROW(&tree->nodes, &tree->capacity, tree->count);
	if (!node)
		return 0;
	node->path = dw_arena_text(&tree->model->arena, path, length);
	if (!node->path)
		return 0;
	node->path_length = (uint32_t)length;
	node->parent = parent;
	node->symbol = DW_NO_INDEX;
	node->place = dw_layer_place(tree, index);
	if (!node->place || !dw_map_add(&tree->by_path, dw_map_hash_bytes(0, path, length), index))
		return 0;
	tree->count++;
	if (tree->nodes[parent].last_child)
		tree->nodes[tree->nodes[parent].last_child].next = index;
	else
		tree->nodes[parent].first_child = index;
	tree->nodes[parent].last_child = index;
	return index;
}

/* Finds the node of a path, and adds missing nodes for it and its parents. Searches from the end of
 * the path towards its beginning, then adds nodes towards its end. */
static uint32_t tree_find_node(struct dw_layer_tree *tree, const char *path)
{
	size_t length = strlen(path), known = length;
	uint32_t node = tree_find_path(tree, path, length);

	while (!node && known) {
		while (--known && path[known] != '.')
			;
		node = known ? tree_find_path(tree, path, known) : 0;
	}
	while (known < length) {
		for (known += 1; known < length && path[known] != '.';)
			known++;
		node = tree_add_node(tree, path, known, node);
		if (!node)
			return 0;
	}
	return node;
}

/* ---- what a range is ------------------------------------------------------------------ */

/* A name that begins with the root of the layer around it is a whole path; any other name is
 * relative to the layer around it. */
static const char *tree_whole_path(struct dw_layer_tree *tree, const char *name, uint32_t around)
{
	const char *outer = tree->nodes[around].path;
	size_t first = strcspn(outer, ".");

	if (!*name)
		name = "(unnamed)";
	if (!around || (strncmp(name, outer, first) == 0 && (!name[first] || name[first] == '.')))
		return name;
	return dw_arena_printf(&tree->model->arena, "%s.%s", outer, name);
}

uint32_t dw_layer_node(struct dw_layer_tree *tree, uint32_t symbol, uint32_t around, uint32_t *called)
{
	struct dw_layer_called none = { .node = 0 }, *to = &none;
	const char *path;

	if (*called != DW_CALL_PATH_FOLDED)
		*called = dw_call_path_child(&tree->called, *called, symbol);
	if (*called == DW_NO_INDEX)
		return 0;
	if (*called != DW_CALL_PATH_FOLDED)
		to = (struct dw_layer_called *)tree->called.nodes + *called;
	if (to->node)
		return to->node;
	path = tree_whole_path(tree, tree->model->symbols[symbol].name, around);
	to->node = path ? tree_find_node(tree, path) : 0;
	if (to->node && (tree->nodes[to->node].symbol == DW_NO_INDEX || tree->model->symbols[symbol].shapes))
		tree->nodes[to->node].symbol = symbol;
	return to->node;
}

bool dw_layer_tree_add_uncalled(struct dw_layer_tree *tree)
{
	const struct dw_model *model = tree->model;
	uint32_t called;

	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const char *name = model->symbols[i].name;
		size_t root = strcspn(name, ".");

		if (model->symbols[i].category != DWELL_CATEGORY_LAYER || !name[root] || !tree_find_path(tree, name, root))
			continue;
		called = 0;
		if (!dw_layer_node(tree, i, 0, &called))
			return false;
	}
	return true;
}

void dw_layer_tree_reset(struct dw_layer_tree *tree)
{
	free(tree->nodes);
	dw_map_reset(&tree->by_path);
	dw_call_paths_reset(&tree->called);
	tree_reset_places(tree);
}
