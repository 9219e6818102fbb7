/* Finds the operators of each step of a thread, in order. */
#pragma once

#include "model/core/model_data.h"
#include "model/sequence/sequence.h"

/* The key of an operator: its row by name, and its phase. Operators with equal keys in two
 * iterations may have the same position. */
#define DW_SEQUENCE_ROW_BITS 28u
#define DW_SEQUENCE_ROW(key) ((key) & ((1u << DW_SEQUENCE_ROW_BITS) - 1))
#define DW_SEQUENCE_PHASE(key) ((key) >> DW_SEQUENCE_ROW_BITS)

struct dw_sequence_item {
	uint64_t start, duration; /* ticks */
	uint32_t key, thread;
};

struct dw_sequence_step {
	uint64_t index;                 /* in its thread, from 0 */
	uint64_t start_ticks, end_ticks;
	bool complete;                  /* no part of it is lost or open */
	uint64_t forward_ticks;         /* in the phase "forward" */
	bool has_forward, has_backward; /* it has such phases */
};

/* The steps of one thread, ascending and without overlap. The caller sets index, start_ticks and
 * end_ticks. */
struct dw_sequence_steps {
	uint32_t process, thread;
	struct dw_sequence_step *steps;
	size_t count;
};

typedef int dw_sequence_each(void *context, const struct dw_sequence_step *step,
                             const struct dw_sequence_item *items, size_t count);
/* Calls `each` for every step, in order, until it returns a value other than 0. Returns that value,
 * 0, or -1 when out of memory. */
int dw_sequence_walk(struct dw_model *model, const struct dw_sequence_steps *steps,
                     dw_sequence_each *each, void *context);
