/*
 * Memory in use after each allocation and free, by device.
 *
 * Memory is often freed by another thread than the one that allocated it, so computing a sum needs
 * all streams in the order of time: changes are collected, and sorted and replayed after all
 * streams were read. A free does not contain the number of bytes; a table of live blocks provides
 * it. A free of memory that was allocated before the recording has 0 bytes and changes no sum.
 */
#pragma once

#include "model/model.h"

struct dw_memory_total {
	uint64_t ns, address;
	int64_t bytes;  /* negative: freed */
	int64_t total;  /* of the device in this process after the change */
	uint32_t symbol, track, process;
	uint32_t device;         /* a small number for each device */
	const char *device_name;
	int device_type, device_number; /* numbers of PyTorch; number -1: none */
	bool freed;              /* with 0 bytes: its allocation was not recorded */
};

struct dw_memory_change;

/* Initialized by zeroing. */
struct dw_memory_totals {
	struct dw_memory_change *changes;
	size_t count, capacity;
};

/* Adds an ALLOC or a FREE. Returns false if out of memory. */
bool dw_memory_totals_add(struct dw_memory_totals *totals, const struct dw_event *event, uint32_t track);
/* Calls `put` for each change in order of time, until it returns false. Returns false if out of
 * memory. */
bool dw_memory_totals_replay(struct dw_memory_totals *totals, const struct dw_source *source,
                             const struct dw_symbol *symbols, size_t symbol_count,
                             bool (*put)(void *to, const struct dw_memory_total *total), void *to);
void dw_memory_totals_reset(struct dw_memory_totals *totals);
