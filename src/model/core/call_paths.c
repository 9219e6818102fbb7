/* The call-path trie; see call_paths.h. */
#include "model/core/call_paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/whole.h"

#define MOST_QUANTILES (1u << 12) /* nodes with percentiles, which need the most memory */

struct dw_arena *dw_trunk_quantiles(struct dw_trunk *trunk, uint32_t node)
{
	return node < MOST_QUANTILES ? &trunk->arena : NULL;
}

/* ---- nodes by path ------------------------------------------------------------------------ */

static uint32_t hash_of(uint32_t parent, uint32_t symbol)
{
	return dw_map_hash((uint64_t)parent << 32 | symbol);
}

static uint32_t make_node(struct dw_trunk *trunk, uint32_t parent, uint32_t symbol)
{
	struct dw_trunk_node *node = DW_GROW(&trunk->nodes, &trunk->capacity, trunk->count);

	if (!node ||
	    (trunk->detailed && !DW_GROW(&trunk->tallies, &trunk->tally_capacity, trunk->count)) ||
	    !dw_map_add(&trunk->by_path, hash_of(parent, symbol), (uint32_t)trunk->count)) {
		trunk->failed = true;
		return DW_NO_INDEX;
	}
	node->parent = parent;
	node->symbol = symbol;
	node->depth = parent == DW_NO_INDEX ? 0 : trunk->nodes[parent].depth + 1;
	trunk->deepest = node->depth > trunk->deepest ? node->depth : trunk->deepest;
	return (uint32_t)trunk->count++;
}

static uint32_t find_or_make(struct dw_trunk *trunk, uint32_t parent, uint32_t symbol)
{
	uint32_t node;

	if (trunk->failed)
		return DW_NO_INDEX;
	node = DW_MAP_FIND(&trunk->by_path, hash_of(parent, symbol), i,
	                   trunk->nodes[i].parent == parent && trunk->nodes[i].symbol == symbol);
	if (node != DW_NO_INDEX)
		return node;
	if (trunk->count < trunk->most || parent == DW_NO_INDEX || symbol == DW_OTHER_CALLS)
		return make_node(trunk, parent, symbol);
	if (trunk->nodes[parent].depth && trunk->nodes[parent].symbol == DW_OTHER_CALLS)
		return DW_TRUNK_FOLDED;
	return find_or_make(trunk, parent, DW_OTHER_CALLS);
}

uint32_t dw_trunk_root(struct dw_trunk *trunk, uint32_t thread)
{
	return find_or_make(trunk, DW_NO_INDEX, thread);
}

uint32_t dw_trunk_child(struct dw_trunk *trunk, uint32_t parent, uint32_t symbol)
{
	/* A path can be longer than the stack ever was: a range can outlive the ranges around it. */
	if (trunk->nodes[parent].depth >= DW_TRUNK_DEEPEST)
		return DW_TRUNK_FOLDED;
	return find_or_make(trunk, parent, symbol);
}

void dw_trunk_reset(struct dw_trunk *trunk)
{
	free(trunk->nodes);
	free(trunk->tallies);
	dw_map_reset(&trunk->by_path);
	dw_arena_reset(&trunk->arena);
	*trunk = (struct dw_trunk){ .most = trunk->most, .detailed = trunk->detailed };
}

/* ---- merging ------------------------------------------------------------------------------ */

static uint64_t scaled(uint64_t ticks, double ratio)
{
	return ratio == 1 ? ticks : dw_whole((double)ticks * ratio + 0.5);
}

static bool merge_nodes(struct dw_trunk *into, const struct dw_trunk *from, uint32_t *moved,
                        double ratio)
{
	for (uint32_t i = 0; i < from->count; i++) {
		const struct dw_trunk_node *node = &from->nodes[i];
		struct dw_trunk_node *to;

		moved[i] = find_or_make(into, node->depth ? moved[node->parent] : DW_NO_INDEX,
		                        node->symbol);
		if (moved[i] == DW_NO_INDEX)
			return false;
		if (moved[i] == DW_TRUNK_FOLDED) {
			moved[i] = moved[node->parent];
			into->nodes[moved[i]].self += scaled(node->self, ratio);
			if (into->detailed)
				into->tallies[moved[i]].self += scaled(node->self, ratio);
			continue;
		}
		to = &into->nodes[moved[i]];
		to->total += scaled(node->total, ratio);
		to->self += scaled(node->self, ratio);
		to->count += node->count;
		if (into->detailed)
			dw_tally_merge(&into->tallies[moved[i]], dw_trunk_quantiles(into, moved[i]),
			               &from->tallies[i], ratio);
	}
	return true;
}

