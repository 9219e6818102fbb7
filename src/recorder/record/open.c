/*
 * The open ranges of a thread, for the few functions that must know them.
 *
 * Probes keep no list of open ranges, because it would make each range slower. So the records that
 * the thread has written since the last call are decoded, and, before its chunk is replaced, the rest
 * of it. Ranges that began in an earlier chunk than that of the first call are unknown.
 */
#include "record/open_ranges.h"
#include "record/thread.h"

#include "format/record_length.h"

#define OPEN_BY_NAME 0x80000000u /* a plain END does not end this range */

/* Removes the n-th open range, counted from the innermost. */
static void open_remove(struct dw_open *open, uint32_t n)
{
	if (n >= open->depth)
		return;
	for (uint32_t at = open->depth - 1 - n; n && at + 1 < DW_OPEN_DEEPEST; n--, at++)
		open->ids[at] = open->ids[at + 1];
	open->depth--;
}

/* The position of an open range from the innermost one; `depth` if it is not open. `id` 0: of the
 * innermost range that a plain END ends. */
static uint32_t open_find(const struct dw_open *open, uint32_t id)
{
	for (uint32_t n = 0; n < open->depth; n++) {
		uint32_t at = open->depth - 1 - n, known = at < DW_OPEN_DEEPEST ? open->ids[at] : 0;

		if (id ? (known & DW_ID_MASK) == id : !(known & OPEN_BY_NAME))
			return n;
	}
	return open->depth;
}

static void open_read_extension(struct dw_open *open, uint32_t type)
{
	if (type == DW_EXT_BY_NAME && open->depth - 1 < DW_OPEN_DEEPEST)
		open->ids[open->depth - 1] |= OPEN_BY_NAME;
	else if (type == DW_EXT_SCOPE_BEGIN)
		open->scope = open->depth;
	else if (type == DW_EXT_SCOPE_END && open->depth > open->scope)
		open->depth = open->scope;
}

static void open_read(struct dw_open *open, const uint32_t *word)
{
	uint32_t kind = *word & DW_WORD_END ? DW_END_OF : word[1] >> DW_KIND_SHIFT;

	if (*word & DW_WORD_END) {
		open_remove(open, open_find(open, 0));
	} else if (kind == DW_BEGIN) {
		if (open->depth < DW_OPEN_DEEPEST)
			open->ids[open->depth] = word[1];
		open->depth++;
	} else if (kind == DW_END_OF) {
		open_remove(open, word[1] & DW_ID_MASK ? open_find(open, word[1] & DW_ID_MASK) : word[2]);
	} else if (kind == DW_EXT) {
		open_read_extension(open, (word[1] & DW_ID_MASK) >> DW_EXT_TYPE_SHIFT);
	} else if (kind == DW_THREAD || kind == DW_LOSS) {
		open->depth = open->scope = 0;
	}
}

void dw_open_follow(struct dw_slot *slot)
{
	struct dw_open *open = slot->open;
	const struct dw_chunk *chunk = slot->writers[0].chunk;
	const uint32_t *words = (const uint32_t *)(const void *)chunk, *at;
	const uint32_t *end = (const uint32_t *)(const void *)slot->main.cursor;

	if (!chunk)
		return;
	if (open->busy) {
		open->interrupted = true;
		return;
	}
	open->busy = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* A thread that was cancelled inside a record may have left the cursor outside of the chunk. */
	if (end > words + DW_BLOCK_BYTES / 4)
		end = words + DW_BLOCK_BYTES / 4;
	if (open->generation != slot->generation || chunk->number - open->number > 1)
		open->depth = open->scope = 0; /* chunks between the two were not decoded */
	if (open->generation != slot->generation || chunk->number != open->number)
		open->at_words = sizeof *chunk / 4;
	open->generation = slot->generation;
	open->number = chunk->number;
	for (at = words + open->at_words; at < end && *at; at += dw_record_words(at))
		open_read(open, at);
	open->at_words = (uint32_t)(at - words);
	if (open->interrupted)
		open->generation = 0; /* a signal handler has recorded meanwhile: the next call begins anew */
	open->interrupted = false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	open->busy = false;
}
