/*
 * A map from keys to items of an array that the caller keeps.
 *
 * For each item the map stores its index and a hash of its key, and not the key. The caller passes
 * an expression that compares an item with the key.
 *
 *     uint32_t hash = dw_map_hash((uint64_t)parent << 32 | symbol);
 *     uint32_t found = DW_MAP_FIND(&map, hash, i, nodes[i].parent == parent &&
 *                                                 nodes[i].symbol == symbol);
 *
 *     if (found == DW_MAP_NONE && !dw_map_add(&map, hash, new_index))
 *         return out_of_memory;
 *
 * Open addressing with linear probing, at most three quarters full, 8 bytes per slot. An item is
 * compared only if its whole hash is equal. A zeroed map is empty. Not thread-safe. Indices are at
 * most DW_MAP_NONE - 2.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define DW_MAP_NONE UINT32_MAX

struct dw_map {
	uint64_t *slots; /* hash << 32 | index + 1; 0 means empty */
	uint32_t mask;   /* slots - 1; meaningless while there are none */
	uint32_t count;
};

/* The hash of a number, all bits of which count. */
static inline uint32_t dw_map_hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(key ^ key >> 32);
}

/* The hash of bytes; `seed` is the hash of the bytes before them, or 0. */
static inline uint32_t dw_map_hash_bytes(uint32_t seed, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t hash = 0xcbf29ce484222325u ^ seed;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return (uint32_t)(hash ^ hash >> 32);
}

/* The item with this hash for which `same`, an expression with `item`, is true; or DW_MAP_NONE. */
#define DW_MAP_FIND(map, hash, item, same)                                               \
	__extension__({                                                                      \
		const struct dw_map *map_ = (map);                                               \
		const uint32_t hash_ = (hash);                                                   \
		uint32_t found_ = DW_MAP_NONE;                                                   \
                                                                                         \
		for (uint32_t at_ = hash_; map_->count; at_++) {                                 \
			uint64_t slot_ = map_->slots[at_ & map_->mask];                              \
			uint32_t item = (uint32_t)slot_ - 1u;                                        \
                                                                                         \
			if (!slot_)                                                                  \
				break;                                                                   \
			if ((uint32_t)(slot_ >> 32) == hash_ && (same)) {                            \
				found_ = item;                                                           \
				break;                                                                   \
			}                                                                            \
		}                                                                                \
		found_;                                                                          \
	})

static inline void dw_map_put(struct dw_map *map, uint64_t slot)
{
	uint32_t at = (uint32_t)(slot >> 32) & map->mask;

	while (map->slots[at])
		at = (at + 1) & map->mask;
	map->slots[at] = slot;
}

/* Makes the map twice as large. */
static __attribute__((noinline, unused)) bool dw_map_grow(struct dw_map *map)
{
	struct dw_map grown = { NULL, map->slots ? map->mask * 2 + 1 : 63, map->count };

	if (grown.mask < map->mask)
		return false;
	grown.slots = calloc((size_t)grown.mask + 1, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (size_t i = 0; map->slots && i <= map->mask; i++)
		if (map->slots[i])
			dw_map_put(&grown, map->slots[i]);
	free(map->slots);
	*map = grown;
	return true;
}

/* Adds an item that is not in the map; false if out of memory. */
static inline bool dw_map_add(struct dw_map *map, uint32_t hash, uint32_t item)
{
	if ((!map->slots || map->count >= map->mask / 4 * 3) && !dw_map_grow(map))
		return false;
	dw_map_put(map, (uint64_t)hash << 32 | (item + 1u));
	map->count++;
	return true;
}

/* Removes an item that is in the map. Later slots move up, so that no search ends too early. */
static inline void dw_map_remove(struct dw_map *map, uint32_t hash, uint32_t item)
{
	uint32_t hole = hash & map->mask, at;

	while (map->slots[hole] != ((uint64_t)hash << 32 | (item + 1u)))
		hole = (hole + 1) & map->mask;
	for (at = (hole + 1) & map->mask; map->slots[at]; at = (at + 1) & map->mask) {
		uint32_t home = (uint32_t)(map->slots[at] >> 32) & map->mask;

		if (((at - home) & map->mask) < ((at - hole) & map->mask))
			continue;
		map->slots[hole] = map->slots[at];
		hole = at;
	}
	map->slots[hole] = 0;
	map->count--;
}

static inline void dw_map_reset(struct dw_map *map)
{
	free(map->slots);
	*map = (struct dw_map){ NULL, 0, 0 };
}

/*
 * The same with slots of 4 bytes, for millions of items. A slot has 24 bits of an item's index and 8 bits of its hash, so
 * that the caller counts the items and computes their hashes again when there are more slots.
 */
#define DW_SMALL_MAP_TAG 0xff000000u

struct dw_small_map {
	uint32_t *slots; /* the hash's tag | index + 1; 0 means empty */
	uint32_t mask;   /* slots - 1; meaningless while there are none */
};

#define DW_SMALL_MAP_FIND(map, hash, item, same)                                         \
	__extension__({                                                                      \
		const struct dw_small_map *map_ = (map);                                         \
		const uint32_t hash_ = (hash);                                                   \
		uint32_t found_ = DW_MAP_NONE;                                                   \
                                                                                         \
		for (uint32_t at_ = hash_; map_->slots; at_++) {                                 \
			uint32_t slot_ = map_->slots[at_ & map_->mask];                              \
			uint32_t item = (slot_ & ~DW_SMALL_MAP_TAG) - 1u;                            \
                                                                                         \
			if (!slot_)                                                                  \
				break;                                                                   \
			if (!((slot_ ^ hash_) & DW_SMALL_MAP_TAG) && (same)) {                       \
				found_ = item;                                                           \
				break;                                                                   \
			}                                                                            \
		}                                                                                \
		found_;                                                                          \
	})

static inline void dw_small_map_put(struct dw_small_map *map, uint32_t hash, uint32_t item)
{
	uint32_t at = hash & map->mask;

	while (map->slots[at])
		at = (at + 1) & map->mask;
	map->slots[at] = (hash & DW_SMALL_MAP_TAG) | (item + 1u);
}

/* Makes space for one more than `count` items; false if out of memory, or of indexes. */
static inline bool dw_small_map_reserve(struct dw_small_map *map, size_t count,
                                        uint32_t (*hash_of)(const void *items, uint32_t item), const void *items)
{
	uint32_t mask = map->slots ? map->mask * 2 + 1 : 63, *slots;

	if (map->slots && count < map->mask / 4 * 3)
		return true;
	slots = mask <= ~DW_SMALL_MAP_TAG ? calloc((size_t)mask + 1, sizeof *slots) : NULL;
	if (!slots)
		return false;
	free(map->slots);
	*map = (struct dw_small_map){ slots, mask };
	for (uint32_t i = 0; i < count; i++)
		dw_small_map_put(map, hash_of(items, i), i);
	return true;
}

static inline void dw_small_map_reset(struct dw_small_map *map)
{
	free(map->slots);
	map->slots = NULL;
}
