/*
 * What a plain chunk does to the stack of open ranges, without a visit of each record.
 *
 * A chunk is plain if its records are begins, and ends of the innermost range, and if it follows the
 * chunk before it without a gap, in the same thread and later. The depth at its end, and the least
 * and the largest depth in it, follow from one bit of each record. This loop has no branch that
 * depends on the records, so the processor need not guess whether a begin or an end comes next.
 *
 * Two chunks are read in turns: where the next record is depends on the length of the one before,
 * and while the processor waits for one chunk it goes on with the other.
 */
#pragma once

#include "read/source.h"

struct dw_plain_chunk {
	int32_t net;         /* the depth at its end, from that at its begin */
	int32_t least, most; /* of the depths in it, from that at its begin */
	bool walked;         /* for the caller; false */
};

/* Fills in an item for each chunk from `from` to before `to`. False: one of them is not plain. */
bool dw_plain_chunks(const struct dw_source_file *file, const struct dw_source_stream *stream, size_t from, size_t to,
                     struct dw_plain_chunk *items);
