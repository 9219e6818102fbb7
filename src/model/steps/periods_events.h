/*
 * The events in which a period is searched, in little memory: there may be millions.
 *
 * The newest are in a tail. When it is full, it becomes a block, in which times have as many bits as the largest one needs: about
 * eight bytes an event. A block has of each event a number in a table of paths, in whole bytes: it is read often. A range that is
 * still open when its block is made has no end there: the end goes into a list. Such ranges are few, since each holds a block's events.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most events of a sequence: 30 MB. */
#define DW_PERIOD_EVENTS (1u << 22)
/* Most paths. */
#define DW_PERIOD_PATHS (1u << 20)
#define DW_PERIOD_BLOCK 1024u /* events */

/* What an event is. */
struct dw_period_path {
	uint32_t key;
	uint32_t around; /* key of the range around it, which is one of those that were replaced; otherwise 0 */
};

struct dw_period_event {
	uint64_t start, end; /* ticks of the file */
	uint32_t path;
};

/* The times of an event follow one another: start, length. */
struct dw_period_block {
	uint64_t base;   /* the least start; starts are stored without it */
	uint64_t *words; /* malloc'ed, one more than needed; then the paths */
	void *paths;
	uint8_t start_bits, length_bits, path_bytes; /* path_bytes: 1, 2 or 4 */
};

/* The end of an event that its block does not have: there all bits of its length are set. */
struct dw_period_late {
	size_t index;
	uint64_t end;
};

/* In the order of their begins. All zero is empty. */
struct dw_period_events {
	size_t count;
	struct dw_period_block *blocks;
	struct dw_period_event *tail; /* DW_PERIOD_BLOCK of them */
	struct dw_period_late *lates; /* by index, ascending */
	struct dw_period_path *paths;
	size_t block_count, block_capacity, late_count, late_capacity, path_count, path_capacity;
};

/* False: out of memory. */
bool dw_period_add_path(struct dw_period_events *events, struct dw_period_path path);
/* Adds an event. False: out of memory. */
bool dw_period_add(struct dw_period_events *events, const struct dw_period_event *event);
/* Moves the end of an event that has no time yet. False: out of memory. */
bool dw_period_end_at(struct dw_period_events *events, size_t index, uint64_t end);
/* Drops the events whose path does not count. `counts` is by path. False: out of memory. */
bool dw_period_keep(struct dw_period_events *events, const bool *counts);
void dw_period_events_reset(struct dw_period_events *events);

/* Internal. */
uint64_t dw_period_late_length(const struct dw_period_events *events, size_t index, uint64_t start);

static inline uint64_t dw_period_ones(unsigned bits)
{
	return bits ? UINT64_MAX >> (64 - bits) : 0;
}

static inline uint64_t dw_period_field(const struct dw_period_block *block, size_t at, unsigned bits)
{
	const uint64_t *word = &block->words[at / 64];
	unsigned shift = at % 64;
	uint64_t value = *word >> shift;

	if (shift + bits > 64)
		value |= word[1] << (64 - shift);
	return value & dw_period_ones(bits);
}

static inline size_t dw_period_place(const struct dw_period_block *block, size_t index)
{
	return index % DW_PERIOD_BLOCK * ((size_t)block->start_bits + block->length_bits);
}

static inline uint32_t dw_period_path_at(const struct dw_period_events *events, size_t index)
{
	const struct dw_period_block *block = &events->blocks[index / DW_PERIOD_BLOCK];
	size_t at = index % DW_PERIOD_BLOCK;

	if (index / DW_PERIOD_BLOCK == events->block_count)
		return events->tail[at].path;
	return block->path_bytes == 1   ? ((const uint8_t *)block->paths)[at]
	       : block->path_bytes == 2 ? ((const uint16_t *)block->paths)[at]
	                                : ((const uint32_t *)block->paths)[at];
}

static inline uint32_t dw_period_key_at(const struct dw_period_events *events, size_t index)
{
	return events->paths[dw_period_path_at(events, index)].key;
}

static inline struct dw_period_event dw_period_at(const struct dw_period_events *events, size_t index)
{
	const struct dw_period_block *block = &events->blocks[index / DW_PERIOD_BLOCK];
	uint64_t start, length;
	size_t at;

	if (index / DW_PERIOD_BLOCK == events->block_count)
		return events->tail[index % DW_PERIOD_BLOCK];
	at = dw_period_place(block, index);
	start = block->base + dw_period_field(block, at, block->start_bits);
	length = dw_period_field(block, at + block->start_bits, block->length_bits);
	if (__builtin_expect(length == dw_period_ones(block->length_bits), 0))
		length = dw_period_late_length(events, index, start);
	return (struct dw_period_event){ start, start + length, dw_period_path_at(events, index) };
}
