/*
 * Memory from inside: what memory.c and its two helpers share.
 *
 *   memory_walk.c    a stream's allocations and frees in order, chunk by chunk, each
 *                    with the path of ranges that it happened in
 *   memory_count.c   a process's account: what is live, levels, peaks, the curve
 *   memory.c         streams merged, accounts made into the product
 */
#ifndef DW_MODEL_MEMORY_INSIDE_H
#define DW_MODEL_MEMORY_INSIDE_H

#include "model/memory.h"
#include "model/walk.h"

/* ---- paths: operators and named ranges, one in another (memory_walk.c) --------------------- */

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
	uint32_t *slots; /* index + 1 */
	size_t mask;
};

/* ---- a stream (memory_walk.c) -------------------------------------------------------------- */

struct dw_memory_event {
	uint64_t ticks, address, bytes;
	uint32_t symbol; /* merged */
	uint32_t path;
	bool is_free;
};

struct dw_memory_frame {
	uint32_t row;  /* DW_NO_INDEX: it owns nothing */
	uint32_t path; /* DW_NO_INDEX: not looked up yet */
	bool is_operator;
};

struct dw_memory_stream {
	struct dw_walk walk; /* first: dw_walk's helpers take it for the context */
	struct dw_memory_paths *paths;
	const uint32_t *symbol_by_id;
	struct dw_memory_frame *frames;
	size_t depth, frame_capacity;
	uint64_t over;                  /* frames beyond DW_MOST_DEPTH */
	size_t chunk;                   /* the next one */
	struct dw_memory_event *events; /* of the chunk before it */
	size_t at, count, capacity;
	bool failed;
};

/* Goes on until there is an event at `at`; false at the end or when out of memory. */
bool dw_memory_stream_fill(struct dw_memory_stream *stream);
void dw_memory_stream_reset(struct dw_memory_stream *stream);
void dw_memory_paths_reset(struct dw_memory_paths *paths);

/* ---- a process (memory_count.c) ------------------------------------------------------------ */

/* A level and what it was at the device's last peak: looked up when the level changes next,
 * so that a peak costs nothing but a number. */
struct dw_memory_level {
	uint64_t now, at_peak, epoch;
};

struct dw_memory_holder { /* a path on a device */
	struct dw_memory_level level;
	struct dw_memory_use use;
	uint32_t path, device;
};

struct dw_memory_bucket {
	uint64_t total, ticks;
	uint64_t kinds[DW_MEMORY_KIND_COUNT];
	bool used;
};

struct dw_memory_device {
	const char *name;
	uint64_t now, peak, peak_ticks, epoch;
	uint64_t since; /* when the level became what it is */
	const struct dw_interval *interval;
	struct dw_memory_level levels[DW_MEMORY_KIND_COUNT];
	struct dw_memory_use kinds[DW_MEMORY_KIND_COUNT];
	struct dw_memory_bucket *buckets; /* DW_MEMORY_POINTS - 1: the peak itself is a point */
};

struct dw_memory_live {
	uint64_t address, bytes;
	uint32_t holder; /* + 1; 0: an empty slot */
	uint32_t kind;
};

#define DW_MEMORY_DEVICES 64u /* the last one stands for all others */

struct dw_memory_account {
	struct dw_model *model;
	uint32_t process;
	struct dw_memory_paths paths;
	struct dw_memory_device *devices;
	size_t device_count, device_capacity;
	uint8_t *device_by_symbol, *kind_by_symbol; /* + 1; 0: not known yet */
	struct dw_memory_holder *holders;
	size_t holder_count, holder_capacity;
	uint32_t *holder_slots; /* index + 1 */
	size_t holder_mask;
	struct dw_memory_live *live;
	size_t live_mask, live_count;
	const struct dw_interval *interval;
	uint64_t from_ticks, to_ticks; /* what the curve shows */
	uint64_t bucket_ticks;
	uint64_t unknown_frees, doubled;
	bool failed;
};

/* False when out of memory, or when nothing of the process is in scope. */
bool dw_memory_account_init(struct dw_memory_account *account, struct dw_model *model,
                            uint32_t process);
/* Events in order of time. */
void dw_memory_account_put(struct dw_memory_account *account, const struct dw_memory_event *event);
/* The levels last until the end; what lazy levels put off is done. */
void dw_memory_account_end(struct dw_memory_account *account);
void dw_memory_account_reset(struct dw_memory_account *account);

#endif
