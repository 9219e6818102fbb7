/*
 * The set of live addresses, with a small number for each.
 *
 * The numbers are indices of an array that the caller keeps. dw_live_add() reuses freed numbers. So
 * the array is as long as the largest number of addresses that were live at the same time. `space`
 * distinguishes equal addresses of different processes.
 */
#pragma once

#include "base/grow.h"
#include "base/map.h"

struct dw_live_item {
	uint64_t address;
	uint32_t space;
	uint32_t next_free; /* in an unused item: the next unused number + 1; 0 means none */
};

/* A zeroed structure is empty. */
struct dw_live {
	struct dw_live_item *items;
	size_t count, capacity; /* numbers that were ever used */
	uint32_t free;          /* the first unused number + 1; 0 means none */
	struct dw_map map;
};

static inline uint32_t dw_live_hash(uint64_t address, uint32_t space)
{
	return dw_map_hash(address ^ (uint64_t)space << 48);
}

/* DW_MAP_NONE if the address is not live. */
static inline uint32_t dw_live_find(const struct dw_live *live, uint64_t address, uint32_t space)
{
	return DW_MAP_FIND(&live->map, dw_live_hash(address, space), i,
	                   live->items[i].address == address && live->items[i].space == space);
}

/* Adds an address that is not live; DW_MAP_NONE if out of memory. */
static inline uint32_t dw_live_add(struct dw_live *live, uint64_t address, uint32_t space)
{
	uint32_t number = live->free ? live->free - 1 : (uint32_t)live->count;

	if (!live->free && !DW_GROW(&live->items, &live->capacity, live->count))
		return DW_MAP_NONE;
	if (!dw_map_add(&live->map, dw_live_hash(address, space), number))
		return DW_MAP_NONE;
	if (live->free)
		live->free = live->items[number].next_free;
	else
		live->count++;
	live->items[number] = (struct dw_live_item){ address, space, 0 };
	return number;
}

static inline void dw_live_remove(struct dw_live *live, uint32_t number)
{
	struct dw_live_item *item = &live->items[number];

	dw_map_remove(&live->map, dw_live_hash(item->address, item->space), number);
	item->next_free = live->free;
	live->free = number + 1;
}

static inline void dw_live_reset(struct dw_live *live)
{
	free(live->items);
	dw_map_reset(&live->map);
	memset(live, 0, sizeof *live);
}
