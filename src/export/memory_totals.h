/*
 * Memory in use after each allocation and free, by device.
 *
 * Memory is often freed by another thread than the one that allocated it, so a sum needs all
 * streams in order of time: changes are collected, sorted and replayed when the streams are
 * read. A free does not say how many bytes it frees: a table of live blocks does. A free of
 * memory that was allocated before the recording has no bytes and changes no sum.
 */
#ifndef DW_EXPORT_MEMORY_TOTALS_H
#define DW_EXPORT_MEMORY_TOTALS_H

#include "model/model.h"

struct dw_memory_total {
	uint64_t ns, address;
	int64_t bytes;  /* negative: freed */
	int64_t total;  /* of the device in this process, from then on */
	uint32_t symbol, track, process;
	uint32_t device;         /* a small number for each device */
	const char *device_name;
	int device_type, device_number; /* as PyTorch counts them; number -1: none */
	bool freed;              /* with 0 bytes: its allocation was not seen */
};

struct dw_memory_change;

/* Zeroed there are none. */
struct dw_memory_totals {
	struct dw_memory_change *changes;
	size_t count, capacity;
};

/* An ALLOC or a FREE. False when out of memory. */
bool dw_memory_totals_add(struct dw_memory_totals *totals, const struct dw_event *event,
                          uint32_t track);
/* Calls `put` for each change in order of time, until it returns false. False when out of
 * memory. */
bool dw_memory_totals_replay(struct dw_memory_totals *totals, const struct dw_source *source,
                             const struct dw_symbol *symbols, size_t symbol_count,
                             bool (*put)(void *to, const struct dw_memory_total *total), void *to);
void dw_memory_totals_reset(struct dw_memory_totals *totals);

#endif
