/*
 * The sequence from inside: what the files of sequence.h share.
 *
 *   sequence.c        the product: iterations are counted, times added up by position
 *   sequence_walk.c   a process's streams to the operators of each step
 *   sequence_stream.c one stream's records to operators
 *   sequence_line.c   operators of a step to positions
 *   sequence_compare.c what two orders have in common
 *   sequence_drift.c  whether a position's times go one way over the run
 *   sequence_fold.c   repeated blocks
 */
#ifndef DW_MODEL_SEQUENCE_POSITIONS_H
#define DW_MODEL_SEQUENCE_POSITIONS_H

#include "model/core/model_data.h"
#include "model/sequence/sequence.h"

/* ---- operators of a step (sequence_walk.c) ------------------------------------------- */

/* What is the same operator in two iterations: its row by name, and the phase. */
#define DW_SEQUENCE_ROW_BITS 28u
#define DW_SEQUENCE_ROW(key) ((key) & ((1u << DW_SEQUENCE_ROW_BITS) - 1))
#define DW_SEQUENCE_PHASE(key) ((key) >> DW_SEQUENCE_ROW_BITS)

struct dw_sequence_item {
	uint64_t start, duration; /* ticks */
	uint32_t key;
	uint32_t thread;
};

struct dw_sequence_step {
	uint64_t index;                 /* in the run, of its thread */
	uint64_t start_ticks, end_ticks;
	bool complete;                  /* nothing of it is lost or open */
	uint64_t forward_ticks;         /* in the phase "forward" */
	bool has_forward, has_backward; /* such phases are marked */
};

/* Steps of one thread, ascending, apart, with what is known before the walk. */
struct dw_sequence_steps {
	uint32_t process, thread;
	struct dw_sequence_step *steps;
	size_t count;
};

typedef int dw_sequence_each(void *context, const struct dw_sequence_step *step,
                             const struct dw_sequence_item *items, size_t count);
/* Calls `each` for every step, in order. -1 when out of memory, here or there. */
int dw_sequence_walk(struct dw_model *model, const struct dw_sequence_steps *steps,
                     dw_sequence_each *each, void *context);

/* ---- positions (sequence_line.c) ----------------------------------------------------- */

struct dw_line_variant; /* one order of operators that was met */

/* Positions have an id that stays, and a place in the order that does not. */
struct dw_line {
	uint32_t *order;              /* ids */
	uint32_t *keys;               /* by id */
	uint32_t count, capacity;
	struct dw_line_variant **variants; /* by hash */
	size_t variant_count, variant_keys;
	struct dw_line_variant *last;
	int32_t *trace;               /* room for comparisons */
	uint32_t *scratch;
	size_t scratch_capacity;
	uint64_t changes;             /* sequences that were not the one before */
};

/* The position of each item, DW_NO_INDEX beyond DW_SEQUENCE_POSITIONS; valid until the
 * next call. NULL when out of memory. */
const uint32_t *dw_line_place(struct dw_line *line, const struct dw_sequence_item *items,
                              size_t count);
void dw_line_reset(struct dw_line *line);

/* By index in b, the index in a of what both have in the same order, or DW_NO_INDEX.
 * *trace is room to be kept and freed. False when out of memory. (sequence_compare.c) */
bool dw_sequence_compare(int32_t **trace, const uint32_t *a, size_t a_count, const uint32_t *b,
                         size_t b_count, uint32_t *found);

/* ---- trends (sequence_drift.c) ------------------------------------------------------- */

#define DW_DRIFT_BLOCKS 64u
#define DW_DRIFT_EACH 5u
#define DW_DRIFT_SAMPLES (DW_DRIFT_BLOCKS * DW_DRIFT_EACH)

/* Which of `total` iterations are sampled: an ascending list of their numbers, at most
 * DW_DRIFT_SAMPLES; returns how many. */
uint32_t dw_drift_choose(uint64_t total, uint64_t chosen[DW_DRIFT_SAMPLES]);
/* Of the samples (0: none) of one of `tests` positions; NaN without enough of them. */
double dw_drift_of(const float samples[DW_DRIFT_SAMPLES], uint32_t count, uint32_t tests,
                   bool *drifts);

/* ---- repeated blocks (sequence_fold.c) ----------------------------------------------- */

/* Finds blocks in `keys`: at most count / 3 of them, ascending and apart, `ops` not set.
 * False when out of memory. */
bool dw_sequence_fold(const uint64_t *keys, uint32_t count, struct dw_sequence_block *blocks,
                      uint32_t *block_count);

#endif
