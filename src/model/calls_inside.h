/*
 * Calls from inside: what calls.c and its helpers share.
 *
 *   calls_group.c    symbols to classes, stacks to prefixes
 *   calls_memory.c   how many bytes each free gives back
 */
#ifndef DW_MODEL_CALLS_INSIDE_H
#define DW_MODEL_CALLS_INSIDE_H

#include "model/calls.h"
#include "model/inside.h"

struct dw_call_groups {
	struct dw_model *model;
	uint32_t *classes;       /* by merged symbol: those with equal ones are one row */
	uint32_t frames;         /* how many of a stack are told apart; 0: none */
	uint32_t **prefix_by_id; /* by file, then STACK id: + 1; 0: not known yet */
	const char **prefixes;   /* [0] is NULL: no stack */
	size_t prefix_count, prefix_capacity;
	uint32_t *slots;         /* prefix + 1, by content */
	size_t mask;
	bool any_stack;
};

/* False when out of memory, here and below. */
bool dw_call_groups_make(struct dw_call_groups *groups, struct dw_model *model,
                         const struct dw_grouping *ask);
/* DW_NO_INDEX when out of memory. */
uint32_t dw_call_prefix(struct dw_call_groups *groups, uint32_t file, uint32_t stack);
void dw_call_groups_reset(struct dw_call_groups *groups);

struct dw_call_memory {
	/* Of all allocations and frees in the order in which streams have them, in scope or not. */
	struct dw_call_change { uint64_t address; int64_t bytes; } *changes;
	size_t count, at;
	bool any;
};

bool dw_call_memory_make(struct dw_call_memory *memory, struct dw_model *model, bool wanted);
/* Of the next allocation or free that the walk meets; 0 when memory is not wanted, and of
 * what a live stream has got since. */
static inline int64_t dw_call_memory_next(struct dw_call_memory *memory, uint64_t address)
{
	bool known = memory->at < memory->count && memory->changes[memory->at].address == address;

	return known ? memory->changes[memory->at++].bytes : 0;
}
void dw_call_memory_reset(struct dw_call_memory *memory);

#endif
