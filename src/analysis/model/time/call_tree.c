/*
 * The call tree, and the paths for pictures: calls and times by call path and thread.
 *
 * Sorts and converts what call_tree_walk.c counted. A node's self time excludes all children,
 * whatever their kind, as a flame graph does. The tree has percentiles. The paths have none and
 * reuse the memory of the sums.
 */
#include <stdlib.h>

#include "base/whole.h"
#include "model/core/product.h"
#include "model/time/call_tree.h"

/* ---- the tree ------------------------------------------------------------------------- */

static bool tree_put(struct dw_model *model, struct dw_tree *tree, struct dw_call_sums *sums)
{
	double ns_per_tick = model->source->files[0].clock.ns_per_tick;
	uint32_t *order = dw_call_sums_order(sums), way[DW_TREE_DEEPEST + 2];

	tree->nodes = dw_arena_alloc(&model->arena, (sums->paths.count + 1) * sizeof *tree->nodes);
	for (; order && tree->nodes && tree->count < sums->paths.count; tree->count++) {
		const struct dw_call_sum *sum = dw_call_sums_at(sums, order[tree->count]);
		struct dw_tree_node *to = &tree->nodes[tree->count];
		uint32_t depth = sum->path.depth;

		to->symbol = depth ? sum->path.key : DW_NO_INDEX;
		to->thread = depth ? tree->nodes[way[0]].thread : sum->path.key;
		to->parent = depth ? way[depth - 1] : DW_NO_INDEX;
		to->depth = depth;
		way[depth] = (uint32_t)tree->count;
		if (depth)
			dw_tally_stat(&sums->tallies[order[tree->count]], ns_per_tick, &to->stat);
		else
			to->stat.total_ns = dw_whole((double)sum->total * ns_per_tick + 0.5);
	}
	free(order);
	return order && tree->nodes;
}

static bool tree_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_call_sums whole = dw_call_sums_make(4 * DW_TREE_NODES, true);
	bool has_stacks = false;
	bool good = dw_tree_walk(model, NULL, &whole, &has_stacks) && tree_put(model, result, &whole);

	dw_call_sums_reset(&whole);
	return good;
}

const struct dw_tree *dw_model_tree(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct dw_tree), tree_compute, NULL };

	return dw_product_get(model, &product, 0, NULL, error);
}

/* ---- the paths ------------------------------------------------------------------------ */

_Static_assert(sizeof(struct dw_call_sum) == sizeof(struct dw_path), "one becomes the other");

/* Reorders the nodes in place, cycle by cycle: a copy would need twice the memory. */
static void tree_paths_arrange(struct dw_call_sum *nodes, uint32_t *order, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct dw_call_sum first = nodes[i];
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

/* Converts the sums to paths in place. */
static bool tree_paths_put(struct dw_paths *paths, struct dw_call_sums *sums, double ns_per_tick)
{
	uint32_t *order = dw_call_sums_order(sums);

	if (!order)
		return false;
	paths->count = sums->paths.count;
	tree_paths_arrange(sums->paths.nodes, order, paths->count);
	free(order);
	for (size_t i = 0; i < paths->count; i++) {
		struct dw_call_sum sum = *dw_call_sums_at(sums, i);

		((struct dw_path *)sums->paths.nodes)[i] = (struct dw_path){
			dw_whole((double)sum.total * ns_per_tick + 0.5),
			dw_whole((double)sum.self * ns_per_tick + 0.5),
			sum.path.calls, sum.path.key, sum.path.depth,
		};
	}
	paths->nodes = sums->paths.nodes;
	sums->paths.nodes = NULL;
	return true;
}

/* The request is an enum dw_paths_of. */
static bool tree_paths_compute(struct dw_model *model, const void *request, void *result)
{
	const enum dw_paths_of *of = request;
	struct dw_call_sums whole = dw_call_sums_make(DW_TREE_PATHS, false);
	struct dw_functions stacks, *functions = *of == DW_PATHS_STACKS ? &stacks : NULL;
	struct dw_paths *paths = result;
	bool good = (!functions || dw_functions_init(functions, model)) &&
	            dw_tree_walk(model, functions, &whole, &paths->has_stacks);

	if (good) {
		paths->symbols = functions ? functions->symbols : model->symbols;
		good = tree_paths_put(paths, &whole, model->source->files[0].clock.ns_per_tick);
	}
	dw_call_sums_reset(&whole);
	return good;
}

/* The nodes are not in the arena: copying them would need too much memory. */
static void tree_paths_free(void *result)
{
	struct dw_paths *paths = result;

	free(paths->nodes);
}

const struct dw_paths *dw_model_paths(struct dw_model *model, enum dw_paths_of of,
                                      struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct dw_paths), tree_paths_compute,
		                                       tree_paths_free };

	return dw_product_get(model, &product, of, &of, error);
}
