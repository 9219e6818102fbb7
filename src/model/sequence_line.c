/*
 * Operators of a step to positions: see sequence.h.
 *
 * All positions stand in one line. An iteration whose operators are the last one's, or
 * those of some order met before (a variant: a branch, a validation's graph), is looked
 * up; a new order is compared with the line once, by Myers' O(ND) greedy algorithm: what
 * is in both keeps its position, what is not gets a new one at its place between its
 * neighbours. Orders that have little in common are compared piece by piece, so that a
 * comparison costs at most (length * MOST_EDITS) whatever it meets.
 *
 * Invariant: a position's id never changes, so a variant stays right when the line grows.
 */
#include <stdlib.h>
#include <string.h>

#include "model/sequence_inside.h"

#define MOST_EDITS 256u          /* of a piece */
#define SLOTS 1024u              /* of the table of variants, half of them used */
#define MOST_VARIANT_KEYS (1u << 21)

struct dw_line_variant {
	uint64_t hash;
	size_t count;
	uint32_t *positions; /* by item, behind the keys */
	uint32_t keys[];
};

/* ---- variants ------------------------------------------------------------------------ */

static bool is_same(const struct dw_line_variant *variant, const struct dw_sequence_item *items,
                    size_t count)
{
	uint32_t differences = 0;

	if (variant->count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		differences |= variant->keys[i] ^ items[i].key;
	return !differences;
}

static uint64_t hash_of(const struct dw_sequence_item *items, size_t count)
{
	uint64_t hash = 0xcbf29ce484222325u ^ count;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ items[i].key) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static void forget_variants(struct dw_line *line)
{
	for (size_t i = 0; line->variants && i < SLOTS; i++) {
		free(line->variants[i]);
		line->variants[i] = NULL;
	}
	line->variant_count = line->variant_keys = 0;
	line->last = NULL;
}

static struct dw_line_variant **find_slot(struct dw_line *line, uint64_t hash,
                                          const struct dw_sequence_item *items, size_t count)
{
	size_t slot = hash & (SLOTS - 1);

	while (line->variants[slot] &&
	       (line->variants[slot]->hash != hash || !is_same(line->variants[slot], items, count)))
		slot = (slot + 1) & (SLOTS - 1);
	return &line->variants[slot];
}

static struct dw_line_variant *make_variant(const struct dw_sequence_item *items, size_t count,
                                            uint64_t hash)
{
	struct dw_line_variant *variant =
	    malloc(sizeof *variant + (2 * count + 1) * sizeof *variant->keys);

	if (!variant)
		return NULL;
	variant->hash = hash;
	variant->count = count;
	variant->positions = variant->keys + count;
	for (size_t i = 0; i < count; i++) {
		variant->keys[i] = items[i].key;
		variant->positions[i] = DW_NO_INDEX;
	}
	return variant;
}

/* ---- comparing ----------------------------------------------------------------------- */

struct piece {
	const uint32_t *a, *b;  /* the line's keys and the iteration's */
	int32_t a_count, b_count;
	uint32_t *found;        /* by index in b: index in a */
	int32_t a_from, b_from; /* where the piece begins */
	int32_t *trace;         /* furthest x by edits and diagonal: edits * edits values before */
	int32_t furthest[2 * MOST_EDITS + 3];
};

#define FURTHEST(piece, diagonal) (piece)->furthest[(diagonal) + (int32_t)MOST_EDITS + 1]

static int32_t *trace_of(const struct piece *piece, int32_t edits, int32_t diagonal)
{
	return &piece->trace[edits * edits + diagonal + edits];
}

/* How far down the diagonal both are the same. */
static int32_t follow(const struct piece *piece, int32_t x, int32_t diagonal)
{
	const uint32_t *a = piece->a + piece->a_from, *b = piece->b + piece->b_from;
	int32_t end = piece->a_count - piece->a_from, b_end = piece->b_count - piece->b_from + diagonal;

	end = end < b_end ? end : b_end;
	while (x < end && x >= diagonal && x >= 0 && a[x] == b[x - diagonal])
		x++;
	return x;
}

/* Whether an edit to this diagonal comes from the one above: an operator is inserted. */
static bool from_above(int32_t below, int32_t above, int32_t edits, int32_t diagonal)
{
	return diagonal == -edits || (diagonal != edits && below < above);
}

/* Notes what is the same on the way to x on the diagonal after so many edits. */
static void walk_back(struct piece *piece, int32_t edits, int32_t x, int32_t diagonal)
{
	for (; edits >= 0; edits--) {
		int32_t start = 0, before = 0;

		if (edits > 0) {
			int32_t below = diagonal > -edits ? *trace_of(piece, edits - 1, diagonal - 1) : 0;
			int32_t above = diagonal < edits ? *trace_of(piece, edits - 1, diagonal + 1) : 0;
			bool down = from_above(below, above, edits, diagonal);

			start = down ? above : below + 1;
			before = down ? diagonal + 1 : diagonal - 1;
		}
		while (x > start) {
			x--;
			piece->found[piece->b_from + x - diagonal] = (uint32_t)(piece->a_from + x);
		}
		if (edits > 0) {
			x = *trace_of(piece, edits - 1, before);
			diagonal = before;
		}
	}
}

/* One piece; true when it was the last. */
static bool compare_piece(struct piece *piece)
{
	int32_t a_left = piece->a_count - piece->a_from, b_left = piece->b_count - piece->b_from;
	int32_t best = 0, best_diagonal = 0;

	FURTHEST(piece, 1) = 0;
	for (int32_t edits = 0; edits <= (int32_t)MOST_EDITS; edits++) {
		for (int32_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
			int32_t below = FURTHEST(piece, diagonal - 1), above = FURTHEST(piece, diagonal + 1);
			int32_t x = from_above(below, above, edits, diagonal) ? above : below + 1;

			x = follow(piece, x, diagonal);
			FURTHEST(piece, diagonal) = *trace_of(piece, edits, diagonal) = x;
			if (x == a_left && x - diagonal == b_left) {
				walk_back(piece, edits, x, diagonal);
				return true;
			}
			if (edits == (int32_t)MOST_EDITS && x <= a_left && x - diagonal <= b_left &&
			    2 * x - diagonal > 2 * best - best_diagonal) {
				best = x;
				best_diagonal = diagonal;
			}
		}
	}
	walk_back(piece, MOST_EDITS, best, best_diagonal);
	piece->a_from += best;
	piece->b_from += best - best_diagonal;
	return best <= 0 && best <= best_diagonal; /* nothing was gained: the rest is new */
}

/* What the iteration's keys have in common with the line, by index in `order`. */
static int compare(struct dw_line *line, const uint32_t *a, const struct dw_line_variant *variant)
{
	size_t a_count = line->count, b_count = variant->count;
	struct piece piece = { .a = a, .b = variant->keys, .found = variant->positions };

	if (!line->trace)
		line->trace = malloc((MOST_EDITS + 1) * (MOST_EDITS + 1) * sizeof *line->trace);
	if (!line->trace)
		return -1;
	piece.trace = (int32_t *)line->trace;
	while (a_count && b_count && a[a_count - 1] == variant->keys[b_count - 1])
		piece.found[--b_count] = (uint32_t)--a_count;
	piece.a_count = (int32_t)a_count;
	piece.b_count = (int32_t)b_count;
	while (piece.a_from < piece.a_count && piece.b_from < piece.b_count &&
	       a[piece.a_from] == variant->keys[piece.b_from])
		piece.found[piece.b_from++] = (uint32_t)piece.a_from++;
	while (piece.a_from < piece.a_count && piece.b_from < piece.b_count)
		if (compare_piece(&piece))
			break;
	return 0;
}

/* ---- growing ------------------------------------------------------------------------- */

static int reserve(struct dw_line *line, size_t added)
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

/* Indices in the order to ids; what has none gets a new position before the next that
 * has one. `order` is the one before. */
static void insert(struct dw_line *line, const uint32_t *order, uint32_t order_count,
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

static int place(struct dw_line *line, struct dw_line_variant *variant)
{
	size_t wanted = 2 * ((size_t)line->count + 1);
	uint32_t *order, *keys;

	if (wanted > line->scratch_capacity) {
		uint32_t *scratch = realloc(line->scratch, 2 * wanted * sizeof *scratch);

		if (!scratch)
			return -1;
		line->scratch = scratch;
		line->scratch_capacity = 2 * wanted;
	}
	order = line->scratch;
	keys = order + line->count + 1;
	for (uint32_t i = 0; i < line->count; i++) {
		order[i] = line->order[i];
		keys[i] = line->keys[order[i]];
	}
	if (compare(line, keys, variant) || reserve(line, variant->count))
		return -1;
	insert(line, order, line->count, variant);
	return 0;
}

/* ---- from outside -------------------------------------------------------------------- */

const uint32_t *dw_line_place(struct dw_line *line, const struct dw_sequence_item *items,
                              size_t count)
{
	struct dw_line_variant **slot, *variant;
	uint64_t hash;

	if (line->last && is_same(line->last, items, count))
		return line->last->positions;
	if (!line->variants)
		line->variants = calloc(SLOTS, sizeof(struct dw_line_variant *));
	if (!line->variants)
		return NULL;
	line->changes += line->last != NULL;
	if (line->variant_count == SLOTS / 2 || line->variant_keys + count > MOST_VARIANT_KEYS)
		forget_variants(line);
	hash = hash_of(items, count);
	slot = find_slot(line, hash, items, count);
	if (!*slot) {
		variant = make_variant(items, count, hash);
		if (!variant || place(line, variant)) {
			free(variant);
			return NULL;
		}
		*slot = variant;
		line->variant_count++;
		line->variant_keys += count;
	}
	line->last = *slot;
	return line->last->positions;
}

void dw_line_reset(struct dw_line *line)
{
	forget_variants(line);
	free(line->variants);
	free(line->order);
	free(line->keys);
	free(line->trace);
	free(line->scratch);
	memset(line, 0, sizeof *line);
}
