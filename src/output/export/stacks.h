/*
 * Recorded stacks for the exports: the functions that called a range.
 *
 *   dw_stack_*    the functions of one stack, innermost first
 *   dw_stacks_*   the self time of all ranges of the scope, of the host or of devices, by symbol and stack
 *
 * Called by the formats that show stacks. Stack ids are per file; a thread uses the file of its
 * process.
 */
#pragma once

#include "base/map.h"
#include "export/out.h"
#include "model/model.h"

struct dw_stack {
	const struct dw_source_file *file;
	const uint32_t *frames; /* innermost first */
	uint32_t count;         /* 0: not recorded */
};

/* Whether any range may have a stack. */
bool dw_stacks_any(const struct dw_source *source);

struct dw_stack dw_stack_at(const struct dw_source *source, uint32_t thread, uint32_t stack);
/* Returns NULL if the file does not contain it. */
const struct dw_source_frame *dw_stack_frame(const struct dw_stack *stack, uint32_t index);
/* Writes "file(line): name", or only the name if there is no file. */
void dw_stack_function_text(struct dw_writer_out *out, const struct dw_source_function *function);
/* Writes all functions, innermost first, separated by ';'. */
void dw_stack_text(struct dw_writer_out *out, struct dw_stack stack);

struct dw_stacks_row {
	uint32_t symbol, thread, stack; /* stack 0: not recorded */
	uint64_t count, self_ns;
};

struct dw_stacks {
	struct dw_stacks_row *rows;
	size_t count, capacity;
	struct dw_map map; /* rows by thread, symbol and stack */
};

/* Self time excludes all inner ranges, so the rows add up to the time of the outermost ranges.
 * Errors: DWELL_E_NOMEM. */
int dw_stacks_make(struct dw_stacks *stacks, struct dw_model *model, struct dwell_error *error);
/* The same of the devices' time: each call's belongs to the innermost range around it. A symbol and stack may have
 * several rows. */
int dw_stacks_make_device(struct dw_stacks *stacks, struct dw_model *model, struct dwell_error *error);
void dw_stacks_reset(struct dw_stacks *stacks);
