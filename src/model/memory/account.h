/*
 * The second pass: a process's account of what is live, levels, peaks and the curve.
 */
#ifndef DW_MODEL_MEMORY_ACCOUNT_H
#define DW_MODEL_MEMORY_ACCOUNT_H

#include "base/live.h"
#include "model/memory/memory.h"
#include "model/memory/streams.h"

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
