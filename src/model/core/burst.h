/*
 * Bursts: runs of begins and ends that are read without a branch on which of both a record is.
 *
 * A processor cannot predict that branch in many programs, and a wrong prediction costs more than all other work on a record. So a
 * burst is handled in two passes. dw_burst_read() keeps a stack of open ranges without such a branch, and lists the ranges that end.
 * Then each part of the walk (part.h) adds up the list.
 *
 * All ranges of a burst are of one kind, and it has no other records. It stops before an end of a range that began before the burst.
 * Ranges that are open when it stops are begun for the walk then, as if they had been read one by one.
 */
#pragma once

#include "model/core/pass.h"

#define DW_BURST_DEEPEST 64u
#define DW_BURST_ENDED 256u

struct dw_burst_range {
	uint64_t duration, self, depth; /* in the burst: 1 is outermost */
	uint32_t row, around;           /* `around`: how many ranges of the same row are open around it */
};

struct dw_burst_frame {
	uint64_t start, child, id;
	uint64_t unused; /* makes it 32 bytes, so that an index is a shift */
};

struct dw_burst {
	const struct dw_pass *pass; /* as it was before the burst */
	uint32_t kind, row;         /* `kind`: of all its ranges; `row`: of the first one */
	const bool *plain;          /* by row: whether the burst may have such ranges; NULL: it may have all */
	uint32_t *calls;            /* by row: how many ranges are open */
	uint64_t until;             /* it stops before a record of this time or later */
	uint64_t from, ticks;       /* the time before the burst, and of its last record */
	uint64_t ended;             /* how many ranges have ended */
	uint32_t depth, count;
	bool done;
	struct dw_burst_frame stack[DW_BURST_DEEPEST + 2]; /* [0]: `child` is the time in ranges of the burst that have ended */
	struct dw_burst_range ranges[DW_BURST_ENDED];      /* `count` of them, in the order of their ends */
};

/* False: no burst begins here. */
DW_INLINE bool dw_burst_begin(struct dw_burst *burst, const struct dw_pass *pass, const uint32_t *at, const uint32_t *limit, uint64_t ticks)
{
	burst->pass = pass;
	burst->plain = NULL;
	burst->until = UINT64_MAX;
	burst->from = burst->ticks = ticks;
	burst->ended = 0;
	burst->depth = 0;
	burst->stack[0] = (struct dw_burst_frame){ .start = 0 };
	if (limit - at < DW_BURST_WORTH || *at & DW_WORD_END || pass->folded || pass->depth + DW_BURST_DEEPEST + 1 >= pass->highest)
		return false;
	burst->kind = dw_walk_op(&pass->walk, at[1]).kind;
	burst->row = dw_walk_op(&pass->walk, at[1]).row;
	return true;
}

/* Reads until a record is not of the burst, or the list is full. Returns the next word. */
const uint32_t *dw_burst_read(struct dw_burst *burst, const uint32_t *at, const uint32_t *limit);

/* Adds the time of the ranges that ended to the range of the same kind that was open around the burst. */
DW_INLINE void dw_burst_end(const struct dw_burst *burst, struct dw_pass *pass, size_t frame_bytes)
{
	for (uint32_t i = 1; i <= burst->depth; i++)
		burst->calls[burst->pass->walk.ops[burst->stack[i].id].row]--;
	dw_pass_at(pass, frame_bytes, pass->top[burst->kind])->child += burst->stack[0].child;
	pass->walk.time.records += 2 * burst->ended + burst->depth;
}
