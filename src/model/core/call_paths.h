/*
 * The call-path trie: numbers for call paths, for every product that adds up by path.
 *
 * A call path is another path and one more key below it. The product chooses what keys are: symbols
 * of ranges, rows, functions. Each path has a node, and the index of the node is the number of the
 * path. A product's node begins with struct dw_call_path, and what the product adds up follows.
 * Parents come before their children.
 *
 * Depth and number of nodes are limited. When there are `most` nodes, further children of a node
 * are one child with the key `other_key`; if this is 0, they have no node. No sum is lost: a path
 * without a node counts as its parent.
 */
#pragma once

#include "base/map.h"
#include "format/decode.h"
#include "model/core/model_data.h"

#define DW_CALL_PATH_FOLDED (DW_NO_INDEX - 1) /* the path has no node, because of a limit */
#define DW_CALL_PATH_DEEPEST 1024u /* largest depth in the call tree; deeper ranges count as their
                                    * ancestor at this depth */

struct dw_call_path {
	uint32_t parent; /* index; DW_NO_INDEX: a root */
	uint32_t key;
	uint32_t depth;  /* of a root: 0 */
	uint32_t calls;  /* for the product; the trie does not use it */
};

struct dw_call_paths {
	uint32_t node_bytes; /* size of the product's node; this and the limits are set by the product */
	uint32_t most;       /* number of nodes; roots and nodes for `other_key` are always added */
	uint32_t deepest;    /* largest depth of a node */
	uint32_t other_key;  /* 0: none */
	void *nodes;         /* zeroed beyond struct dw_call_path when they are added */
	size_t count, capacity;
	struct dw_small_map by_key; /* nodes by parent and key */
	bool failed;         /* memory ran out */
};

/* Finds or adds a root. DW_NO_INDEX: out of memory. */
uint32_t dw_call_path_root(struct dw_call_paths *paths, uint32_t key);
void dw_call_paths_reset(struct dw_call_paths *paths); /* keeps size and limits */

/* For dw_call_path_child(). */
uint32_t dw_call_path_add(struct dw_call_paths *paths, uint32_t parent, uint32_t key, uint32_t hash);

DW_INLINE struct dw_call_path *dw_call_path_at(const struct dw_call_paths *paths, size_t index)
{
	return (struct dw_call_path *)(void *)((char *)paths->nodes + index * paths->node_bytes);
}

DW_INLINE uint32_t dw_call_path_hash(uint32_t parent, uint32_t key)
{
	return dw_map_hash((uint64_t)parent << 32 | key);
}

DW_INLINE bool dw_call_path_is(const struct dw_call_path *path, uint32_t parent, uint32_t key)
{
	return path->parent == parent && path->key == key;
}

/* Finds or adds a child. DW_NO_INDEX: out of memory. Or DW_CALL_PATH_FOLDED. */
DW_INLINE uint32_t dw_call_path_child(struct dw_call_paths *paths, uint32_t parent, uint32_t key)
{
	uint32_t hash = dw_call_path_hash(parent, key);
	uint32_t found = DW_SMALL_MAP_FIND(&paths->by_key, hash, i, dw_call_path_is(dw_call_path_at(paths, i), parent, key));

	return found != DW_MAP_NONE ? found : dw_call_path_add(paths, parent, key, hash);
}
