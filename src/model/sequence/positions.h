/* Finds the positions of a step's operators in the line of the operators of all steps. */
#pragma once

#include "base/map.h"
#include "model/sequence/step_operators.h"

struct dw_line_variant; /* one sequence of operators that occurred */

/* A position has an id, which never changes, and a place in the line, which changes when the line
 * grows. */
struct dw_line {
	uint32_t *order;              /* ids, by place */
	uint32_t *keys;               /* by id */
	uint32_t count, capacity;
	struct dw_line_variant **variants;
	struct dw_map by_order;       /* variants by their operators */
	size_t variant_count, variant_keys;
	struct dw_line_variant *last;
	int32_t *trace;               /* buffer for comparisons */
	uint32_t *scratch;
	size_t scratch_capacity;
	uint64_t changes;             /* steps whose sequence differs from that of the step before */
};

/* The id of the position of each item, or DW_NO_INDEX if there are more than DW_SEQUENCE_POSITIONS
 * positions. Valid until the next call. NULL when out of memory. */
const uint32_t *dw_line_place(struct dw_line *line, const struct dw_sequence_item *items, size_t count);
void dw_line_reset(struct dw_line *line);
