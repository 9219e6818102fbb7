/*
 * Memory: who allocated it, who held it at the peak, what is left at the end.
 *
 * An allocation belongs to the innermost operator that is open in its own thread at
 * that moment, else to the innermost range that people name themselves (a zone, a
 * phase, ...), else to "(no operator)". A free belongs to whoever allocated what it
 * frees, in whatever thread it happens. All streams of a process are merged in order
 * of time for that; memory is bounded by what is live and by a chunk a stream.
 *
 * What a block is for, its kind, the program says with its allocation or later
 * (DWELL_ALLOC, DWELL_ALLOC_IS). Of a block that it calls "other", in a process with
 * operators, the range that it is allocated in tells:
 *
 *   innermost of these in its thread       freed before the       else
 *                                          end of that range
 *   data loading                           temporary              input
 *   backward                               temporary              gradient
 *   optimizer                              temporary              optimizer state
 *   forward or evaluation, an operator     the same, of the       activation
 *     in it                                outermost operator
 *   none, an operator in a step (or        the same               activation
 *     where the process has no steps)
 *   none, an operator beside the steps     the same               other
 *   none, no operator                      other                  other
 *
 * An operator of a thread that has none of these ranges open is of the backward that
 * another thread waits in. A block that is not freed has outlived all.
 *
 * There is one pool a process and device: addresses of different processes have
 * nothing to do with each other.
 */
#ifndef DW_MODEL_MEMORY_MEMORY_H
#define DW_MODEL_MEMORY_MEMORY_H

#include "model/core/model.h"

#define DW_MEMORY_KINDS(X)                   \
	X(PARAMETER, "parameter")                \
	X(GRADIENT, "gradient")                  \
	X(ACTIVATION, "activation")              \
	X(INPUT, "input")                        \
	X(OPTIMIZER_STATE, "optimizer state")    \
	X(TEMPORARY, "temporary")                \
	X(OTHER, "other")

enum dw_memory_kind {
#define X(name, label) DW_MEMORY_##name,
	DW_MEMORY_KINDS(X)
#undef X
	DW_MEMORY_KIND_COUNT
};

#define DW_MEMORY_POINTS 1000u

struct dw_memory_use {
	uint64_t at_peak_bytes;                /* when the pool was at its peak */
	uint64_t live_bytes, live_count;       /* at the end of the scope */
	uint64_t allocated_bytes, freed_bytes; /* in scope */
	uint64_t allocations, frees;
};

struct dw_memory_owner {
	uint32_t symbol;                   /* the first of its name; DW_NO_INDEX: no operator */
	struct dw_memory_use use;          /* its own */
	uint64_t total_bytes, total_count; /* allocated, with the owners nested in it */
};

/* The largest moment of a stretch of time; stretches like those beside them are left out. */
struct dw_memory_point {
	uint64_t ns;
	uint64_t bytes[DW_MEMORY_KIND_COUNT];
};

struct dw_memory_pool {
	uint32_t process;                                      /* index */
	const char *device;                                    /* "cpu"; never NULL */
	struct dw_memory_use all, kinds[DW_MEMORY_KIND_COUNT]; /* kinds sum to all */
	uint64_t peak_ns;
	uint32_t peak_step;             /* index into source steps, or DW_NO_INDEX */
	struct dw_memory_owner *owners; /* by bytes at the peak, then bytes allocated */
	size_t owner_count;
	struct dw_memory_point *points; /* ascending, at most DW_MEMORY_POINTS; the peak is one */
	size_t point_count;
};

struct dw_memory {
	struct dw_memory_pool *pools; /* by peak, descending */
	size_t pool_count;
	uint64_t unknown_frees; /* of addresses allocated before the recording or where it was lost */
	uint64_t doubled;       /* allocations of an address that was live: its free is missing */
};

/* NULL with `error` when out of memory. */
const struct dw_memory *dw_model_memory(struct dw_model *model, struct dwell_error *error);

const char *dw_memory_kind_name(enum dw_memory_kind kind);

#endif
