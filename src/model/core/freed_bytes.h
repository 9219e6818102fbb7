/*
 * How many bytes each allocation takes and each free gives back, in the order of the records.
 *
 * A FREE record has an address only. For walks that add up memory stream after stream.
 */
#ifndef DW_MODEL_CORE_FREED_BYTES_H
#define DW_MODEL_CORE_FREED_BYTES_H

#include "model/core/model_data.h"

struct dw_freed_bytes {
	/* Of all allocations and frees in the order in which streams have them, in scope or not. */
	struct dw_freed_change { uint64_t address; int64_t bytes; } *changes;
	size_t count, at;
	bool any; /* the walk met one in scope */
};

bool dw_freed_bytes_init(struct dw_freed_bytes *freed, struct dw_model *model, bool wanted);
/* Of the next allocation or free that the walk meets; 0 when memory is not wanted, and of
 * what a live stream has got since. */
static inline int64_t dw_freed_bytes_next(struct dw_freed_bytes *freed, uint64_t address)
{
	bool known = freed->at < freed->count && freed->changes[freed->at].address == address;

	return known ? freed->changes[freed->at++].bytes : 0;
}
void dw_freed_bytes_reset(struct dw_freed_bytes *freed);

#endif
