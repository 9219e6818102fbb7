/* Sums by call path; see call_sums.h. */
#include "model/time/call_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/numbers.h"

/* The arena for percentiles of a node. NULL: it has none. */
static struct dw_arena *sums_arena(struct dw_call_sums *sums, uint32_t node)
{
	return node < DW_TREE_QUANTILES ? &sums->arena : NULL;
}

struct dw_call_sums dw_call_sums_make(uint32_t most, bool detailed)
{
	return (struct dw_call_sums){
		.paths = { .node_bytes = sizeof(struct dw_call_sum), .most = most,
		           .deepest = DW_TREE_DEEPEST, .other_key = DW_OTHER_CALLS },
		.detailed = detailed,
	};
}

void dw_call_sums_reset(struct dw_call_sums *sums)
{
	dw_call_paths_reset(&sums->paths);
	free(sums->tallies);
	dw_arena_reset(&sums->arena);
	*sums = dw_call_sums_make(sums->paths.most, sums->detailed);
}

uint32_t dw_call_sums_grow(struct dw_call_sums *sums, uint32_t node)
{
	if (!DW_GROW(&sums->tallies, &sums->tally_capacity, sums->tally_count)) {
		sums->paths.failed = true;
		return DW_NO_INDEX;
	}
	sums->tally_count++;
	return node;
}

uint32_t dw_call_sums_root(struct dw_call_sums *sums, uint32_t thread)
{
	uint32_t node = dw_call_path_root(&sums->paths, thread);

	return sums->detailed && sums->tally_count < sums->paths.count ? dw_call_sums_grow(sums, node)
	                                                               : node;
}

/* ---- merging ------------------------------------------------------------------------------ */

static uint64_t sums_scale(uint64_t ticks, double ratio)
{
	return ratio == 1 ? ticks : dw_whole((double)ticks * ratio + 0.5);
}

/* `moved`: by node of `from`, its node in `into`. */
static bool sums_merge_nodes(struct dw_call_sums *into, const struct dw_call_sums *from,
                             uint32_t *moved, double ratio)
{
	for (uint32_t i = 0; i < from->paths.count; i++) {
		const struct dw_call_sum *sum = dw_call_sums_at(from, i);
		uint32_t parent = sum->path.depth ? moved[sum->path.parent] : DW_NO_INDEX;
		uint32_t node = sum->path.depth ? dw_call_sums_child(into, parent, sum->path.key)
		                                : dw_call_sums_root(into, sum->path.key);
		bool folded = node == DW_CALL_PATH_FOLDED;
		struct dw_call_sum *to;

		if (node == DW_NO_INDEX)
			return false;
		moved[i] = folded ? parent : node;
		to = dw_call_sums_at(into, moved[i]);
		to->self += sums_scale(sum->self, ratio);
		if (folded) {
			if (into->detailed)
				into->tallies[parent].self += sums_scale(sum->self, ratio);
			continue;
		}
		to->total += sums_scale(sum->total, ratio);
		to->path.calls += sum->path.calls;
		if (into->detailed)
			dw_tally_merge(&into->tallies[node], sums_arena(into, node),
			               &from->tallies[i], ratio);
	}
	return true;
}

/* Copies the sums of the tallies to the nodes. */
static void sums_complete(struct dw_call_sums *sums)
{
	for (size_t i = 0; i < sums->tally_count; i++) {
		struct dw_call_sum *sum = dw_call_sums_at(sums, i);

		sum->total = sums->tallies[i].total;
		sum->self = sums->tallies[i].self;
		sum->path.calls = (uint32_t)sums->tallies[i].count;
	}
}

bool dw_call_sums_merge(struct dw_call_sums *into, struct dw_call_sums *from, double ratio)
{
	bool good = !from->paths.failed && !into->paths.failed;
	uint32_t *moved;

	sums_complete(from);
	if (good && !into->paths.count && ratio == 1) { /* nothing to merge with: move all nodes */
		uint32_t most = into->paths.most;

		dw_call_sums_reset(into);
		*into = *from;
		into->paths.most = most;
		*from = dw_call_sums_make(from->paths.most, from->detailed);
		return true;
	}
	moved = good ? malloc((from->paths.count + 1) * sizeof *moved) : NULL;
	good = moved && sums_merge_nodes(into, from, moved, ratio);
	free(moved);
	dw_call_sums_reset(from);
	return good;
}

/* ---- order -------------------------------------------------------------------------------- */

static int sums_compare_siblings(const void *left, const void *right, void *context)
{
	const struct dw_call_sum *a = dw_call_sums_at(context, *(const uint32_t *)left);
	const struct dw_call_sum *b = dw_call_sums_at(context, *(const uint32_t *)right);

	if (a->path.depth && a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return (a->path.key > b->path.key) - (a->path.key < b->path.key);
}

/* The group of a node: its parent, or for a root the number of nodes. */
static size_t sums_group(const struct dw_call_sums *sums, size_t node)
{
	const struct dw_call_path *path = &dw_call_sums_at(sums, node)->path;

	return path->depth ? path->parent : sums->paths.count;
}

/* Sorts the node indexes into `children`: grouped by parent, the roots last, each group in order.
 * The children of a node are at first[node] to before first[node + 1]. */
static void sums_sort_groups(struct dw_call_sums *sums, uint32_t *children, uint32_t *first)
{
	size_t count = sums->paths.count;

	for (size_t i = 0; i < count; i++)
		first[sums_group(sums, i) + 2]++;
	for (size_t i = 2; i < count + 3; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < count; i++) /* afterwards first[node + 1] is the end of its group */
		children[first[sums_group(sums, i) + 1]++] = (uint32_t)i;
	for (size_t i = 0; i <= count; i++)
		if (first[i + 1] - first[i] > 1)
			qsort_r(children + first[i], first[i + 1] - first[i], sizeof *children,
			        sums_compare_siblings, sums);
}

/* Writes the nodes depth first to `order`, without recursion. */
static void sums_descend(const struct dw_call_sums *sums, const uint32_t *children,
                         const uint32_t *first, uint32_t *order)
{
	size_t count = sums->paths.count, done = 0, group = count;
	uint32_t next[DW_TREE_DEEPEST + 2] = { first[count] }; /* by depth: the place of the next child */
	uint32_t depth = 0;                                    /* of the children of `group` */

	while (done < count) {
		while (next[depth] == first[group + 1]) {
			group = sums_group(sums, group);
			depth--;
		}
		group = order[done++] = children[next[depth]++];
		next[++depth] = first[group];
	}
}

/* The total of a root is the sum of its children's totals. */
static void sums_add_up_roots(struct dw_call_sums *sums)
{
	for (size_t i = 0; i < sums->paths.count; i++) {
		const struct dw_call_sum *sum = dw_call_sums_at(sums, i);

		if (sum->path.depth == 1)
			dw_call_sums_at(sums, sum->path.parent)->total += sum->total;
	}
}

uint32_t *dw_call_sums_order(struct dw_call_sums *sums)
{
	size_t count = sums->paths.count;
	uint32_t *children, *order, *first;

	dw_small_map_reset(&sums->paths.by_key);
	children = malloc((count + 1) * sizeof *children);
	order = malloc((count + 1) * sizeof *order);
	first = calloc(count + 3, sizeof *first);
	sums_add_up_roots(sums);
	if (children && order && first) {
		sums_sort_groups(sums, children, first);
		sums_descend(sums, children, first, order);
	} else {
		free(order);
		order = NULL;
	}
	free(children);
	free(first);
	return order;
}
