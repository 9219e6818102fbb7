/*
 * Sums by call path: calls and times, for the call tree and for pictures.
 *
 * Each worker of call_tree.c has sums of its own; they are then merged by path. A node has 32
 * bytes, so that the millions of paths of a picture fit in memory. Detailed sums also have a tally
 * for each node, with extremes and percentiles. A root is a thread; the keys below it are symbols.
 */
#pragma once

#include "model/core/call_paths.h"
#include "model/core/tally.h"

#define DW_TREE_DEEPEST DW_CALL_PATH_DEEPEST /* a thread has depth 0 */
#define DW_TREE_NODES (1u << 16) /* most nodes of a worker's tree */
#define DW_TREE_PATHS (1u << 22) /* most paths of a picture */
#define DW_TREE_QUANTILES (1u << 12) /* nodes with percentiles, which need the most memory */

struct dw_call_sum {
	struct dw_call_path path;
	uint64_t total, self; /* ticks; a root has only a total, set by dw_call_sums_order() */
};

struct dw_call_sums {
	struct dw_call_paths paths; /* of struct dw_call_sum */
	struct dw_tally *tallies;   /* by node; NULL unless detailed */
	size_t tally_count, tally_capacity;
	struct dw_arena arena;      /* memory of the tallies */
	bool detailed;              /* calls and times are in the tallies until dw_call_sums_merge() */
};

/* Empty sums of at most `most` nodes, and of "(other calls)". */
struct dw_call_sums dw_call_sums_make(uint32_t most, bool detailed);
void dw_call_sums_reset(struct dw_call_sums *sums);

/* Finds or adds a root. DW_NO_INDEX: out of memory. */
uint32_t dw_call_sums_root(struct dw_call_sums *sums, uint32_t thread);
/* Completes a node that was just added. Returns `node`, or DW_NO_INDEX when out of memory. */
uint32_t dw_call_sums_grow(struct dw_call_sums *sums, uint32_t node);

/* Adds `from` to `into`, with times multiplied by `ratio`, and empties `from`. */
bool dw_call_sums_merge(struct dw_call_sums *into, struct dw_call_sums *from, double ratio);

/* Returns the indexes of the nodes depth first: siblings by descending total, threads by index. The
 * caller frees the array. NULL: out of memory. Sets the total of each root to the sum of its
 * children. No node can be added afterwards. */
uint32_t *dw_call_sums_order(struct dw_call_sums *sums);

struct dw_paths;
/* Converts the sums to paths in place. The caller frees their nodes. */
bool dw_paths_put(struct dw_paths *paths, struct dw_call_sums *sums, double ns_per_tick);

DW_INLINE struct dw_call_sum *dw_call_sums_at(const struct dw_call_sums *sums, size_t index)
{
	return (struct dw_call_sum *)sums->paths.nodes + index;
}

/* Finds or adds a child, like dw_call_path_child(). */
DW_INLINE uint32_t dw_call_sums_child(struct dw_call_sums *sums, uint32_t parent, uint32_t symbol)
{
	uint32_t node = dw_call_path_child(&sums->paths, parent, symbol);

	if (__builtin_expect(sums->detailed && sums->tally_count < sums->paths.count, 0))
		return dw_call_sums_grow(sums, node);
	return node;
}

/* The tallies share the list of pending buckets, which is flushed before they are merged. */
DW_INLINE void dw_call_sums_add(struct dw_call_sums *sums, struct dw_tally_pending *pending, uint32_t index,
                                uint64_t duration, uint64_t self)
{
	struct dw_call_sum *sum;

	if (sums->detailed && index < DW_TREE_QUANTILES) {
		dw_tally_add_later(&sums->tallies[index], &sums->arena, pending, duration, self);
	} else if (sums->detailed) {
		dw_tally_add_sums(&sums->tallies[index], duration, self);
	} else {
		sum = dw_call_sums_at(sums, index);
		sum->total += duration;
		sum->self += self;
		sum->path.calls++;
	}
}

/* Adds a part of a call, which goes on in another node. */
DW_INLINE void dw_call_sums_add_part(struct dw_call_sums *sums, uint32_t index, uint64_t duration, uint64_t self)
{
	struct dw_call_sum *sum = dw_call_sums_at(sums, index);

	if (sums->detailed) {
		sums->tallies[index].total += duration;
		sums->tallies[index].self += self;
	} else {
		sum->total += duration;
		sum->self += self;
	}
}

/* A node is about to be added to: its tally comes nearer to the processor meanwhile. */
DW_INLINE void dw_call_sums_expect(const struct dw_call_sums *sums, uint32_t index)
{
	if (sums->detailed) {
		__builtin_prefetch(&sums->tallies[index], 1);
		__builtin_prefetch((const char *)(&sums->tallies[index] + 1) - 1, 1);
	}
}