bool dw_trunk_merge(struct dw_trunk *into, struct dw_trunk *from, double ratio)
{
	bool good = !from->failed && !into->failed;
	uint32_t *moved;

	if (good && !into->count && ratio == 1) { /* nothing to merge with: move all nodes */
		uint32_t most = into->most;

		dw_trunk_reset(into);
		*into = *from;
		into->most = most;
		*from = (struct dw_trunk){ .most = from->most, .detailed = from->detailed };
		return true;
	}
	moved = good ? malloc((from->count + 1) * sizeof *moved) : NULL;
	good = moved && merge_nodes(into, from, moved, ratio);
	free(moved);
	dw_trunk_reset(from);
	return good;
}

/* ---- order -------------------------------------------------------------------------------- */

static int compare_siblings(const void *left, const void *right, void *context)
{
	const struct dw_trunk_node *nodes = context;
	const struct dw_trunk_node *a = &nodes[*(const uint32_t *)left];
	const struct dw_trunk_node *b = &nodes[*(const uint32_t *)right];

	if (a->depth && a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

/* Sorts the node indexes into `children`: grouped by parent, the roots last, each group in order.
 * The children of a node are at first[node] to before first[node + 1]. */
static void group(const struct dw_trunk *trunk, uint32_t *children, uint32_t *first)
{
	size_t count = trunk->count;

	for (size_t i = 0; i < count; i++) {
		uint32_t parent = trunk->nodes[i].parent;

		first[(parent == DW_NO_INDEX ? count : parent) + 2]++;
	}
	for (size_t i = 2; i < count + 3; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < count; i++) { /* afterwards first[node + 1] is the end of the node's
	                                      * group */
		uint32_t parent = trunk->nodes[i].parent;

		children[first[(parent == DW_NO_INDEX ? count : parent) + 1]++] = (uint32_t)i;
	}
	for (size_t i = 0; i <= count; i++)
		if (first[i + 1] - first[i] > 1)
			qsort_r(children + first[i], first[i + 1] - first[i], sizeof *children,
			        compare_siblings, trunk->nodes);
}

/* Writes the nodes depth first to `order`, without recursion. `at` starts as a copy of `first` and
 * holds the next child of each node. */
static void descend(const struct dw_trunk *trunk, const uint32_t *children,
                    const uint32_t *first, uint32_t *at, uint32_t *order)
{
	size_t count = trunk->count, done = 0, group_of = count;

	while (done < count) {
		while (at[group_of] == first[group_of + 1])
			group_of = trunk->nodes[group_of].depth ? trunk->nodes[group_of].parent : count;
		group_of = order[done++] = children[at[group_of]++];
	}
}

/* The total of a root is the sum of its children's totals. */
static void sum_roots(struct dw_trunk *trunk)
{
	for (size_t i = 0; i < trunk->count; i++)
		if (trunk->nodes[i].depth == 1)
			trunk->nodes[trunk->nodes[i].parent].total += trunk->nodes[i].total;
}

uint32_t *dw_trunk_order(struct dw_trunk *trunk)
{
	size_t count = trunk->count;
	uint32_t *children = malloc((count + 1) * sizeof *children);
	uint32_t *order = malloc((count + 1) * sizeof *order);
	uint32_t *first = calloc(count + 3, sizeof *first), *at = calloc(count + 3, sizeof *at);

	dw_map_reset(&trunk->by_path);
	sum_roots(trunk);
	if (children && order && first && at) {
		group(trunk, children, first);
		memcpy(at, first, (count + 2) * sizeof *at);
		descend(trunk, children, first, at, order);
	} else {
		free(order);
		order = NULL;
	}
	free(children);
	free(first);
	free(at);
	return order;
}
