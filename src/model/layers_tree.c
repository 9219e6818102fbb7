/* The tree of layers: paths to nodes while it grows, nodes to rows when it is whole;
 * see layers_inside.h. */
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
	tree->last = calloc(model->symbol_count + 1, sizeof *tree->last);
	if (!tree->last || !DW_GROW(&tree->nodes, &tree->capacity, 0))
		return false;
	tree->nodes[0].path = "";
	tree->count = 1;
	return widen(tree);
}

static uint32_t find(const struct dw_layer_tree *tree, const char *path, size_t length, size_t *at)
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

/* The node of a path, with those above it made where they are missing. */
static uint32_t node_of(struct dw_layer_tree *tree, const char *path)
{
	uint32_t node = 0;

	for (size_t length = 1; path[length - 1]; length++) {
		size_t at;
		uint32_t found;

		if (path[length] != '.' && path[length])
			continue;
		found = find(tree, path, length, &at);
		if (!found)
			found = add(tree, path, length, node);
		if (!found)
			return 0;
		node = found;
	}
	return node;
}

uint32_t dw_layer_node(struct dw_layer_tree *tree, uint32_t symbol, uint32_t around)
{
	const char *name = tree->model->symbols[symbol].name, *path = name;
	const char *outer = tree->nodes[around].path;
	size_t first = strcspn(outer, ".");
	uint32_t node;

	if (tree->last[symbol].node && tree->last[symbol].around == around)
		return tree->last[symbol].node;
	if (!*path)
		path = name = "(unnamed)";
	/* A path from the model's root names its place itself, wherever it is called from. */
	if (around && (strncmp(name, outer, first) != 0 || (name[first] && name[first] != '.')))
		path = dw_arena_printf(&tree->model->arena, "%s.%s", outer, name);
	node = path ? node_of(tree, path) : 0;
	tree->last[symbol].around = around;
	tree->last[symbol].node = node;
	return node;
}

void dw_layer_tree_reset(struct dw_layer_tree *tree)
{
	free(tree->nodes);
	free(tree->slots);
	free(tree->last);
}

/* ---- rows ------------------------------------------------------------------------------ */

static uint64_t ns_of(const struct dw_layer_tree *tree, uint64_t ticks)
{
	return (uint64_t)((double)ticks * tree->model->source->files[0].clock.ns_per_tick + 0.5);
}

static void take_sums(const struct dw_layer_tree *tree, struct dw_layer_sums *to,
                      const struct dw_layer_ticks *from)
{
	to->operators_ns = ns_of(tree, from->operators);
	to->backward_ns = ns_of(tree, from->backward);
	to->bytes = from->bytes;
	to->backward_bytes = from->backward_bytes;
	to->flops = from->flops;
}

static bool is_used(const struct dw_layer_node *node, const struct dw_layer_ticks *all)
{
	return node->calls || all->operators || all->backward || all->bytes || all->backward_bytes;
}

/* `all`: of each node with those below, `used`: which have anything in scope. */
static void add_up(const struct dw_layer_tree *tree, struct dw_layer_ticks *all, bool *used)
{
	for (size_t i = tree->count; i-- > 1;) {
		const struct dw_layer_node *node = &tree->nodes[i];

		dw_layer_ticks_add(&all[i], &node->ticks);
		used[i] |= is_used(node, &all[i]);
		if (node->parent) {
			dw_layer_ticks_add(&all[node->parent], &all[i]);
			used[node->parent] |= used[i];
		}
	}
}

static void take_node(const struct dw_layer_tree *tree, struct dw_layers *layers, uint32_t index,
                      const struct dw_layer_ticks *all, uint32_t *rows)
{
	const struct dw_layer_node *node = &tree->nodes[index];
	struct dw_layer *row = &layers->rows[layers->count];
	const char *dot = node->parent ? node->path + tree->nodes[node->parent].path_length : NULL;

	memset(row, 0, sizeof *row);
	rows[index] = (uint32_t)layers->count++;
	row->path = node->path;
	row->name = dot ? dot + 1 : node->path;
	row->parent = node->parent ? rows[node->parent] : DW_NO_INDEX;
	row->depth = node->parent ? layers->rows[row->parent].depth + 1 : 0;
	row->calls = node->calls;
	row->open = node->open;
	row->total_ns = ns_of(tree, node->total);
	row->self_ns = ns_of(tree, node->self);
	take_sums(tree, &row->own, &node->ticks);
	take_sums(tree, &row->all, &all[index]);
	layers->has_backward |= node->ticks.backward > 0;
	layers->has_flops |= node->ticks.flops > 0;
}

bool dw_layer_tree_take(struct dw_layer_tree *tree, struct dw_layers *layers)
{
	struct dw_layer_ticks *all = calloc(tree->count, sizeof *all);
	uint32_t *rows = calloc(tree->count, sizeof *rows);
	bool *used = calloc(tree->count, sizeof *used);
	bool done;

	layers->rows = dw_arena_alloc(&tree->model->arena, tree->count * sizeof *layers->rows);
	done = all && rows && used && layers->rows;
	if (done) {
		uint32_t at = tree->nodes[0].first_child;

		add_up(tree, all, used);
		take_sums(tree, &layers->outside, &tree->nodes[0].ticks);
		layers->has_backward = layers->outside.backward_ns > 0;
		layers->has_flops = layers->outside.flops > 0;
		while (at) {
			if (used[at])
				take_node(tree, layers, at, all, rows);
			if (used[at] && tree->nodes[at].first_child) {
				at = tree->nodes[at].first_child;
				continue;
			}
			while (at && !tree->nodes[at].next)
				at = tree->nodes[at].parent;
			at = at ? tree->nodes[at].next : 0;
		}
	}
	free(all);
	free(rows);
	free(used);
	return done;
}
