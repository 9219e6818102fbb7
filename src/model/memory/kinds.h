/*
 * The first pass over a process's events: finds the kinds of blocks that the program calls "other".
 *
 * The rules are in memory.h. The kind of such a block is decided when the block is freed, when the
 * program names it, or at the end of the pass.
 */
#pragma once

#include "base/live.h"
#include "model/memory/memory_events.h"

/* A range that decides the kinds of blocks allocated in it. Its entry is reused when the range has
 * ended and the kinds of all its blocks are decided. */
struct dw_memory_span {
	uint64_t end_ticks; /* UINT64_MAX: open */
	uint32_t refs, next_free;
};

struct dw_memory_backward {
	uint64_t ticks;
	uint32_t span;
};

struct dw_memory_step {
	uint64_t start, end;
};

struct dw_memory_account;

/* A live block, indexed by its number in `live`. */
struct dw_memory_pending {
	uint32_t allocation; /* index of its kind in `kinds` */
	uint32_t span;       /* 0: the kind is decided */
	uint32_t stays;      /* the kind if it outlives the span */
	uint64_t bytes;
	bool first;          /* it was allocated in the first step or before */
};

struct dw_memory_kind_pass {
	struct dw_memory_account *account;
	const uint8_t *roles;         /* by row; owned by the caller */
	struct dw_memory_span *spans; /* [0] is not used: index 0 means none */
	size_t span_count, span_capacity;
	uint32_t free_span;
	struct dw_memory_backward *backwards; /* by time; those before backward_at have begun */
	size_t backward_count, backward_capacity, backward_at;
	struct dw_memory_step *steps; /* in order of time; those before step_at have begun */
	size_t step_count, step_capacity, step_at;
	uint64_t step_reach;          /* the latest end of the steps before step_at */
	struct dw_live live;
	struct dw_memory_pending *pending;
	size_t pending_capacity;
	uint8_t *kinds;               /* the result, by allocation in order of time */
	size_t kind_count, kind_capacity;
	uint64_t *parameters;         /* their different sizes */
	size_t parameter_count, parameter_capacity;
	bool operators;               /* the process has operators */
	bool reduced;                 /* it has steps that were recorded without them */
	bool failed;
};

/* An enum dw_memory_role for each row, from malloc; NULL when out of memory. */
uint8_t *dw_memory_roles(const struct dw_model *model);
void dw_memory_kind_pass_init(struct dw_memory_kind_pass *pass, struct dw_memory_account *account,
                          const uint8_t *roles);
/* Called by the walk for a range that decides kinds: open returns the index of a new span, or 0
 * when out of memory; close sets its end. */
uint32_t dw_memory_span_open(struct dw_memory_kind_pass *pass, uint64_t ticks, bool backward);
void dw_memory_span_close(struct dw_memory_kind_pass *pass, uint32_t index, uint64_t ticks);
/* Adds an event. The caller adds events in order of time. */
void dw_memory_kind_pass_put(struct dw_memory_kind_pass *pass, struct dw_memory_event *event);
void dw_memory_kind_pass_end(struct dw_memory_kind_pass *pass);
void dw_memory_kind_pass_reset(struct dw_memory_kind_pass *pass);
