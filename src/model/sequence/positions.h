/* Operators of a step to positions in the line of all orders that were met. */
#ifndef DW_MODEL_SEQUENCE_POSITIONS_H
#define DW_MODEL_SEQUENCE_POSITIONS_H

#include "base/map.h"
#include "model/sequence/step_operators.h"

struct dw_line_variant; /* one order of operators that was met */

/* Positions have an id that stays, and a place in the order that does not. */
struct dw_line {
	uint32_t *order;              /* ids */
	uint32_t *keys;               /* by id */
	uint32_t count, capacity;
	struct dw_line_variant **variants;
	struct dw_map by_order;       /* variants by their operators */
	size_t variant_count, variant_keys;
	struct dw_line_variant *last;
	int32_t *trace;               /* buffer for comparisons */
	uint32_t *scratch;
	size_t scratch_capacity;
	uint64_t changes;             /* sequences that were not the one before */
};

/* The position of each item, DW_NO_INDEX beyond DW_SEQUENCE_POSITIONS; valid until the
 * next call. NULL when out of memory. */
const uint32_t *dw_line_place(struct dw_line *line, const struct dw_sequence_item *items,
                              size_t count);
void dw_line_reset(struct dw_line *line);

#endif
