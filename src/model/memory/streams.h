/*
 * A stream's allocations and frees in order, chunk by chunk, each with the path of ranges
 * that it happened in.
 */
#ifndef DW_MODEL_MEMORY_STREAMS_H
#define DW_MODEL_MEMORY_STREAMS_H

#include "base/map.h"
#include "model/core/pass.h"

/* ---- paths: operators and named ranges, one in another -------------------------------------- */

#define DW_MEMORY_DEEPEST 256u     /* ranges beyond count as the one that they lie in */
#define DW_MEMORY_PATHS (1u << 20) /* so do those of paths beyond */

struct dw_memory_path {
	uint32_t parent; /* index; the root, 0, has none */
	uint32_t row;    /* DW_NO_INDEX: of the root */
	uint32_t owner;  /* row of the innermost operator, else of the innermost range */
	uint32_t depth;
	bool in_operator; /* it is one or lies in one */
};

struct dw_memory_paths {
	struct dw_memory_path *items;
	size_t count, capacity;
	struct dw_map by_parent; /* and row; all but the root */
};

/* ---- a stream -------------------------------------------------------------------------------- */

enum dw_memory_event_type {
	DW_MEMORY_ALLOC,
	DW_MEMORY_FREE,
	DW_MEMORY_SAID, /* of what kind a live block is: for the first pass */
};

/* What a range's operators work on; by row, dw_memory_roles(). */
enum dw_memory_role {
	DW_MEMORY_IN_NOTHING,
	DW_MEMORY_IN_FORWARD,
	DW_MEMORY_IN_BACKWARD,
	DW_MEMORY_IN_OPTIMIZER,
	DW_MEMORY_IN_DATA,
};

struct dw_memory_event {
	uint64_t ticks, address, bytes;
	uint32_t symbol; /* merged */
	uint32_t path;   /* of the second pass */
	uint32_t span;   /* of the first: the range whose end decides; 0: none. Holds it. */
	uint8_t type, role;
};

struct dw_memory_frame {
	struct dw_frame frame;
	uint32_t row;  /* DW_NO_INDEX: it owns nothing */
	uint32_t path; /* DW_NO_INDEX: not looked up yet */
	uint32_t span; /* 0: nothing was allocated in it yet */
	bool is_operator;
	uint8_t role;
};

struct dw_memory_kind_pass;

struct dw_memory_stream {
	struct dw_pass pass; /* first */
	struct dw_memory_kind_pass *kind_pass; /* NULL: the second pass */
	struct dw_memory_paths *paths;
	const uint32_t *symbol_by_id;
	struct dw_frames frames;        /* struct dw_memory_frame */
	size_t chunk;                   /* the next one */
	struct dw_memory_event *events; /* of the chunk before it */
	size_t at, count, capacity;
	bool failed;
};

/* Goes on until there is an event at `at`; false at the end or when out of memory. */
bool dw_memory_stream_fill(struct dw_memory_stream *stream);
void dw_memory_stream_reset(struct dw_memory_stream *stream);
void dw_memory_paths_reset(struct dw_memory_paths *paths);

#endif
