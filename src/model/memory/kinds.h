/*
 * The first pass over a process's events: what blocks are for, where the program does not say.
 *
 * The rules are in memory.h. A block of kind "other" waits until the range that decides has
 * ended, or until it is freed.
 */
#ifndef DW_MODEL_MEMORY_KINDS_H
#define DW_MODEL_MEMORY_KINDS_H

#include "base/live.h"
#include "model/memory/streams.h"

/* A range that was open when something was allocated; given back when it has ended and all
 * that was allocated in it is freed. */
struct dw_memory_span {
	uint64_t end_ticks; /* UINT64_MAX: open */
	uint32_t refs;
	uint32_t next_free;
};

struct dw_memory_backward {
	uint64_t ticks;
	uint32_t span;
};

struct dw_memory_step {
	uint64_t start, end;
};

struct dw_memory_account;

/* A live block whose kind is not decided yet, by its number in `live`. */
struct dw_memory_pending {
	uint32_t allocation; /* index of its kind in `kinds` */
	uint32_t span;       /* 0: nothing decides any more */
	uint32_t stays;      /* what it is if it outlives the span */
};

struct dw_memory_kind_pass {
	struct dw_memory_account *account;
	const uint8_t *roles;         /* by row; the caller's */
	struct dw_memory_span *spans; /* 0 is none */
	size_t span_count, span_capacity;
	uint32_t free_span;
	struct dw_memory_backward *backwards; /* in order of time; those before `at` have begun */
	size_t backward_count, backward_capacity, backward_at;
	struct dw_memory_step *steps; /* in order of time; those before `at` have begun */
	size_t step_count, step_capacity, step_at;
	uint64_t step_reach;          /* when the last of those ends */
	struct dw_live live;
	struct dw_memory_pending *pending;
	size_t pending_capacity;
	uint8_t *kinds;               /* the answer, by allocation in order of time */
	size_t kind_count, kind_capacity;
	bool operators;               /* the process has any */
	bool failed;
};

/* By row, malloc'd; NULL when out of memory. */
uint8_t *dw_memory_roles(const struct dw_model *model);
void dw_memory_kind_pass_init(struct dw_memory_kind_pass *pass, struct dw_memory_account *account,
                          const uint8_t *roles);
/* For the walk: a range that decides, 0 when out of memory; it has ended. */
uint32_t dw_memory_span_open(struct dw_memory_kind_pass *pass, uint64_t ticks, bool backward);
void dw_memory_span_close(struct dw_memory_kind_pass *pass, uint32_t index, uint64_t ticks);
/* Events in order of time. */
void dw_memory_kind_pass_put(struct dw_memory_kind_pass *pass, struct dw_memory_event *event);
void dw_memory_kind_pass_end(struct dw_memory_kind_pass *pass);
void dw_memory_kind_pass_reset(struct dw_memory_kind_pass *pass);

#endif
