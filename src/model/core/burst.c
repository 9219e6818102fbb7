/* Reads bursts; see burst.h. */
#include "model/core/burst.h"

/* `all` is a constant, true if `plain` is NULL. Its branches leave the loop and are nearly never taken, so the processor predicts them:
 * a record of another kind has an id that is too large, and an end without a begin has a depth below 0. */
DW_INLINE const uint32_t *burst_read(struct dw_burst *burst, const uint32_t *at, size_t most, const bool all)
{
	const struct dw_op *ops = burst->pass->walk.ops;
	const uint64_t op_count = burst->pass->walk.op_count, until = burst->until;
	const uint32_t kind = burst->kind;
	const bool *plain = burst->plain;
	struct dw_burst_frame *frame = &burst->stack[burst->depth];
	struct dw_burst_range *range = &burst->ranges[burst->count];
	uint32_t *calls = burst->calls;
	uint64_t ticks = burst->ticks;

	for (; most; most--) {
		uint64_t word0 = __atomic_load_n(at, __ATOMIC_RELAXED), word1 = __atomic_load_n(at + 1, __ATOMIC_RELAXED);
		uint64_t end = word0 / DW_WORD_END & 1, now = ticks + (word0 >> DW_DELTA_SHIFT), duration;
		uint64_t id = (word1 & (end - 1)) | (frame->id & -end), depth = (uint64_t)(frame - burst->stack);
		struct dw_op op;

		if (!(word0 & DW_WORD_PRESENT) || now >= until || id >= op_count || depth - end >= DW_BURST_DEEPEST)
			break;
		op = ops[id];
		if (op.kind != kind || (!all && !plain[op.row]))
			break;
		duration = now - frame->start;
		range->duration = duration;
		range->self = duration - frame->child;
		range->depth = depth;
		range->row = op.row;
		range->around = calls[op.row] += 1 - 2 * (uint32_t)end;
		range += end;
		(frame - end)->child += duration & -end;
		frame[1].start = now;
		frame[1].child = 0;
		frame[1].id = id;
		frame += 1 - 2 * (ptrdiff_t)end;
		ticks = now;
		at += 2 - end;
	}
	burst->ticks = ticks;
	burst->depth = (uint32_t)(frame - burst->stack);
	burst->count = (uint32_t)(range - burst->ranges);
	burst->done = most != 0;
	return at;
}

const uint32_t *dw_burst_read(struct dw_burst *burst, const uint32_t *at, const uint32_t *limit)
{
	burst->count = 0;
	for (size_t most; (most = (size_t)(limit - at) / 2) != 0;) {
		most = most < DW_BURST_ENDED - burst->count ? most : DW_BURST_ENDED - burst->count;
		at = burst->plain ? burst_read(burst, at, most, false) : burst_read(burst, at, most, true);
		if (burst->done || DW_BURST_ENDED - burst->count < DW_BURST_ENDED / 8)
			break;
	}
	burst->done |= limit - at < 2;
	burst->ended += burst->count;
	return at;
}
