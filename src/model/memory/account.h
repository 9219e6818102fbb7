/*
 * Memory from inside: what memory.c and its two helpers share.
 *
 *   memory_walk.c    a stream's allocations and frees in order, chunk by chunk, each
 *                    with the path of ranges that it happened in
 *   memory_kind.c    the first pass: what blocks are for, where the program does not say
 *   memory_count.c   a process's account: what is live, levels, peaks, the curve
 *   memory.c         streams merged, accounts made into the product
 */
#ifndef DW_MODEL_MEMORY_ACCOUNT_H
#define DW_MODEL_MEMORY_ACCOUNT_H

#include "model/memory/memory.h"
#include "base/live.h"
#include "model/core/pass.h"
#include "model/core/share_names.h"

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
	struct dw_map by_parent; /* and row; all but the root */
};

/* ---- a stream (memory_walk.c) -------------------------------------------------------------- */

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

struct dw_memory_judge;

struct dw_memory_stream {
	struct dw_pass pass; /* first */
	struct dw_memory_judge *judge; /* NULL: the second pass */
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

/* ---- the first pass (memory_kind.c) -------------------------------------------------------- */

/* A range that was open when something was allocated; given back when it has ended and all
 * that was allocated in it is freed. */
struct dw_memory_span {
	uint64_t end_ticks; /* UINT64_MAX: open */
	uint32_t refs;
	uint32_t next_free;
};

struct dw_memory_backward {
	uint64_t ticks;
	uint32_t span;
};

struct dw_memory_step {
	uint64_t start, end;
};

struct dw_memory_account;

/* A live block whose kind is not decided yet, by its number in `live`. */
struct dw_memory_pending {
	uint32_t allocation; /* index of its kind in `kinds` */
	uint32_t span;       /* 0: nothing decides any more */
	uint32_t stays;      /* what it is if it outlives the span */
};

struct dw_memory_judge {
	struct dw_memory_account *account;
	const uint8_t *roles;         /* by row; the caller's */
	struct dw_memory_span *spans; /* 0 is none */
	size_t span_count, span_capacity;
	uint32_t free_span;
	struct dw_memory_backward *backwards; /* in order of time; those before `at` have begun */
	size_t backward_count, backward_capacity, backward_at;
	struct dw_memory_step *steps; /* in order of time; those before `at` have begun */
	size_t step_count, step_capacity, step_at;
	uint64_t step_reach;          /* when the last of those ends */
	struct dw_live live;
	struct dw_memory_pending *pending;
	size_t pending_capacity;
	uint8_t *kinds;               /* the answer, by allocation in order of time */
	size_t kind_count, kind_capacity;
	bool operators;               /* the process has any */
	bool failed;
};

/* By row, malloc'd; NULL when out of memory. */
uint8_t *dw_memory_roles(const struct dw_model *model);
void dw_memory_judge_init(struct dw_memory_judge *judge, struct dw_memory_account *account,
                          const uint8_t *roles);
/* For the walk: a range that decides, 0 when out of memory; it has ended. */
uint32_t dw_memory_span_open(struct dw_memory_judge *judge, uint64_t ticks, bool backward);
void dw_memory_span_close(struct dw_memory_judge *judge, uint32_t index, uint64_t ticks);
/* Events in order of time. */
void dw_memory_judge_put(struct dw_memory_judge *judge, struct dw_memory_event *event);
void dw_memory_judge_end(struct dw_memory_judge *judge);
void dw_memory_judge_reset(struct dw_memory_judge *judge);

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

/* A live block, by its number in `live`. */
struct dw_memory_block {
	uint64_t bytes;
	uint32_t holder, kind;
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
	struct dw_map by_path; /* holders by path and device */
	struct dw_live live;
	struct dw_memory_block *blocks;
	size_t block_capacity;
	const uint8_t *kinds; /* of the first pass, by allocation; the caller's */
	size_t kind_count, allocation;
	const struct dw_interval *interval;
	uint64_t from_ticks, to_ticks; /* what the curve shows */
	uint64_t bucket_ticks;
	uint64_t unknown_frees, doubled;
	bool failed;
};

/* False when out of memory, or when nothing of the process is in scope. */
bool dw_memory_account_init(struct dw_memory_account *account, struct dw_model *model,
                            uint32_t process);
/* The kind that a symbol names. */
uint32_t dw_memory_kind_of(struct dw_memory_account *account, uint32_t symbol);
/* Events in order of time. */
void dw_memory_account_put(struct dw_memory_account *account, const struct dw_memory_event *event);
/* The levels last until the end; what lazy levels put off is done. */
void dw_memory_account_end(struct dw_memory_account *account);
void dw_memory_account_reset(struct dw_memory_account *account);

#endif
