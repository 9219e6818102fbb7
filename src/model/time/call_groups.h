/*
 * Which calls share a row: classes of symbols, prefixes of stacks.
 */
#pragma once

#include "base/map.h"
#include "model/core/model_data.h"
#include "model/time/grouping.h"

struct dw_call_groups {
	struct dw_model *model;
	uint32_t *classes;       /* by merged symbol; symbols of one class share a row */
	uint32_t frames;         /* how many frames of a stack distinguish rows; 0: none */
	uint32_t **prefix_by_id; /* by file, then STACK id: index + 1; 0: not known yet */
	const char **prefixes;   /* [0] is NULL: no stack */
	size_t prefix_count, prefix_capacity;
	struct dw_map by_text;   /* prefixes by text; all but the first */
	bool any_stack;
};

/* False: out of memory. Call the reset function in any case. */
bool dw_call_groups_make(struct dw_call_groups *groups, struct dw_model *model, const struct dw_grouping *ask);
/* Returns the index in `prefixes`. DW_NO_INDEX: out of memory. */
uint32_t dw_call_prefix(struct dw_call_groups *groups, uint32_t file, uint32_t stack);
void dw_call_groups_reset(struct dw_call_groups *groups);
