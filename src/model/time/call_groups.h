/*
 * What makes calls one row: classes of symbols, prefixes of stacks.
 */
#ifndef DW_MODEL_TIME_CALL_GROUPS_H
#define DW_MODEL_TIME_CALL_GROUPS_H

#include "base/map.h"
#include "model/core/model_data.h"
#include "model/time/grouping.h"

struct dw_call_groups {
	struct dw_model *model;
	uint32_t *classes;       /* by merged symbol: those with equal ones are one row */
	uint32_t frames;         /* how many of a stack are told apart; 0: none */
	uint32_t **prefix_by_id; /* by file, then STACK id: + 1; 0: not known yet */
	const char **prefixes;   /* [0] is NULL: no stack */
	size_t prefix_count, prefix_capacity;
	struct dw_map by_text;   /* prefixes; all but the first */
	bool any_stack;
};

/* False when out of memory, here and below. */
bool dw_call_groups_make(struct dw_call_groups *groups, struct dw_model *model,
                         const struct dw_grouping *ask);
/* DW_NO_INDEX when out of memory. */
uint32_t dw_call_prefix(struct dw_call_groups *groups, uint32_t file, uint32_t stack);
void dw_call_groups_reset(struct dw_call_groups *groups);

#endif
