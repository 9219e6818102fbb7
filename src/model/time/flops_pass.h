/*
 * The hot part of the FLOPs: what a part (part.h) does for each operator. A loop with this part has
 * `chains`. Another part may link the operators, all of them in one chain; otherwise this one links
 * those in scope.
 */
#pragma once

#include "model/core/part.h"
#include "model/core/product.h"
#include "model/time/flops.h"

struct dw_flops_frame {
	uint32_t symbol; /* merged symbol; DW_NO_INDEX: no operator in scope */
	bool covered;    /* it counts, or an operator around it does */
	bool inner;      /* an operator around it counts */
};

struct dw_flops_cost {
	uint64_t flops;
	int64_t bytes; /* -1: not given */
	enum dw_flops_why why;
};

struct dw_flops_tally {
	uint64_t calls, ticks;               /* of calls that count */
	uint64_t missed_calls, missed_ticks; /* calls that do not count, and their self time */
};

/* The sums over all streams. */
struct dw_flops_sums {
	struct dw_model *model;
	struct dw_flops_cost *costs; /* by merged symbol */
	struct dw_flops_row *rows;   /* by row, in the model's arena */
	struct dw_flops_tally *tallies; /* by merged symbol, of the current file */
};

struct dw_flops_worker {
	struct dw_flops_tally *tallies; /* by merged symbol */
};

/* The state for a stream or a segment. */
struct dw_flops_pass {
	const struct dw_flops_cost *costs;
	struct dw_flops_tally *tallies; /* of the worker */
	const uint32_t *symbol_by_id;
	uint32_t op_count, frame_bytes, frame_offset;
};

/* False: out of memory. Call the reset function in any case. */
bool dw_flops_sums_init(struct dw_flops_sums *sums, struct dw_model *model);
void dw_flops_sums_reset(struct dw_flops_sums *sums);
/* Makes the product from the sums. */
void dw_flops_finish(struct dw_flops_sums *sums, struct dw_flops_sum *sum);

/* The functions of the part. */
bool dw_flops_worker_init(void *worker, const void *sums);
void dw_flops_worker_reset(void *worker);
bool dw_flops_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from);
void dw_flops_carry(void *pass, void *frame, const struct dw_here *here);
bool dw_flops_merge(void *sums, void *worker, uint32_t file);
void dw_flops_end_file(void *sums, uint32_t file);

DW_INLINE const struct dw_flops_frame *dw_flops_around(const struct dw_flops_pass *flops, const struct dw_here *here)
{
	const void *around = dw_pass_at(here->pass, flops->frame_bytes, here->range->previous);

	return here->range->previous ? (const void *)((const char *)around + flops->frame_offset) : NULL;
}

DW_INLINE void dw_flops_enter(void *pass, void *place, const struct dw_here *here)
{
	const struct dw_flops_pass *flops = pass;
	struct dw_flops_frame *frame = place;
	const struct dw_flops_frame *around;

	*frame = (struct dw_flops_frame){ DW_NO_INDEX, false, false };
	if (here->kind != dw_kind_of(DWELL_CATEGORY_OPERATOR) || !dw_pass_in_scope(here->pass, here->ticks))
		return;
	if (!here->range->chain) {
		here->range->in_scope = true;
		dw_pass_link(here->pass, here->range, here->kind);
	}
	around = dw_flops_around(flops, here);
	frame->symbol = flops->symbol_by_id[here->id < flops->op_count ? here->id : 0];
	frame->inner = around && around->covered;
	frame->covered = frame->inner || flops->costs[frame->symbol].why == DW_FLOPS_COUNTED;
}

DW_INLINE void dw_flops_leave(void *pass, void *place, const struct dw_here *here)
{
	const struct dw_flops_pass *flops = pass;
	const struct dw_flops_frame *own = place;
	struct dw_flops_tally *tally;

	if (own->symbol == DW_NO_INDEX || own->inner)
		return;
	tally = &flops->tallies[own->symbol];
	if (own->covered) {
		tally->calls++;
		tally->ticks += here->duration;
	} else {
		tally->missed_calls++;
		tally->missed_ticks += here->duration - here->range->child;
	}
}

static const struct dw_part dw_flops_part = {
	.worker_init = dw_flops_worker_init, .worker_reset = dw_flops_worker_reset, .begin = dw_flops_begin,
	.enter = dw_flops_enter, .leave = dw_flops_leave, .carry = dw_flops_carry, .merge = dw_flops_merge,
	.end_file = dw_flops_end_file,
};
