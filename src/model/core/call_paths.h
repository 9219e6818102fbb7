/*
 * A trunk: call paths while they are counted.
 *
 * call_tree_walk.c grows one a worker and puts them together by path. A node is 32 bytes, so
 * that millions of paths fit in a picture's memory; a detailed trunk has a tally a node
 * beside it, for extremes and percentiles. Parents come before their children. Paths
 * beyond `most` are "(other calls)" of their parent: no call's time is lost.
 */
#ifndef DW_MODEL_CORE_CALL_PATHS_H
#define DW_MODEL_CORE_CALL_PATHS_H

#include "base/map.h"
#include "format/decode.h"
#include "model/core/model_data.h"
#include "model/core/tally.h"

#define DW_TRUNK_FOLDED (DW_NO_INDEX - 1) /* of a call whose time is its parent's: in "(other calls)",
                                           * or deeper than DW_TRUNK_DEEPEST */
#define DW_TRUNK_DEEPEST 1024u            /* of a node's depth; a thread has 0 */

struct dw_trunk_node {
	uint64_t total, self; /* ticks; a root has a total only, when ordered */
	uint32_t count;
	uint32_t symbol;      /* of a root: the thread */
	uint32_t parent;      /* DW_NO_INDEX: it is a root */
	uint32_t depth;
};

struct dw_trunk {
	struct dw_trunk_node *nodes;
	struct dw_tally *tallies; /* by node, of a detailed trunk */
	size_t count, capacity, tally_capacity;
	struct dw_map by_path; /* nodes by parent and symbol */
	struct dw_arena arena; /* of the tallies */
	uint32_t most;
	uint32_t deepest; /* of all nodes */
	bool detailed;
	bool failed; /* out of memory */
};

/* The node, made when it is new; DW_NO_INDEX when out of memory. */
uint32_t dw_trunk_root(struct dw_trunk *trunk, uint32_t thread);
/* Also DW_TRUNK_FOLDED. */
uint32_t dw_trunk_child(struct dw_trunk *trunk, uint32_t parent, uint32_t symbol);

/* Adds all of `from`, times multiplied by `ratio`, and empties it. */
bool dw_trunk_merge(struct dw_trunk *into, struct dw_trunk *from, double ratio);

/* Nodes depth first, siblings by total, threads by index: to be freed, NULL when out of
 * memory. Roots get their children's total. Afterwards the trunk does not grow. */
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
