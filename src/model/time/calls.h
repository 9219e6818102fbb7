/*
 * Calls: operators, and with them the ranges that people name and the steps, grouped
 * by more than a name.
 *
 * For tables as torch.profiler's: what is told apart is asked for (shapes, overload,
 * the innermost frames of the stack), memory is what an operator allocated less what
 * it freed while it was the innermost one in its own thread, FLOPs are counted once
 * where operators call operators. One pass in one thread, slower than flat; memory
 * grows with the rows and, with memory asked for, with what is live.
 */
#ifndef DW_MODEL_TIME_CALLS_H
#define DW_MODEL_TIME_CALLS_H

#include "model/core/model.h"
#include "model/core/shapes.h"
#include "model/core/stat.h"
#include "model/time/grouping.h"

struct dw_calls_ask {
	struct dw_grouping group;
	bool named;     /* ranges that people name and steps too; nested they are one kind with operators */
	bool top_level; /* only calls that lie in no other */
	bool memory;
};

struct dw_call_row {
	const char *name;
	uint32_t symbol;          /* the first of its symbols; DW_NO_INDEX: the steps */
	uint32_t category;
	const char *stack;        /* "file(line): function", a line a frame; NULL: not asked for, or none */
	bool is_async;            /* asynchronous ranges: no self time, no children */
	struct dw_stat stat;
	int64_t self_bytes, total_bytes; /* on the CPU */
	uint64_t flops;
	uint64_t first_ns;        /* where the first of them began */
};

struct dw_calls {
	struct dw_call_row *rows; /* by where the first of each began */
	size_t count;
	uint64_t self_ns;         /* of all calls, also those that top_level leaves out */
	uint64_t overlapping;     /* calls that ended while one begun later was open */
	bool has_shapes, has_stacks, has_memory, has_flops; /* something of it was recorded */
};

/* NULL with `error` when out of memory. */
const struct dw_calls *dw_model_calls(struct dw_model *model, const struct dw_calls_ask *ask,
                                      struct dwell_error *error);

#endif
