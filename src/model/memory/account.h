/*
 * The second pass over a process's events: it sums up levels, peaks and the curve of memory.
 */
#pragma once

#include "base/live.h"
#include "model/memory/memory.h"
#include "model/memory/memory_events.h"

/* A level, and its values at the device's last peak and at its last failure. `at_peak` is valid if `epoch` is that of the
 * device; otherwise `now` has not changed since the peak. So a new peak only increments the
 * device's epoch. */
struct dw_memory_level {
	uint64_t now, at_peak, epoch;
	uint64_t at_failure, failures; /* in the same way */
};

#define DW_MEMORY_MARKS 3u /* steps at whose begin the level is kept: growth is the difference between them */

struct dw_memory_holder { /* a path and a call stack on a device */
	struct dw_memory_level level, variance;
	struct dw_memory_use use;
	uint64_t marked[DW_MEMORY_MARKS]; /* the level at each mark */
	uint64_t samples;                 /* of malloc: recorded blocks in scope */
	uint64_t changed_variance;        /* of blocks that make the difference between the first mark and the last one */
	uint32_t path, device;
	uint32_t stack, thread;           /* of malloc: STACK, and who allocated; else 0 */
	uint32_t layer;                   /* row; DW_NO_INDEX: none, or no allocation failed */
};

struct dw_memory_bucket {
	uint64_t total, ticks, kinds[DW_MEMORY_KIND_COUNT];
	bool used;
};

struct dw_memory_device {
	const char *name;
	uint64_t now, peak, peak_ticks, epoch;
	uint64_t since; /* when the level last changed */
	const struct dw_interval *interval;
	struct dw_memory_level levels[DW_MEMORY_KIND_COUNT];
	struct dw_memory_level reserved; /* by the allocator; 0: unknown */
	uint64_t failures;               /* allocations that failed in scope, and 1 if the process was killed */
	struct dw_memory_event failure;  /* the last; of a killed process it has no symbol */
	uint64_t most_reserved;
	struct dw_memory_use kinds[DW_MEMORY_KIND_COUNT];
	bool sampled;           /* its blocks are those of malloc */
	struct dw_memory_bucket *buckets; /* DW_MEMORY_POINTS - 1: the peak may add a point */
};

/* A live block, indexed by its number in `live`. */
struct dw_memory_block {
	uint64_t bytes, variance;
	uint32_t holder, kind, count;
	uint32_t mark; /* how many marks had passed */
};

struct dw_memory_in_step {
	uint64_t start_ticks, end_ticks;
	struct dw_memory_of_step result;
};

#define DW_MEMORY_DEVICES 64u /* the last one is "other devices" */

struct dw_memory_account {
	struct dw_model *model;
	uint32_t process;
	struct dw_call_paths paths; /* by row, of operators and of ranges that the program names; a path
	                             * without a node counts as its parent. 0: no range is open */
	struct dw_memory_device *devices;
	size_t device_count, device_capacity;
	uint8_t *device_by_symbol, *kind_by_symbol; /* index + 1; 0: not looked up yet */
	struct dw_memory_holder *holders;
	size_t holder_count, holder_capacity;
	struct dw_map by_path; /* holders by path and device */
	struct dw_live live;
	struct dw_memory_block *blocks;
	size_t block_capacity;
	const uint8_t *kinds; /* from the first pass, by allocation; owned by the caller */
	size_t kind_count, allocation;
	const struct dw_interval *interval;
	uint64_t from_ticks, to_ticks; /* the time that the curve shows */
	uint64_t bucket_ticks;
	struct dw_memory_in_step *steps; /* in order of time; those before step_at have ended */
	size_t step_count, step_capacity, step_at;
	uint64_t marks[DW_MEMORY_MARKS];
	uint32_t mark_count, mark; /* 0: the process has too few steps; how many have passed */
	size_t growth_steps;       /* between the first mark and the last one */
	uint64_t unknown_frees, doubled;
	bool fails;  /* an allocation failed, or the process was killed */
	bool killed; /* by the kernel, because memory ran out */
	bool failed;
};

/* False when out of memory, or when nothing of the process is in scope. */
bool dw_memory_account_init(struct dw_memory_account *account, struct dw_model *model, uint32_t process);
/* The kind that a symbol names. */
uint32_t dw_memory_kind_of(struct dw_memory_account *account, uint32_t symbol);
/* Adds an event. The caller adds events in order of time. */
void dw_memory_account_put(struct dw_memory_account *account, const struct dw_memory_event *event);
/* Ends all levels at the end of the scope and copies their values to the uses. */
void dw_memory_account_end(struct dw_memory_account *account);
void dw_memory_account_reset(struct dw_memory_account *account);

/* The row of the innermost operator of a path, or of the innermost range if there is no operator. */
uint32_t dw_memory_owner_row(const struct dw_memory_account *account, uint32_t path);
/* The step of the process at that time; DW_NO_INDEX: none. */
uint32_t dw_memory_step_at(const struct dw_source *source, uint32_t process, uint64_t ticks);

/* failure.c: whether the kernel killed the process because memory ran out. */
bool dw_memory_was_killed(const struct dw_source *source, uint32_t process);
/* The failure of a device. False: out of memory. */
bool dw_memory_make_failure(struct dw_memory_pool *pool, const struct dw_memory_account *account, uint32_t device);

/* heap.c: the places of the code that allocated the sampled blocks of a device. False: out of memory. */
bool dw_memory_make_places(struct dw_memory_pool *pool, const struct dw_memory_account *account, uint32_t device);
