/* The call-path trie; see call_paths.h. */
#include "model/core/call_paths.h"

#include "base/grow.h"

static uint32_t paths_hash_of(const void *paths, uint32_t index)
{
	const struct dw_call_path *path = dw_call_path_at(paths, index);

	return dw_call_path_hash(path->parent, path->key);
}

static uint32_t paths_add_node(struct dw_call_paths *paths, uint32_t parent, uint32_t key, uint32_t hash)
{
	struct dw_call_path *path = dw_grow(&paths->nodes, &paths->capacity, paths->count, paths->node_bytes);

	if (!path || !dw_small_map_reserve(&paths->by_key, paths->count, paths_hash_of, paths)) {
		paths->failed = true;
		return DW_NO_INDEX;
	}
	path->parent = parent;
	path->key = key;
	path->depth = parent == DW_NO_INDEX ? 0 : dw_call_path_at(paths, parent)->depth + 1;
	dw_small_map_put(&paths->by_key, hash, (uint32_t)paths->count);
	return (uint32_t)paths->count++;
}

uint32_t dw_call_path_add(struct dw_call_paths *paths, uint32_t parent, uint32_t key, uint32_t hash)
{
	const struct dw_call_path *above = dw_call_path_at(paths, parent);

	if (paths->failed)
		return DW_NO_INDEX;
	/* A path can be longer than the stack ever was: a range can outlive the ranges around it. */
	if (above->depth >= paths->deepest)
		return DW_CALL_PATH_FOLDED;
	if (paths->count < paths->most || (paths->other_key && key == paths->other_key))
		return paths_add_node(paths, parent, key, hash);
	if (!paths->other_key || (above->depth && above->key == paths->other_key))
		return DW_CALL_PATH_FOLDED;
	return dw_call_path_child(paths, parent, paths->other_key);
}

uint32_t dw_call_path_root(struct dw_call_paths *paths, uint32_t key)
{
	uint32_t hash = dw_call_path_hash(DW_NO_INDEX, key);
	uint32_t found = DW_SMALL_MAP_FIND(&paths->by_key, hash, i, dw_call_path_is(dw_call_path_at(paths, i), DW_NO_INDEX, key));

	if (found != DW_MAP_NONE || paths->failed)
		return found;
	return paths_add_node(paths, DW_NO_INDEX, key, hash);
}

void dw_call_paths_reset(struct dw_call_paths *paths)
{
	free(paths->nodes);
	dw_small_map_reset(&paths->by_key);
	paths->nodes = NULL;
	paths->count = paths->capacity = 0;
	paths->failed = false;
}
