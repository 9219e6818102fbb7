/*
 * The call tree, and the paths for pictures: calls and times by call path and thread.
 *
 * Sorts and converts what call_tree_walk.c counted. A node's self time excludes all children,
 * whatever their kind, as a flame graph does. The tree has percentiles. The paths have none and
 * reuse the memory of the call-path trie.
 */
#include <stdlib.h>

#include "base/whole.h"
#include "model/core/product.h"
#include "model/time/call_tree.h"

/* ---- the tree ------------------------------------------------------------------------- */

static bool put_tree(struct dw_model *model, struct dw_tree *tree, struct dw_trunk *trunk)
{
	double ns_per_tick = model->source->files[0].clock.ns_per_tick;
	uint32_t *order = dw_trunk_order(trunk), way[DW_TREE_DEEPEST + 2];

	tree->nodes = dw_arena_alloc(&model->arena, (trunk->count + 1) * sizeof *tree->nodes);
	for (; order && tree->nodes && tree->count < trunk->count; tree->count++) {
		const struct dw_trunk_node *node = &trunk->nodes[order[tree->count]];
		struct dw_tree_node *to = &tree->nodes[tree->count];

		to->symbol = node->depth ? node->symbol : DW_NO_INDEX;
		to->thread = node->depth ? tree->nodes[way[0]].thread : node->symbol;
		to->parent = node->depth ? way[node->depth - 1] : DW_NO_INDEX;
		to->depth = node->depth;
		way[node->depth] = (uint32_t)tree->count;
		if (node->depth)
			dw_tally_stat(&trunk->tallies[order[tree->count]], ns_per_tick, &to->stat);
		else
			to->stat.total_ns = dw_whole((double)node->total * ns_per_tick + 0.5);
	}
	free(order);
	return order && tree->nodes;
}

static bool tree_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_trunk whole = { .most = 4 * DW_TREE_NODES, .detailed = true };
	bool has_stacks = false;
	bool good = dw_tree_walk(model, NULL, &whole, &has_stacks) && put_tree(model, result, &whole);

	dw_trunk_reset(&whole);
	return good;
}

const struct dw_tree *dw_model_tree(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct dw_tree), tree_compute, NULL };

	return dw_product_get(model, &product, 0, NULL, error);
}

/* ---- the paths ------------------------------------------------------------------------ */

_Static_assert(sizeof(struct dw_trunk_node) == sizeof(struct dw_path), "one becomes the other");

/* Reorders the nodes in place, cycle by cycle: a copy would need twice the memory. */
static void arrange(struct dw_trunk_node *nodes, uint32_t *order, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct dw_trunk_node first = nodes[i];
		uint32_t at = i;

		while (order[at] != i) {
			uint32_t from = order[at];

			nodes[at] = nodes[from];
			order[at] = at;
			at = from;
		}
		nodes[at] = first;
		order[at] = at;
	}
}

/* Converts the trie's nodes to paths in place. */
static bool put_paths(struct dw_paths *paths, struct dw_trunk *trunk, double ns_per_tick)
{
	uint32_t *order = dw_trunk_order(trunk);

	if (!order)
		return false;
	arrange(trunk->nodes, order, trunk->count);
	free(order);
	paths->nodes = (struct dw_path *)(void *)trunk->nodes;
	paths->count = trunk->count;
	for (size_t i = 0; i < trunk->count; i++) {
		struct dw_trunk_node node = trunk->nodes[i];

		paths->nodes[i] = (struct dw_path){
			dw_whole((double)node.total * ns_per_tick + 0.5),
			dw_whole((double)node.self * ns_per_tick + 0.5),
			node.count, node.symbol, node.depth,
		};
	}
	trunk->nodes = NULL;
	trunk->count = trunk->capacity = 0;
	return true;
}

/* The request is an enum dw_paths_of. */
static bool paths_compute(struct dw_model *model, const void *request, void *result)
{
	const enum dw_paths_of *of = request;
	struct dw_trunk whole = { .most = DW_TREE_PATHS };
	struct dw_functions stacks, *functions = *of == DW_PATHS_STACKS ? &stacks : NULL;
	struct dw_paths *paths = result;
	bool good = (!functions || dw_functions_init(functions, model)) &&
	            dw_tree_walk(model, functions, &whole, &paths->has_stacks);

	if (good) {
		paths->symbols = functions ? functions->symbols : model->symbols;
		good = put_paths(paths, &whole, model->source->files[0].clock.ns_per_tick);
	}
	dw_trunk_reset(&whole);
	return good;
}

/* The nodes are not in the arena: copying them would need too much memory. */
static void paths_free(void *result)
{
	struct dw_paths *paths = result;

	free(paths->nodes);
}

const struct dw_paths *dw_model_paths(struct dw_model *model, enum dw_paths_of of,
                                      struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct dw_paths), paths_compute, paths_free };

	return dw_product_get(model, &product, of, &of, error);
}
