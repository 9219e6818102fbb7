/*
 * Ids to places in an array: a table with open addressing.
 *
 * Used where a file may name any id, and a list would be searched for each of them. The
 * multiplier is chosen when the table is made, so that no file can hold ids that collide
 * on purpose. Invariant: at most half of the slots are taken.
 */
#include <stdlib.h>
#include <time.h>

#include "read/read.h"

#define FIRST_SLOTS 16u

static size_t slot_of(const struct dw_read_index *index, uint32_t id)
{
	size_t at = (size_t)(((uint64_t)id + 1) * index->seed >> 32) & (index->capacity - 1);

	while (index->slots[at].place && index->slots[at].id != id)
		at = (at + 1) & (index->capacity - 1);
	return at;
}

uint64_t dw_read_seed(const void *address)
{
	struct timespec now;
	uint64_t seed;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seed = ((uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)address) * 0x9e3779b97f4a7c15u;
	return (seed ^ seed >> 29) | 1;
}

static int grow(struct dw_read_index *index)
{
	struct dw_read_index grown = { .capacity = index->capacity ? index->capacity * 2 : FIRST_SLOTS,
		.count = index->count };

	grown.slots = calloc(grown.capacity, sizeof *grown.slots);
	if (!grown.slots)
		return -1;
	grown.seed = index->seed ? index->seed : dw_read_seed(grown.slots);
	for (size_t i = 0; i < index->capacity; i++)
		if (index->slots[i].place)
			grown.slots[slot_of(&grown, index->slots[i].id)] = index->slots[i];
	free(index->slots);
	*index = grown;
	return 0;
}

uint32_t *dw_read_index_at(struct dw_read_index *index, uint32_t id)
{
	struct dw_read_slot *slot;

	if (index->count * 2 >= index->capacity && grow(index))
		return NULL;
	slot = &index->slots[slot_of(index, id)];
	if (!slot->place) {
		slot->id = id; /* the caller sets the place */
		index->count++;
	}
	return &slot->place;
}

uint32_t dw_read_index_find(const struct dw_read_index *index, uint32_t id)
{
	return index->capacity ? index->slots[slot_of(index, id)].place : 0;
}

void dw_read_index_reset(struct dw_read_index *index)
{
	free(index->slots);
	*index = (struct dw_read_index){ .slots = NULL };
}
