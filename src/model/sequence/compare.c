/*
 * Finds the operators that two sequences have in common: Myers' O(ND) greedy comparison.
 *
 * Sequences that have little in common are compared in pieces. After MOST_EDITS edits a piece ends
 * at the best point reached, and the next piece begins there. So the cost is at most
 * length * MOST_EDITS. Of equally good points a piece prefers the one that skips more of `a`,
 * because the next operators of `b` may be further on in `a`.
 *
 * Called by positions.c.
 */
#include <stdlib.h>
#include <string.h>

#include "model/core/model_data.h"
#include "model/sequence/compare.h"

#define MOST_EDITS 256u /* of a piece */

struct piece {
	const uint32_t *a, *b;
	int32_t a_count, b_count;
	uint32_t *found;        /* by index in b: index in a */
	int32_t a_from, b_from; /* where the piece begins */
	int32_t *trace;         /* furthest x by edits and diagonal: edits * edits values before */
	int32_t furthest[2 * MOST_EDITS + 3];
};

#define FURTHEST(piece, diagonal) (piece)->furthest[(diagonal) + (int32_t)MOST_EDITS + 1]

static int32_t *compare_trace_at(const struct piece *piece, int32_t edits, int32_t diagonal)
{
	return &piece->trace[edits * edits + diagonal + edits];
}

/* Follows the diagonal from x while both sequences are equal; returns the x where they differ. */
static int32_t compare_follow(const struct piece *piece, int32_t x, int32_t diagonal)
{
	const uint32_t *a = piece->a + piece->a_from, *b = piece->b + piece->b_from;
	int32_t end = piece->a_count - piece->a_from, b_end = piece->b_count - piece->b_from + diagonal;

	end = end < b_end ? end : b_end;
	while (x < end && x >= diagonal && x >= 0 && a[x] == b[x - diagonal])
		x++;
	return x;
}

/* Whether the best edit to this diagonal comes from the diagonal above: an inserted operator. */
static bool compare_from_above(int32_t below, int32_t above, int32_t edits, int32_t diagonal)
{
	return diagonal == -edits || (diagonal != edits && below < above);
}

/* Goes back from x on the diagonal, reached after `edits` edits, and stores the equal operators on
 * the way in `found`. */
static void compare_walk_back(struct piece *piece, int32_t edits, int32_t x, int32_t diagonal)
{
	for (; edits >= 0; edits--) {
		int32_t start = 0, before = 0;

		if (edits > 0) {
			int32_t below = diagonal > -edits ? *compare_trace_at(piece, edits - 1, diagonal - 1) : 0;
			int32_t above = diagonal < edits ? *compare_trace_at(piece, edits - 1, diagonal + 1) : 0;
			bool down = compare_from_above(below, above, edits, diagonal);

			start = down ? above : below + 1;
			before = down ? diagonal + 1 : diagonal - 1;
		}
		while (x > start) {
			x--;
			piece->found[piece->b_from + x - diagonal] = (uint32_t)(piece->a_from + x);
		}
		if (edits > 0) {
			x = *compare_trace_at(piece, edits - 1, before);
			diagonal = before;
		}
	}
}

/* Compares one piece. True if it was the last. */
static bool compare_one_piece(struct piece *piece)
{
	int32_t a_left = piece->a_count - piece->a_from, b_left = piece->b_count - piece->b_from;
	int32_t best = 0, best_diagonal = 0;

	FURTHEST(piece, 1) = 0;
	for (int32_t edits = 0; edits <= (int32_t)MOST_EDITS; edits++) {
		for (int32_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
			int32_t below = FURTHEST(piece, diagonal - 1), above = FURTHEST(piece, diagonal + 1);
			int32_t x = compare_from_above(below, above, edits, diagonal) ? above : below + 1;

			x = compare_follow(piece, x, diagonal);
			FURTHEST(piece, diagonal) = *compare_trace_at(piece, edits, diagonal) = x;
			if (x == a_left && x - diagonal == b_left) {
				compare_walk_back(piece, edits, x, diagonal);
				return true;
			}
			if (edits == (int32_t)MOST_EDITS && x <= a_left && x - diagonal <= b_left &&
			    2 * x - diagonal >= 2 * best - best_diagonal) {
				best = x;
				best_diagonal = diagonal;
			}
		}
	}
	compare_walk_back(piece, MOST_EDITS, best, best_diagonal);
	piece->a_from += best;
	piece->b_from += best - best_diagonal;
	return best <= 0 && best <= best_diagonal; /* no progress: the rest of b is new */
}

bool dw_sequence_compare(int32_t **trace, const uint32_t *a, size_t a_count, const uint32_t *b,
                         size_t b_count, uint32_t *found)
{
	struct piece piece = { .a = a, .b = b, .found = found };

	if (!*trace)
		*trace = malloc((MOST_EDITS + 1) * (MOST_EDITS + 1) * sizeof **trace);
	if (!*trace)
		return false;
	piece.trace = *trace;
	for (size_t i = 0; i < b_count; i++)
		found[i] = DW_NO_INDEX;
	while (a_count && b_count && a[a_count - 1] == b[b_count - 1])
		found[--b_count] = (uint32_t)--a_count;
	piece.a_count = (int32_t)a_count;
	piece.b_count = (int32_t)b_count;
	while (piece.a_from < piece.a_count && piece.b_from < piece.b_count && a[piece.a_from] == b[piece.b_from])
		found[piece.b_from++] = (uint32_t)piece.a_from++;
	while (piece.a_from < piece.a_count && piece.b_from < piece.b_count)
		if (compare_one_piece(&piece))
			break;
	return true;
}
