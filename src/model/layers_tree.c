/*
 * The tree of layers: paths to nodes; see layers_inside.h.
 *
 * A path is hashed once when it is met and its node found at once; only a new one looks
 * for its parent, so that deep models cost no more a layer than flat ones.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/layers_inside.h"

static size_t place_of(const struct dw_layer_tree *tree, const char *path, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)path[i]) * 0x100000001b3u;
	return (hash ^ hash >> 29) & tree->mask;
}

static bool widen(struct dw_layer_tree *tree)
{
	size_t size = tree->slots ? (tree->mask + 1) * 2 : 256;
	uint32_t *slots = calloc(size, sizeof *slots);

	if (!slots)
		return false;
	free(tree->slots);
	tree->slots = slots;
	tree->mask = size - 1;
	for (uint32_t i = 1; i < tree->count; i++) {
		size_t at = place_of(tree, tree->nodes[i].path, tree->nodes[i].path_length);

		while (slots[at])
			at = (at + 1) & tree->mask;
		slots[at] = i;
	}
	return true;
}

bool dw_layer_tree_make(struct dw_layer_tree *tree, struct dw_model *model)
{
	memset(tree, 0, sizeof *tree);
	tree->model = model;
	if (!dw_layer_places_make(tree))
		return false;
	tree->seen_mask = 255;
	tree->seen = calloc(tree->seen_mask + 1, sizeof *tree->seen);
	if (!tree->seen || !DW_GROW(&tree->nodes, &tree->capacity, 0))
		return false;
	tree->nodes[0].path = "";
	tree->nodes[0].symbol = DW_NO_INDEX;
	tree->count = 1;
	return widen(tree);
}

static uint32_t find(const struct dw_layer_tree *tree, const char *path, size_t length,
                     size_t *at)
{
	for (*at = place_of(tree, path, length); tree->slots[*at]; *at = (*at + 1) & tree->mask) {
		const struct dw_layer_node *node = &tree->nodes[tree->slots[*at]];

		if (node->path_length == length && memcmp(node->path, path, length) == 0)
			return tree->slots[*at];
	}
	return 0;
}

static uint32_t add(struct dw_layer_tree *tree, const char *path, size_t length, uint32_t parent)
{
	struct dw_layer_node *node;
	uint32_t index = (uint32_t)tree->count;
	size_t at;

	if (tree->count * 2 >= tree->mask && !widen(tree))
		return 0;
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
	if (!node->place)
		return 0;
	find(tree, path, length, &at);
	tree->slots[at] = index;
	tree->count++;
	if (tree->nodes[parent].last_child)
		tree->nodes[tree->nodes[parent].last_child].next = index;
	else
		tree->nodes[parent].first_child = index;
	tree->nodes[parent].last_child = index;
	return index;
}

/* The node of a path, with those above it made where they are missing: found from the
 * end of the path, made from its beginning. */
static uint32_t node_of(struct dw_layer_tree *tree, const char *path)
{
	size_t length = strlen(path), known = length, at;
	uint32_t node = find(tree, path, length, &at);

	while (!node && known) {
		while (--known && path[known] != '.')
			;
		node = known ? find(tree, path, known, &at) : 0;
	}
	while (known < length) {
		for (known += 1; known < length && path[known] != '.';)
			known++;
		node = add(tree, path, known, node);
		if (!node)
			return 0;
	}
	return node;
}

/* ---- what a range is ------------------------------------------------------------------ */

static struct dw_layer_seen *seen_at(const struct dw_layer_tree *tree, uint32_t symbol,
                                     uint32_t around)
{
	uint64_t key = (uint64_t)symbol << 32 | around;
	size_t at = (key * 0x9e3779b97f4a7c15u >> 24) & tree->seen_mask;

	while (tree->seen[at].node &&
	       (tree->seen[at].symbol != symbol || tree->seen[at].around != around))
		at = (at + 1) & tree->seen_mask;
	return &tree->seen[at];
}

static bool widen_seen(struct dw_layer_tree *tree)
{
	struct dw_layer_seen *old = tree->seen;
	size_t size = tree->seen_mask + 1;

	tree->seen = calloc(size * 2, sizeof *tree->seen);
	if (!tree->seen) {
		tree->seen = old;
		return false;
	}
	tree->seen_mask = size * 2 - 1;
	for (size_t i = 0; i < size; i++)
		if (old[i].node)
			*seen_at(tree, old[i].symbol, old[i].around) = old[i];
	free(old);
	return true;
}

/* A path from the model's root names its place itself, wherever it is called from. */
static const char *whole_path(struct dw_layer_tree *tree, const char *name, uint32_t around)
{
	const char *outer = tree->nodes[around].path;
	size_t first = strcspn(outer, ".");

	if (!*name)
		name = "(unnamed)";
	if (!around || (strncmp(name, outer, first) == 0 && (!name[first] || name[first] == '.')))
		return name;
	return dw_arena_printf(&tree->model->arena, "%s.%s", outer, name);
}

uint32_t dw_layer_node(struct dw_layer_tree *tree, uint32_t symbol, uint32_t around)
{
	struct dw_layer_seen *seen = seen_at(tree, symbol, around);
	const char *path;
	uint32_t node;

	if (seen->node)
		return seen->node;
	if (++tree->seen_count * 2 > tree->seen_mask && !widen_seen(tree))
		return 0;
	path = whole_path(tree, tree->model->symbols[symbol].name, around);
	node = path ? node_of(tree, path) : 0;
	if (node && (tree->nodes[node].symbol == DW_NO_INDEX || tree->model->symbols[symbol].shapes))
		tree->nodes[node].symbol = symbol;
	*seen_at(tree, symbol, around) = (struct dw_layer_seen){ symbol, around, node };
	return node;
}

bool dw_layer_tree_add_uncalled(struct dw_layer_tree *tree)
{
	const struct dw_model *model = tree->model;
	size_t at;

	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const char *name = model->symbols[i].name;
		size_t root = strcspn(name, ".");

		if (model->symbols[i].category != DWELL_CATEGORY_LAYER || !name[root] ||
		    !find(tree, name, root, &at))
			continue;
		if (!dw_layer_node(tree, i, 0))
			return false;
	}
	return true;
}

void dw_layer_tree_reset(struct dw_layer_tree *tree)
{
	free(tree->nodes);
	free(tree->slots);
	free(tree->seen);
	dw_layer_places_reset(tree);
}
