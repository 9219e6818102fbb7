/*
 * Calls: operators, and optionally the program's named ranges and steps, grouped by more than their
 * name.
 *
 * For tables like torch.profiler's. The request selects what distinguishes calls of one name:
 * shapes, overload, the innermost frames of the stack. Self memory is what an operator allocated
 * minus what it freed while it was the innermost one in its thread. If operators call operators,
 * FLOPs are counted once. One pass in one thread, slower than the profile by name. Its memory grows
 * with the rows and, if memory is requested, with the number of allocations and frees.
 */
#pragma once

#include "model/core/model.h"
#include "model/core/shapes.h"
#include "model/core/stat.h"
#include "model/time/grouping.h"

struct dw_calls_ask {
	struct dw_grouping group;
	bool named;     /* also ranges that the program names; with operators they are one kind for self time */
	bool steps;     /* also steps, as one row */
	bool actions;   /* also the actions of a Trainer, by the names that Lightning gives them in PyTorch's profiler */
	bool top_level; /* only calls that are in no other call */
	bool memory;
	/* The rows of torch.profiler's table of a run with devices: also calls of the driver and all
	 * other ranges that a program or a framework names, under the names that they have in Kineto's
	 * files; without the operators that the profiler hides. A step is a call, too: with `top_level`
	 * the calls in it are omitted. */
	bool all_ranges;
};

struct dw_call_row {
	const char *name;
	uint32_t symbol;          /* the first of its symbols; DW_NO_INDEX: the steps */
	uint32_t category;
	const char *stack;        /* "file(line): function", one line for each frame; NULL: not
	                           * requested, or none */
	bool is_async;            /* asynchronous ranges: no self time, no children */
	struct dw_stat stat;
	int64_t self_bytes, total_bytes; /* CPU memory */
	int64_t device_bytes, device_total_bytes; /* memory of all devices, likewise */
	uint64_t flops;
	uint64_t first_ns, first_end_ns; /* of the first call */
};

struct dw_calls {
	struct dw_call_row *rows; /* by first_ns, then the one that ends last */
	size_t count;
	uint64_t self_ns;         /* of all calls, including those that top_level omits */
	uint64_t overlapping;     /* calls that ended while a later one was open */
	bool has_shapes, has_stacks, has_memory, has_device_memory, has_flops; /* such data was recorded */
};

/* Whether calls of this symbol are rows. */
bool dw_calls_count(const struct dw_calls_ask *ask, const struct dw_symbol *symbol);

/* A number by which products of equal requests are found. */
static inline uint64_t dw_calls_key(const struct dw_calls_ask *ask)
{
	return (uint64_t)ask->group.stack_frames << 32 | ask->group.shapes |
	       (uint64_t)ask->group.overload << 1 | (uint64_t)ask->named << 2 |
	       (uint64_t)ask->top_level << 3 | (uint64_t)ask->memory << 4 |
	       (uint64_t)ask->all_ranges << 5 | (uint64_t)ask->group.annotations << 6 | (uint64_t)ask->group.sizes << 7 |
	       (uint64_t)ask->steps << 8 | (uint64_t)ask->actions << 9;
}

/* Reads --ranges, a list of named, steps and actions, or none; NULL: named,steps. */
int dw_calls_parse_ranges(const char *text, struct dw_calls_ask *ask, struct dwell_error *error);

/* NULL with `error` if memory ran out. */
const struct dw_calls *dw_model_calls(struct dw_model *model, const struct dw_calls_ask *ask,
                                      struct dwell_error *error);
