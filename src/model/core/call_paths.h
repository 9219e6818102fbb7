/*
 * The call-path trie: calls added up by call path.
 *
 * Each worker of call_tree_walk.c fills a trie of its own; the tries are then merged by path. A
 * node has 32 bytes, so that the millions of paths of a picture fit in memory. A detailed trie also
 * has a tally for each node, with extremes and percentiles. Parents come before their children in
 * `nodes`. When the trie has `most` nodes, further children of a node are added to its child
 * "(other calls)": no call's time is lost.
 */
#ifndef DW_MODEL_CORE_CALL_PATHS_H
#define DW_MODEL_CORE_CALL_PATHS_H

#include "base/map.h"
#include "format/decode.h"
#include "model/core/model_data.h"
#include "model/core/tally.h"

#define DW_TRUNK_FOLDED (DW_NO_INDEX - 1) /* no node of its own: the call's time is its parent's
                                           * self time. The parent is "(other calls)", or its
                                           * depth is DW_TRUNK_DEEPEST */
#define DW_TRUNK_DEEPEST 1024u            /* largest depth of a node; a thread has depth 0 */

struct dw_trunk_node {
	uint64_t total, self; /* ticks; a root has only a total, set by dw_trunk_order() */
	uint32_t count;
	uint32_t symbol;      /* a root: index of the thread */
	uint32_t parent;      /* index; DW_NO_INDEX: a root */
	uint32_t depth;
};

struct dw_trunk {
	struct dw_trunk_node *nodes;
	struct dw_tally *tallies; /* by node; NULL unless detailed */
	size_t count, capacity, tally_capacity;
	struct dw_map by_path; /* nodes by parent and symbol */
	struct dw_arena arena; /* memory of the tallies */
	uint32_t most;
	uint32_t deepest; /* largest depth of all nodes */
	bool detailed;
	bool failed; /* memory ran out */
};

/* Finds or adds the root of a thread. DW_NO_INDEX: out of memory. */
uint32_t dw_trunk_root(struct dw_trunk *trunk, uint32_t thread);
/* Finds or adds a child. It can also return DW_TRUNK_FOLDED. */
uint32_t dw_trunk_child(struct dw_trunk *trunk, uint32_t parent, uint32_t symbol);

/* Adds `from` to `into`, with times multiplied by `ratio`, and empties `from`. */
bool dw_trunk_merge(struct dw_trunk *into, struct dw_trunk *from, double ratio);

/* Returns the indexes of the nodes depth first: siblings by descending total, threads by index. The
 * caller frees the array. NULL: out of memory. Sets the total of each root to the sum of its
 * children. No node can be added afterwards. */
uint32_t *dw_trunk_order(struct dw_trunk *trunk);

void dw_trunk_reset(struct dw_trunk *trunk);

struct dw_arena *dw_trunk_quantiles(struct dw_trunk *trunk, uint32_t node);

DW_INLINE void dw_trunk_add(struct dw_trunk *trunk, uint32_t index, uint64_t duration,
                            uint64_t self)
{
	struct dw_trunk_node *node = &trunk->nodes[index];

	node->total += duration;
	node->self += self;
	node->count++;
	if (trunk->detailed)
		dw_tally_add(&trunk->tallies[index], dw_trunk_quantiles(trunk, index), duration, self);
}

#endif
