/*
 * What a graph launches belongs to the ranges in which its nodes were made.
 *
 * Called by events.c for each event of a node that the recorder saw being made. A program runs the code of a graph once, while a
 * stream is captured, and launches the graph in many steps. A launch becomes parts, a call for each range of the capture that its
 * events work for. The part counts when and where the launch does. Around it are copies of the ranges that began within the capture,
 * and around these the ranges of the launch: as if the code ran again.
 */
#include "base/free.h"
#include "base/grow.h"
#include "model/device/build.h"

/* The place of a value for a key in two lists; DW_NO_INDEX: there is none. */
static uint32_t nodes_find(const struct dw_map *map, const uint64_t *keys, uint64_t key)
{
	return DW_MAP_FIND(map, dw_map_hash(key), i, keys[i] == key);
}

static bool nodes_keep(struct dw_map *map, uint64_t **keys, uint32_t **values, size_t *count, size_t capacity[2], uint64_t key,
                       uint32_t value)
{
	size_t same = *count;

	if (!dw_map_add(map, dw_map_hash(key), (uint32_t)*count) || !DW_APPEND(keys, &capacity[0], &same, key))
		return false;
	return DW_APPEND(values, &capacity[1], count, value);
}

/* The copy of a range of the capture for a launch, inside the copy `parent`. False: out of memory. */
static bool nodes_copy_owner(struct dw_device_build *build, uint32_t call, uint32_t owner, uint32_t parent, uint32_t *copy)
{
	struct dw_device_work *work = build->work;
	const uint64_t key = (uint64_t)call << 32 | owner;
	uint32_t found = nodes_find(&build->node_owners, build->node_owner_keys, key);
	struct dw_device_owner made = work->owners[owner];

	if (found != DW_MAP_NONE) {
		*copy = build->node_owner_values[found];
		return true;
	}
	made.start_ns = work->calls[call].start_ns;
	made.end_ns = work->calls[call].end_ns;
	made.thread = work->calls[call].thread;
	made.in_scope = work->calls[call].in_scope;
	made.parent = parent;
	made.self_ns = made.total_ns = 0;
	*copy = (uint32_t)work->owner_count;
	return DW_APPEND(&work->owners, &build->owner_capacity, &work->owner_count, made) &&
	       nodes_keep(&build->node_owners, &build->node_owner_keys, &build->node_owner_values, &build->node_owner_count,
	                  build->node_owner_capacity, key, *copy);
}

/* The innermost range around the part: copies of those of the capture, from the outermost on. */
static bool nodes_copy_owners(struct dw_device_build *build, uint32_t call, const struct dw_node_place *place, uint32_t *innermost)
{
	struct dw_device_work *work = build->work;
	uint32_t inside[DW_DEVICE_DEEPEST], count = 0;

	for (uint32_t at = place->owner; at != DW_NO_INDEX && count < DW_DEVICE_DEEPEST && work->owners[at].start_ns >= place->begin_ns;
	     at = work->owners[at].parent)
		inside[count++] = at;
	*innermost = work->calls[call].owner;
	while (count > 0)
		if (!nodes_copy_owner(build, call, inside[--count], *innermost, innermost))
			return false;
	return true;
}

bool dw_device_find_node_call(struct dw_device_build *build, uint32_t node, uint32_t *call)
{
	struct dw_device_work *work = build->work;
	uint32_t at = build->keys[node].place, found, launch = *call;
	const struct dw_node_place *place;
	struct dw_device_call part;

	place = at == DW_NO_INDEX ? NULL : &build->places[at];
	if (!place || place->owner == DW_NO_INDEX || work->owners[place->owner].start_ns < place->begin_ns)
		return true; /* in no range of the capture */
	found = nodes_find(&build->node_calls, build->node_call_keys, (uint64_t)launch << 32 | place->owner);
	if (found != DW_MAP_NONE) {
		*call = build->node_call_values[found];
		return true;
	}
	part = work->calls[launch];
	part.events = part.work = 0;
	part.device_ns = 0;
	part.late = part.synchronises = false; /* the launch is in the list itself */
	part.made_ns = place->made_ns;
	part.made_thread = place->thread;
	part.further = work->calls[launch].further;
	work->calls[launch].further = true;
	if (!nodes_copy_owners(build, launch, place, &part.owner))
		return false;
	*call = (uint32_t)work->call_count;
	return DW_APPEND(&work->calls, &build->call_capacity, &work->call_count, part) &&
	       nodes_keep(&build->node_calls, &build->node_call_keys, &build->node_call_values, &build->node_call_count,
	                  build->node_call_capacity, (uint64_t)launch << 32 | place->owner, *call);
}

void dw_device_nodes_reset(struct dw_device_build *build)
{
	dw_map_reset(&build->node_calls);
	dw_map_reset(&build->node_owners);
	DW_FREE(build->places, build->node_call_keys, build->node_owner_keys, build->node_call_values, build->node_owner_values);
}
