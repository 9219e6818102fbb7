/*
 * The bytes that each allocation adds and each free subtracts, in the order of the records.
 *
 * A FREE record has only an address. Passes that add up memory stream by stream look up its size
 * here. The sizes are found once for all passes of a run. Memory of devices is told apart from the CPU's.
 */
#pragma once

#include "model/core/model_data.h"

/* All allocations and frees of a stream, in scope or not, in the order of the records. */
struct dw_freed_stream {
	struct dw_freed_change {
		uint64_t address;
		int64_t bytes : 62; /* negative for a free */
		uint64_t on_device : 1, is_free : 1;
	} *changes;
	size_t count, capacity;
};

/* The position of a pass that visits the streams in their order. */
struct dw_freed_bytes {
	const struct dw_freed_stream *streams, *end;
	size_t at;  /* in the first of `streams` */
	bool known; /* memory was requested, and the run has allocations */
	bool any;   /* the pass has found an allocation or free in scope */
};

/* What it points to belongs to the model. False: out of memory. */
bool dw_freed_bytes_init(struct dw_freed_bytes *freed, struct dw_model *model, bool wanted);
/* Returns the bytes of the next allocation or free of the walk, negative for a free, and whether a
 * device has them. 0 if memory was not requested, and for records that were added to a live stream since. */
static inline int64_t dw_freed_bytes_next_on(struct dw_freed_bytes *freed, uint64_t address, bool *on_device)
{
	const struct dw_freed_change *change;

	*on_device = false;
	while (freed->streams < freed->end && freed->at == freed->streams->count) {
		freed->streams++;
		freed->at = 0;
	}
	if (freed->streams == freed->end || freed->streams->changes[freed->at].address != address)
		return 0;
	change = &freed->streams->changes[freed->at++];
	*on_device = change->on_device;
	return change->bytes;
}
