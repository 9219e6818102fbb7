/* The map, compared with a linear search in a list. */
#include "../check.h"

#include "base/map.h"

enum { ITEMS = 4096 };

static uint64_t keys[ITEMS];
static bool present[ITEMS];
static uint64_t state = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 16) % below);
}

/* Few different hashes make long runs of slots, which is where removing is hard. */
static uint32_t hash_of(uint32_t item, uint32_t hashes)
{
	return hashes ? dw_map_hash(keys[item] % hashes) : dw_map_hash(keys[item]);
}

static void add_and_remove(uint32_t hashes)
{
	struct dw_map map = { NULL, 0, 0 };
	uint32_t count = 0, wrong = 0;

	memset(present, 0, sizeof present);
	for (uint32_t i = 0; i < ITEMS; i++)
		keys[i] = (uint64_t)i * 0x100000001u;
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t item = draw(ITEMS), hash = hash_of(item, hashes);
		uint32_t found = DW_MAP_FIND(&map, hash, i, keys[i] == keys[item]);

		wrong += found != (present[item] ? item : DW_MAP_NONE);
		if (present[item])
			dw_map_remove(&map, hash, item);
		else
			wrong += !dw_map_add(&map, hash, item);
		present[item] = !present[item];
		count += present[item] ? 1 : UINT32_MAX;
	}
	for (uint32_t item = 0; item < ITEMS; item++)
		wrong += DW_MAP_FIND(&map, hash_of(item, hashes), i, keys[i] == keys[item]) !=
		         (present[item] ? item : DW_MAP_NONE);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(map.count, count);
	dw_map_reset(&map);
	CHECK_EQ(map.count, 0);
}

TEST(an_empty_map_holds_nothing)
{
	struct dw_map map = { NULL, 0, 0 };

	CHECK_EQ(DW_MAP_FIND(&map, dw_map_hash(1), i, i == 1), DW_MAP_NONE);
	dw_map_reset(&map);
}

TEST(items_are_found_until_they_are_removed)
{
	add_and_remove(0);
}

TEST(items_with_equal_hashes_are_told_apart)
{
	add_and_remove(7);
}

static uint32_t small_hash(const void *items, uint32_t item)
{
	return dw_map_hash(((const uint64_t *)items)[item]) % 1000; /* many are equal */
}

TEST(a_small_map_finds_each_of_its_items)
{
	static uint64_t items[5000];
	struct dw_small_map map = { NULL, 0 };
	uint32_t wrong = 0;

	CHECK_EQ(DW_SMALL_MAP_FIND(&map, 1, i, i == 0), DW_MAP_NONE);
	for (uint32_t item = 0; item < 5000; item++) {
		items[item] = item * 77u;
		REQUIRE(dw_small_map_reserve(&map, item, small_hash, items));
		dw_small_map_put(&map, small_hash(items, item), item);
	}
	for (uint32_t item = 0; item < 5000; item++)
		wrong += DW_SMALL_MAP_FIND(&map, small_hash(items, item), i, items[i] == item * 77u) != item;
	CHECK_EQ(wrong, 0);
	CHECK_EQ(DW_SMALL_MAP_FIND(&map, 1, i, items[i] == 5), DW_MAP_NONE);
	dw_small_map_reset(&map);
	CHECK(!map.slots);
}

TEST(text_is_hashed_with_what_comes_before)
{
	CHECK(dw_map_hash_bytes(0, "ab", 2) != dw_map_hash_bytes(0, "ba", 2));
	CHECK(dw_map_hash_bytes(1, "ab", 2) != dw_map_hash_bytes(2, "ab", 2));
}

CHECK_MAIN
