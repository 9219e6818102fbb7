/*
 * Reads the allocations and frees of a stream in order, chunk by chunk. Each allocation has the
 * path of ranges in which it happened, and in the first pass the range that decides its kind.
 */
#pragma once

#include <string.h>

#include "format/keys.h"
#include "model/core/call_paths.h"
#include "model/core/segments_plan.h"

/* ---- a stream -------------------------------------------------------------------------------- */

enum dw_memory_event_type {
	DW_MEMORY_ALLOC,
	DW_MEMORY_FREE,
	DW_MEMORY_RESERVED, /* a counter's value: what a device's allocator has */
	DW_MEMORY_FAILED,   /* an allocation of `bytes` failed */
	DW_MEMORY_SAID,     /* names the kind of a live block; only the first pass uses it */
};

/* The phase that a range marks; dw_memory_roles() finds it by row. */
enum dw_memory_role {
	DW_MEMORY_IN_NOTHING, DW_MEMORY_IN_FORWARD, DW_MEMORY_IN_BACKWARD, DW_MEMORY_IN_OPTIMIZER,
	DW_MEMORY_IN_DATA
};

struct dw_memory_event {
	uint64_t ticks, address, bytes;
	uint32_t symbol; /* index into the model's merged symbols */
	uint32_t path;   /* call path; set if the stream finds paths */
	uint32_t span;   /* set in the first: the range that decides; 0: none. A counted reference. */
	uint8_t type, role;
	/* Of malloc: DW_MEMORY_HEAP, whose addresses are apart. `bytes` and `count` are what the sampled block stands for. */
	uint8_t space;
	uint32_t stack, count, thread;
	uint32_t layer;    /* row of the innermost layer; DW_NO_INDEX: none. As the path. */
	uint64_t variance; /* of `bytes` */
	/* Of a failure, `address` is what the process used, and `variance` its limit. */
};

#define DW_MEMORY_HEAP 1u

struct dw_memory_frame {
	struct dw_frame frame;
	uint32_t id;   /* of its OP record */
	uint32_t row;  /* DW_NO_INDEX: it cannot own memory */
	uint32_t path; /* DW_NO_INDEX: not looked up yet */
	uint32_t layer; /* row of the innermost layer, or DW_NO_INDEX */
	uint32_t span; /* 0: none yet */
	bool is_operator;
	uint8_t role;
};

struct dw_memory_kind_pass;

struct dw_memory_stream {
	struct dw_pass pass; /* first */
	struct dw_memory_kind_pass *kind_pass; /* NULL in the second pass */
	bool finds_paths;               /* allocations get their call path */
	bool *fails;                    /* set if an allocation failed */
	struct dw_segment_plan *segments; /* whose begins are still to be set; in order of chunks */
	size_t segment_count;
	double heap_period;             /* mean bytes between points of sampling; 0: not known */
	bool overlaps;                  /* a range ended while a later one was open */
	struct dw_call_paths *paths;
	struct dw_frames frames;        /* struct dw_memory_frame */
	size_t chunk;                   /* the next one to read */
	struct dw_memory_event *events; /* of the last chunk read */
	size_t at, count, capacity;
	bool failed;
};

/* The length of the device's name in that of a counter of what the device's allocator has reserved; 0: it is
 * another counter. */
static inline size_t dw_memory_reserved_device(const struct dw_symbol *symbol)
{
	size_t length = strlen(symbol->name), tail = strlen(DW_COUNTER_RESERVED);

	return symbol->category == DWELL_CATEGORY_COUNTER && symbol->detail && strcmp(symbol->detail, "bytes") == 0 &&
	               length > tail && strcmp(symbol->name + length - tail, DW_COUNTER_RESERVED) == 0 ? length - tail : 0;
}

/* Reads chunks until there is an event at `at`. False at the end or when out of memory. */
bool dw_memory_stream_fill(struct dw_memory_stream *stream);
void dw_memory_stream_reset(struct dw_memory_stream *stream);
