/*
 * Finds repeated blocks in a sequence: consecutive repetitions of the same keys.
 *
 * For each position, finds the block that begins there and saves the most operators. Then chooses
 * blocks in order of the operators that they save, shortened so that they do not overlap. The
 * search takes at most length * MOST_LENGTH steps.
 */

#include "base/free.h"
#include "base/order.h"
#include "model/sequence/repeats.h"

#define MOST_LENGTH 4096u
#define LEAST_SAVED 2u /* operators that a block must save */

static uint32_t repeats_saved(const struct dw_sequence_block *block)
{
	return (block->repeats - 1) * block->length;
}

/* Blocks that save more come first; of equal ones the shorter one, then the earlier one. */
static int repeats_compare_saved(const void *left, const void *right)
{
	const struct dw_sequence_block *a = left, *b = right;

	if (repeats_saved(a) != repeats_saved(b))
		return repeats_saved(a) > repeats_saved(b) ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

DW_ORDER(repeats_compare_places, struct dw_sequence_block, DW_UP(first))

/* Finds the best block that begins at each position. If there is none, its `repeats` is 0. */
static void repeats_find(const uint64_t *keys, uint32_t count, struct dw_sequence_block *best)
{
	for (uint32_t length = 1; length <= MOST_LENGTH && length <= count / 2; length++) {
		uint32_t run = 0;

		for (uint32_t i = count - length; i-- > 0;) {
			run = keys[i] == keys[i + length] ? run + 1 : 0;
			if (run < length)
				continue;
			struct dw_sequence_block block = { i, length, 1 + run / length, NULL };

			if (!best[i].repeats || repeats_saved(&block) > repeats_saved(&best[i]))
				best[i] = block;
		}
	}
}

static bool repeats_is_free(const bool *taken, const struct dw_sequence_block *block)
{
	uint32_t length = block->length * block->repeats;

	return !memchr(taken + block->first, 1, length);
}

bool dw_sequence_fold(const uint64_t *keys, uint32_t count, struct dw_sequence_block *blocks, uint32_t *block_count)
{
	struct dw_sequence_block *best = calloc((size_t)count + 1, sizeof *best);
	bool *taken = calloc((size_t)count + 1, sizeof *taken);
	uint32_t candidates = 0;

	*block_count = 0;
	if (best && taken) {
		repeats_find(keys, count, best);
		for (uint32_t i = 0; i < count; i++)
			if (best[i].repeats && repeats_saved(&best[i]) >= LEAST_SAVED)
				best[candidates++] = best[i];
		qsort(best, candidates, sizeof *best, repeats_compare_saved);
	}
	for (uint32_t i = 0; taken && i < candidates; i++) {
		/* Repetitions are removed until the block overlaps no chosen block. */
		while (best[i].repeats > 1 && !repeats_is_free(taken, &best[i]))
			best[i].repeats--;
		if (repeats_saved(&best[i]) < LEAST_SAVED)
			continue;
		memset(taken + best[i].first, true, best[i].length * best[i].repeats);
		blocks[(*block_count)++] = best[i];
	}
	qsort(blocks, *block_count, sizeof *blocks, repeats_compare_places);
	bool whole = best && taken;
	DW_FREE(best, taken);
	return whole;
}
