/*
 * Bursts: begins and ends of which a walk needs no more than what ranges have ended.
 *
 * Whether the next record is a begin or an end is the processor's guess, wrong for half of the records of many programs, and a
 * wrong guess costs more than the rest of the work. So a burst is read twice: dw_burst_read() follows the open ranges without
 * a branch that depends on it, and lists those that end; then each part of the walk (part.h) adds these up.
 *
 * A burst is of one kind of ranges, without other records. It ends where a range would end that began before it. What is still
 * open at its end begins then for the walk, as if it had been read alone.
 */
#pragma once

#include "model/core/pass.h"

#define DW_BURST_DEEPEST 64u
#define DW_BURST_ENDED 256u

struct dw_burst_range {
	uint64_t duration, self, depth; /* in the burst: 1 is outermost */
	uint32_t row, around;           /* how many of the row are open around it */
};

struct dw_burst_frame {
	uint64_t start, child, id;
	uint64_t unused; /* to 32 bytes */
};

struct dw_burst {
	const struct dw_pass *pass; /* without the ranges of the burst */
	uint32_t kind, row;         /* of its ranges; of the first one */
	const bool *plain;          /* by row: only these are read; NULL: all */
	uint32_t *calls;            /* by row: how many are open */
	uint64_t until;             /* what begins or ends from then on is not read */
	uint64_t from, ticks;       /* before the burst; of the last record */
	uint64_t ended;             /* ranges */
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

/* What has ended was in the innermost range of its kind, and counts in time. */
DW_INLINE void dw_burst_end(const struct dw_burst *burst, struct dw_pass *pass, size_t frame_bytes)
{
	for (uint32_t i = 1; i <= burst->depth; i++)
		burst->calls[burst->pass->walk.ops[burst->stack[i].id].row]--;
	dw_pass_at(pass, frame_bytes, pass->top[burst->kind])->child += burst->stack[0].child;
	pass->walk.time.records += 2 * burst->ended + burst->depth;
}
