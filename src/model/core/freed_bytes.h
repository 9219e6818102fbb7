/*
 * The bytes that each allocation adds and each free subtracts, in the order of the records.
 *
 * A FREE record has only an address. Passes that add up memory stream by stream look up its size
 * here.
 */
#ifndef DW_MODEL_CORE_FREED_BYTES_H
#define DW_MODEL_CORE_FREED_BYTES_H

#include "model/core/model_data.h"

struct dw_freed_bytes {
	/* All allocations and frees, in scope or not, in the order of the streams. */
	struct dw_freed_change { uint64_t address; int64_t bytes; } *changes;
	size_t count, at;
	bool any; /* the pass has found an allocation or free in scope */
};

bool dw_freed_bytes_init(struct dw_freed_bytes *freed, struct dw_model *model, bool wanted);
/* Returns the bytes of the next allocation or free of the walk, negative for a free. 0 if memory
 * was not requested, and for records that were added to a live stream since. */
static inline int64_t dw_freed_bytes_next(struct dw_freed_bytes *freed, uint64_t address)
{
	bool known = freed->at < freed->count && freed->changes[freed->at].address == address;

	return known ? freed->changes[freed->at++].bytes : 0;
}
void dw_freed_bytes_reset(struct dw_freed_bytes *freed);

#endif
