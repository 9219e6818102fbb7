/*
 * Calls from inside: what calls.c and its helpers share.
 *
 *   calls_group.c    symbols to classes, stacks to prefixes
 *   calls_memory.c   how many bytes each free gives back
 *   calls_steps.c    the steps as a row of their own
 *   calls_sums.c     what is summed of each row
 */
#ifndef DW_MODEL_TIME_CALL_GROUPS_H
#define DW_MODEL_TIME_CALL_GROUPS_H

#include "base/map.h"
#include "model/time/calls.h"
#include "model/core/model_data.h"
#include "model/core/tally.h"

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

struct dw_call_memory {
	/* Of all allocations and frees in the order in which streams have them, in scope or not. */
	struct dw_call_change { uint64_t address; int64_t bytes; } *changes;
	size_t count, at;
	bool any; /* the walk met one in scope */
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

/* ---- sums ------------------------------------------------------------------------------ */

struct dw_call_sum {
	struct dw_tally tally;
	int64_t self_bytes, total_bytes;
	uint64_t flops, first_ns; /* UINT64_MAX: none yet */
	uint64_t nested;          /* ticks: durations beyond the time in the row */
	uint32_t class, prefix;   /* class DW_NO_INDEX: the steps */
	uint32_t symbol;
	bool is_async;
};

struct dw_call_sums {
	struct dw_call_sum *rows;
	size_t count, capacity;
	struct dw_map map; /* rows by class, prefix and whether they are asynchronous */
};

/* Valid until the next one is asked for; NULL when out of memory. */
struct dw_call_sum *dw_call_sum_of(struct dw_call_sums *sums, uint32_t class, uint32_t prefix,
                                   uint32_t symbol, bool is_async);
static inline void dw_call_sum_add(struct dw_call_sum *row, struct dw_arena *arena,
                                   uint64_t start_ns, uint64_t ticks, uint64_t self_ticks)
{
	dw_tally_add(&row->tally, arena, ticks, self_ticks);
	if (start_ns < row->first_ns)
		row->first_ns = start_ns;
}
void dw_call_sums_reset(struct dw_call_sums *sums);

/* ---- steps ----------------------------------------------------------------------------- */

struct dw_call_steps {
	struct dw_model *model;
	bool *inner;             /* by step: it lies in a range that counts, whose time it is already */
	uint64_t covered_ticks;  /* of calls that lie in no other */
	uint64_t self_ticks;     /* when taken: what those leave */
};

/* Where a stream is among the steps of its process. */
struct dw_call_steps_at {
	size_t step; /* the source's step that time is in or before */
	size_t end;  /* past the steps of the process */
	size_t next; /* the first that may lie in a range which begins later */
};

/* A call that lies in no other, in ticks of its file; `ratio` makes them ticks of the first. */
struct dw_call_span {
	uint64_t start, end;
	uint32_t thread;
	double ratio;
};

bool dw_call_steps_make(struct dw_call_steps *steps, struct dw_model *model);
void dw_call_steps_seek(const struct dw_call_steps *steps, uint32_t process,
                        struct dw_call_steps_at *at);
void dw_call_steps_call(struct dw_call_steps *steps, struct dw_call_steps_at *at,
                        const struct dw_call_span *call);
/* Adds their row, when all calls have been seen. */
bool dw_call_steps_take(struct dw_call_steps *steps, struct dw_call_sums *sums);
void dw_call_steps_reset(struct dw_call_steps *steps);

/* To ticks of the first file. */
static inline uint64_t dw_call_ticks(const struct dw_model *model, uint64_t ns)
{
	return (uint64_t)((double)ns / model->source->files[0].clock.ns_per_tick + 0.5);
}

#endif
