/* The events of a period in little memory; see periods_events.h. */
#include "model/steps/periods_events.h"

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"

bool dw_period_add_path(struct dw_period_events *events, struct dw_period_path path)
{
	return DW_APPEND(&events->paths, &events->path_capacity, &events->path_count, path);
}

/* ---- late ends ----------------------------------------------------------------------------------- */

/* The place of the first late end that is not before `index`. */
static size_t events_find_late(const struct dw_period_events *events, size_t index)
{
	return DW_FIRST(i, 0, events->late_count, events->lates[i].index >= index);
}

uint64_t dw_period_late_length(const struct dw_period_events *events, size_t index, uint64_t start)
{
	size_t place = events_find_late(events, index);

	return place < events->late_count && events->lates[place].index == index ? events->lates[place].end - start : 0;
}

/* ---- blocks -------------------------------------------------------------------------------------- */

static uint8_t events_bits(uint64_t most)
{
	return most ? (uint8_t)(64 - __builtin_clzll(most)) : 0;
}

static void events_put(struct dw_period_block *block, size_t *at, unsigned bits, uint64_t value)
{
	unsigned shift = *at % 64;

	block->words[*at / 64] |= value << shift;
	if (shift + bits > 64)
		block->words[*at / 64 + 1] |= value >> (64 - shift);
	*at += bits;
}

static void events_put_path(struct dw_period_block *block, size_t i, uint32_t path)
{
	if (block->path_bytes == 1)
		((uint8_t *)block->paths)[i] = (uint8_t)path;
	else if (block->path_bytes == 2)
		((uint16_t *)block->paths)[i] = (uint16_t)path;
	else
		((uint32_t *)block->paths)[i] = path;
}

/* Makes a block of the tail. An event without a length is one that has not ended, or takes no time. False: out of memory. */
static bool events_pack(struct dw_period_events *events)
{
	struct dw_period_block *block = DW_GROW(&events->blocks, &events->block_capacity, events->block_count);
	uint64_t starts = 0, lengths = 0, paths = 0;
	size_t at = 0, words;

	if (!block)
		return false;
	block->base = events->tail[0].start;
	for (size_t i = 1; i < DW_PERIOD_BLOCK; i++)
		block->base = events->tail[i].start < block->base ? events->tail[i].start : block->base;
	for (size_t i = 0; i < DW_PERIOD_BLOCK; i++) {
		starts |= events->tail[i].start - block->base;
		lengths |= events->tail[i].end - events->tail[i].start;
		paths |= events->tail[i].path;
	}
	block->start_bits = events_bits(starts);
	block->length_bits = events_bits(lengths + (lengths < UINT64_MAX)); /* all bits are set in none of them */
	block->path_bytes = paths > UINT16_MAX ? 4 : paths > UINT8_MAX ? 2 : 1;
	words = dw_period_place(block, DW_PERIOD_BLOCK - 1) / 64 + 4;
	block->words = calloc(words + DW_PERIOD_BLOCK * block->path_bytes / sizeof *block->words, sizeof *block->words);
	if (!block->words)
		return false;
	block->paths = block->words + words;
	for (size_t i = 0; i < DW_PERIOD_BLOCK; i++) {
		uint64_t length = events->tail[i].end - events->tail[i].start;

		events_put(block, &at, block->start_bits, events->tail[i].start - block->base);
		events_put(block, &at, block->length_bits, length ? length : dw_period_ones(block->length_bits));
		events_put_path(block, i, events->tail[i].path);
	}
	events->block_count++;
	return true;
}

bool dw_period_add(struct dw_period_events *events, const struct dw_period_event *event)
{
	size_t place = events->count % DW_PERIOD_BLOCK;

	/* The tail of a full block is emptied when the next event comes. */
	if (!events->tail && !(events->tail = malloc(DW_PERIOD_BLOCK * sizeof *events->tail)))
		return false;
	if (!place && events->count && !events_pack(events))
		return false;
	events->tail[place] = *event;
	events->count++;
	return true;
}

bool dw_period_end_at(struct dw_period_events *events, size_t index, uint64_t end)
{
	struct dw_period_late late = { index, end };
	size_t place;

	if (index / DW_PERIOD_BLOCK == events->block_count) {
		events->tail[index % DW_PERIOD_BLOCK].end = end;
		return true;
	}
	place = events_find_late(events, index);
	if (!DW_APPEND(&events->lates, &events->late_capacity, &events->late_count, late))
		return false;
	memmove(events->lates + place + 1, events->lates + place, (events->late_count - 1 - place) * sizeof *events->lates);
	events->lates[place] = late;
	return true;
}

/* ---- all of them ----------------------------------------------------------------------------------- */

static void events_free(struct dw_period_events *events)
{
	for (size_t i = 0; i < events->block_count; i++)
		free(events->blocks[i].words);
	DW_FREE(events->blocks, events->tail, events->lates);
}

/* Each old block is freed when it has been read. */
bool dw_period_keep(struct dw_period_events *events, const bool *counts)
{
	struct dw_period_events old = *events;
	bool good = true;

	*events = (struct dw_period_events){ .paths = old.paths, .path_count = old.path_count, .path_capacity = old.path_capacity };
	for (size_t i = 0; i < old.count && good; i++) {
		const struct dw_period_event event = dw_period_at(&old, i);

		if (counts[event.path])
			good = dw_period_add(events, &event);
		if ((i + 1) % DW_PERIOD_BLOCK == 0 && i / DW_PERIOD_BLOCK < old.block_count) {
			free(old.blocks[i / DW_PERIOD_BLOCK].words);
			old.blocks[i / DW_PERIOD_BLOCK].words = NULL;
		}
	}
	events_free(&old);
	return good;
}

void dw_period_events_reset(struct dw_period_events *events)
{
	events_free(events);
	free(events->paths);
	*events = (struct dw_period_events){ .count = 0 };
}
