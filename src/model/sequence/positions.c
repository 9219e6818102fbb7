/*
 * Finds the positions of a step's operators; see sequence.h.
 *
 * All positions are in one line. A sequence of operators that occurred before (a variant: a branch,
 * the graph of a validation) is looked up. A new sequence is compared once: first with the most
 * similar variant, and where the two differ, with that part of the line. An operator that is found
 * has the position found; any other gets a new position between its neighbours. A comparison with
 * the whole line only could find an operator of the same name in a different, much older graph.
 *
 * Invariant: a position's id never changes, so variants stay valid when the line grows.
 */
#include <string.h>

#include "base/free.h"
#include "model/sequence/compare.h"
#include "model/sequence/positions.h"

#define MOST_VARIANTS 512u
#define MOST_VARIANT_KEYS (1u << 21)
#define BAGS 64u

struct dw_line_variant {
	uint64_t hash;
	size_t count;
	uint16_t bag[BAGS];  /* number of keys by hash, to estimate how similar variants are */
	uint32_t *positions; /* by item; in the memory after the keys */
	uint32_t keys[];
};

/* ---- variants ------------------------------------------------------------------------ */

static bool variant_is_same(const struct dw_line_variant *variant, const struct dw_sequence_item *items, size_t count)
{
	uint32_t differences = 0;

	if (variant->count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		differences |= variant->keys[i] ^ items[i].key;
	return !differences;
}

static uint64_t positions_hash_variant(const struct dw_sequence_item *items, size_t count)
{
	uint64_t hash = 0xcbf29ce484222325u ^ count;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ items[i].key) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static struct dw_line_variant *line_find_variant(const struct dw_line *line, uint64_t hash,
                                                 const struct dw_sequence_item *items, size_t count)
{
	uint32_t found = DW_MAP_FIND(&line->by_order, (uint32_t)hash, i,
	                             line->variants[i]->hash == hash && variant_is_same(line->variants[i], items, count));

	return found == DW_MAP_NONE ? NULL : line->variants[found];
}

/* Frees all variants but the last one, with which the next sequence is compared. */
static void line_forget_variants(struct dw_line *line)
{
	for (size_t i = 0; i < line->variant_count; i++)
		if (line->variants[i] != line->last)
			free(line->variants[i]);
	line->variant_count = line->variant_keys = 0;
	dw_map_reset(&line->by_order);
}

/* Adds a variant to those that are looked up. False when out of memory. */
static bool line_keep_variant(struct dw_line *line, struct dw_line_variant *variant)
{
	if (!dw_map_add(&line->by_order, (uint32_t)variant->hash, (uint32_t)line->variant_count))
		return false;
	line->variants[line->variant_count++] = variant;
	line->variant_keys += variant->count;
	return true;
}

static struct dw_line_variant *variant_create(const struct dw_sequence_item *items, size_t count, uint64_t hash)
{
	struct dw_line_variant *variant = malloc(sizeof *variant + (2 * count + 1) * sizeof *variant->keys);

	if (!variant)
		return NULL;
	variant->hash = hash;
	variant->count = count;
	variant->positions = variant->keys + count;
	memset(variant->bag, 0, sizeof variant->bag);
	for (size_t i = 0; i < count; i++) {
		uint16_t *bag = &variant->bag[items[i].key * 0x9e3779b1u >> 26];

		variant->keys[i] = items[i].key;
		*bag += *bag < UINT16_MAX;
	}
	return variant;
}

/* The variant that is most similar to this one. Of equally similar ones line->last is preferred. */
static const struct dw_line_variant *line_most_alike(const struct dw_line *line, const struct dw_line_variant *variant)
{
	const struct dw_line_variant *best = NULL;
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < line->variant_count; i++) {
		const struct dw_line_variant *other = line->variants[i];
		uint32_t apart = 0;

		for (unsigned bag = 0; bag < BAGS; bag++)
			apart += (uint32_t)abs(other->bag[bag] - variant->bag[bag]);
		if (apart < least || (apart == least && other == line->last)) {
			best = other;
			least = apart;
		}
	}
	return best;
}

/* ---- growing ------------------------------------------------------------------------- */

static int line_reserve(struct dw_line *line, size_t added)
{
	size_t wanted = line->count + added, capacity = line->capacity;
	uint32_t *order, *keys;

	if (wanted > DW_SEQUENCE_POSITIONS)
		wanted = DW_SEQUENCE_POSITIONS;
	if (wanted <= capacity)
		return 0;
	while (capacity < wanted)
		capacity = capacity ? capacity * 2 : 256;
	order = realloc(line->order, capacity * sizeof *order);
	line->order = order ? order : line->order;
	keys = realloc(line->keys, capacity * sizeof *keys);
	line->keys = keys ? keys : line->keys;
	if (!order || !keys)
		return -1;
	line->capacity = (uint32_t)capacity;
	return 0;
}

/* Converts the variant's positions from places in the line to ids. An operator without a place gets
 * a new position, before that of the next operator that has one. `order` is the line until now. */
