/*
 * The hot part of the FLOPs: what a pass does for each operator.
 *
 * For the pass of flops_pass.c and for passes that also compute other products. Such a pass links the
 * operators of the threads in scope in one chain (pass.h), and may walk segments.
 */
#pragma once

#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/time/flops.h"

/* The part of a pass's frame that follows struct dw_frame. */
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
};

/* The state for a stream or a segment. */
struct dw_flops_pass {
	const struct dw_flops_cost *costs;
	struct dw_flops_tally *tallies; /* of the worker */
	const uint32_t *symbol_by_id;
	uint32_t op_count;
};

/* False: out of memory. Call the reset function in any case. */
bool dw_flops_sums_init(struct dw_flops_sums *sums, struct dw_model *model);
void dw_flops_sums_reset(struct dw_flops_sums *sums);
/* Makes the product from the sums. */
void dw_flops_finish(struct dw_flops_sums *sums, struct dw_flops_sum *sum);

/* The tallies of a worker: all zero, for free(). NULL: out of memory. */
struct dw_flops_tally *dw_flops_tallies_create(const struct dw_model *model);
/* After each file: adds the tallies of a worker to those of the first one, and resets them. */
void dw_flops_fold(const struct dw_flops_sums *sums, struct dw_flops_tally *into, struct dw_flops_tally *from);
/* Adds the tallies to the sums, and resets them. */
void dw_flops_end_file(struct dw_flops_sums *sums, struct dw_flops_tally *tallies, uint32_t file);

void dw_flops_begin(struct dw_flops_pass *flops, const struct dw_flops_sums *sums,
                    struct dw_flops_tally *tallies, const struct dw_pass *pass);

/* An operator in scope has begun and is linked. `around`: the operator around it, or NULL. */
DW_INLINE void dw_flops_enter(const struct dw_flops_pass *flops, struct dw_flops_frame *frame,
                              const struct dw_flops_frame *around, uint32_t id)
{
	frame->symbol = flops->symbol_by_id[id < flops->op_count ? id : 0];
	frame->inner = around && around->covered;
	frame->covered = frame->inner || flops->costs[frame->symbol].why == DW_FLOPS_COUNTED;
}

/* Another range has begun. */
DW_INLINE void dw_flops_pass_by(struct dw_flops_frame *frame)
{
	*frame = (struct dw_flops_frame){ DW_NO_INDEX, false, false };
}

DW_INLINE void dw_flops_leave(const struct dw_flops_pass *flops, const struct dw_frame *frame,
                              const struct dw_flops_frame *own, uint64_t ticks)
{
	uint64_t duration = ticks - frame->start;
	struct dw_flops_tally *tally;

	if (own->symbol == DW_NO_INDEX || own->inner)
		return;
	tally = &flops->tallies[own->symbol];
	if (own->covered) {
		tally->calls++;
		tally->ticks += duration;
	} else {
		tally->missed_calls++;
		tally->missed_ticks += duration - frame->child;
	}
}

DW_INLINE void dw_flops_carry(const struct dw_flops_pass *flops, const struct dw_frame *frame,
                              const struct dw_flops_frame *own)
{
	if (own->symbol != DW_NO_INDEX && !own->inner && !own->covered)
		flops->tallies[own->symbol].missed_ticks -= frame->child;
}
