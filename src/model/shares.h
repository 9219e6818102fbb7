/*
 * Shares: a step thread's time, divided.
 *
 * steps.c prepares one dw_pace for each process that steps; dw_pace_walk() goes
 * once through the thread's records and gives every tick of it to one share of
 * one step, or to what lies beside the steps.
 */
#ifndef DW_MODEL_SHARES_H
#define DW_MODEL_SHARES_H

#include "model/inside.h"

/* What a step spent in the innermost range of one row. */
struct dw_self {
	uint32_t row;
	uint64_t ticks;
};

struct dw_pace_step {
	uint64_t start_ticks, end_ticks; /* ascending, apart */
	uint64_t share_ticks[DW_SHARE_COUNT];
	bool sampled;                    /* selfs are wanted */
	struct dw_self *selfs;           /* malloc'ed, or NULL */
	uint32_t self_count;
};

enum { DW_BESIDE_START = DW_SHARE_COUNT, DW_BESIDE_AFTER, DW_BESIDE_COUNT };

struct dw_pace {
	uint32_t process, thread;
	uint64_t start_ticks, end_ticks; /* of the process */
	struct dw_pace_step *steps;
	size_t count;
	uint64_t beside_ticks[DW_BESIDE_COUNT], beside_counts[DW_BESIDE_COUNT];
};

/* -1 when out of memory. */
int dw_pace_walk(struct dw_model *model, struct dw_pace *pace);

#endif
