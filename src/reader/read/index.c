/*
 * Ids to places in an array.
 *
 * Used where a file may contain any id and a search through a list would be slow. The multiplier of
 * the hash is chosen when the first id is added, so that no file can contain ids that collide on
 * purpose.
 */

#include "base/grow.h"
#include "read/read.h"

static uint32_t index_hash(const struct dw_read_index *index, uint32_t id)
{
	return (uint32_t)(((uint64_t)id + 1) * index->seed >> 32);
}

static uint32_t index_find_item(const struct dw_read_index *index, uint32_t id)
{
	return DW_MAP_FIND(&index->by_id, index_hash(index, id), i, index->items[i].id == id);
}

uint32_t *dw_read_index_at(struct dw_read_index *index, uint32_t id)
{
	uint32_t found = index_find_item(index, id);
	struct dw_read_item *item;

	if (found != DW_MAP_NONE)
		return &index->items[found].place;
	item = DW_GROW(&index->items, &index->capacity, index->count);
	if (!item)
		return NULL;
	if (!index->seed)
		index->seed = dw_hash_seed(index->items);
	if (!dw_map_add(&index->by_id, index_hash(index, id), (uint32_t)index->count))
		return NULL;
	index->count++;
	item->id = id; /* the caller sets the place */
	return &item->place;
}

uint32_t dw_read_index_find(const struct dw_read_index *index, uint32_t id)
{
	uint32_t found = index_find_item(index, id);

	return found == DW_MAP_NONE ? 0 : index->items[found].place;
}

void dw_read_index_reset(struct dw_read_index *index)
{
	free(index->items);
	dw_map_reset(&index->by_id);
	*index = (struct dw_read_index){ .items = NULL };
}