static void line_insert(struct dw_line *line, const uint32_t *order, uint32_t order_count,
                        struct dw_line_variant *variant)
{
	uint32_t next_id = line->count, at = 0, from = 0;
	size_t begin = 0;

	while (begin < variant->count || from < order_count) {
		size_t end = begin;

		while (end < variant->count && variant->positions[end] == DW_NO_INDEX)
			end++;
		uint32_t to = end < variant->count ? variant->positions[end] : order_count;
		while (from < to)
			line->order[at++] = order[from++];
		for (; begin < end && next_id < DW_SEQUENCE_POSITIONS; begin++) {
			line->keys[next_id] = variant->keys[begin];
			variant->positions[begin] = next_id;
			line->order[at++] = next_id++;
		}
		begin = end;
		if (end < variant->count) {
			line->order[at++] = order[from];
			variant->positions[begin++] = order[from++];
		}
	}
	line->count = next_id;
}

/* Compares the parts of the variant that were not found in the most similar one with the parts of
 * the line that are between the operators found. */
static bool line_compare_gaps(struct dw_line *line, const uint32_t *keys, struct dw_line_variant *variant)
{
	uint32_t from = 0;

	for (size_t begin = 0, end; begin < variant->count; begin = end + 1) {
		uint32_t to = line->count;

		for (end = begin; end < variant->count && variant->positions[end] == DW_NO_INDEX;)
			end++;
		if (end < variant->count)
			to = variant->positions[end];
		if (end > begin && to > from) {
			if (!dw_sequence_compare(&line->trace, keys + from, to - from, variant->keys + begin,
			                         end - begin, variant->positions + begin))
				return false;
			for (size_t i = begin; i < end; i++)
				if (variant->positions[i] != DW_NO_INDEX)
					variant->positions[i] += from;
		}
		from = to + 1;
	}
	return true;
}

/* Finds the places of the variant's operators in the line. `keys` are the line's keys by place;
 * `places` are places by id. */
static bool line_compare(struct dw_line *line, const uint32_t *keys, const uint32_t *places,
                         struct dw_line_variant *variant)
{
	const struct dw_line_variant *other = line_most_alike(line, variant);

	if (!other)
		return dw_sequence_compare(&line->trace, keys, line->count, variant->keys, variant->count, variant->positions);
	if (!dw_sequence_compare(&line->trace, other->keys, other->count, variant->keys,
	                         variant->count, variant->positions))
		return false;
	for (size_t i = 0; i < variant->count; i++) {
		uint32_t *position = &variant->positions[i];

		if (*position != DW_NO_INDEX)
			*position = other->positions[*position];
		if (*position != DW_NO_INDEX)
			*position = places[*position];
	}
	return line_compare_gaps(line, keys, variant);
}

static int line_place_new(struct dw_line *line, struct dw_line_variant *variant)
{
	size_t wanted = 3 * ((size_t)line->count + 1);
	uint32_t *order, *keys, *places;

	if (wanted > line->scratch_capacity) {
		uint32_t *scratch = realloc(line->scratch, 2 * wanted * sizeof *scratch);

		if (!scratch)
			return -1;
		line->scratch = scratch;
		line->scratch_capacity = 2 * wanted;
	}
	order = line->scratch;
	keys = order + line->count + 1;
	places = keys + line->count + 1;
	for (uint32_t i = 0; i < line->count; i++) {
		order[i] = line->order[i];
		keys[i] = line->keys[order[i]];
		places[order[i]] = i;
	}
	if (!line_compare(line, keys, places, variant) || line_reserve(line, variant->count))
		return -1;
	line_insert(line, order, line->count, variant);
	return 0;
}

/* ---- the interface --------------------------------------------------------------------- */

const uint32_t *dw_line_place(struct dw_line *line, const struct dw_sequence_item *items, size_t count)
{
	struct dw_line_variant *variant;
	uint64_t hash;

	if (line->last && variant_is_same(line->last, items, count))
		return line->last->positions;
	if (!line->variants)
		line->variants = calloc(MOST_VARIANTS, sizeof(struct dw_line_variant *));
	if (!line->variants)
		return NULL;
	line->changes += line->last != NULL;
	hash = positions_hash_variant(items, count);
	variant = line_find_variant(line, hash, items, count);
	if (!variant) {
		if (line->variant_count == MOST_VARIANTS || line->variant_keys + count > MOST_VARIANT_KEYS) {
			struct dw_line_variant *last = line->last;

			line_forget_variants(line);
			if (last && !line_keep_variant(line, last)) {
				line->last = NULL;
				free(last);
				return NULL;
			}
		}
		variant = variant_create(items, count, hash);
		if (!variant || line_place_new(line, variant) || !line_keep_variant(line, variant)) {
			free(variant);
			return NULL;
		}
	}
	line->last = variant;
	return variant->positions;
}

void dw_line_reset(struct dw_line *line)
{
	line->last = NULL; /* it is one of the variants, so these are all freed */
	line_forget_variants(line);
	DW_FREE(line->variants, line->order, line->keys, line->trace, line->scratch);
	memset(line, 0, sizeof *line);
}
