/*
 * Memory: which operators allocated it, which held it at the peak, what is live at the end.
 *
 * An allocation belongs to the innermost operator that is open in its thread at that moment.
 * Without an operator it belongs to the innermost range that the program names itself (a zone, a
 * phase, ...), without a range to "(no operator)". A free belongs to the owner of the allocation,
 * in whatever thread the free happens. To match them, all streams of a process are merged in
 * order of time. This takes memory for the live blocks and for one chunk of each stream.
 *
 * A program names the kind of a block, which is what the block is for, at its allocation or later
 * (DWELL_ALLOC, DWELL_ALLOC_IS). If a program names the kind "other", and the process has
 * operators, the kind follows from the range in which the block was allocated:
 *
 *   innermost of these in its thread       freed before the       otherwise
 *                                          end of that range
 *   data loading                           temporary              input
 *   backward                               temporary              gradient
 *   optimizer                              temporary              optimizer state
 *   forward or evaluation, an operator     the same, of the       activation
 *     in it                                outermost operator
 *   none, an operator in a step (or        the same               activation
 *     where the process has no steps)
 *   none, an operator outside any step     the same               other
 *   none, no operator                      other                  other
 *
 * If the thread of an operator has none of these ranges open, but another thread is in a backward
 * range, the block belongs to that backward range: other threads run operators for it. The same holds for a block without
 * an operator, if some steps were recorded without operators. A block that is never freed counts as freed after
 * the end of its range.
 *
 * Libraries keep buffers for later calls: cuBLAS has a workspace for each thread and stream. A block that was made
 * in the first step or before and is never freed is "other" in place of an activation, and in place of a gradient
 * unless a parameter has its size. This needs three steps, and for gradients known parameters.
 *
 * Each process and device has its own pool, because processes share no addresses.
 *
 * The heap of malloc is a device of its own. Its blocks are samples (`dwell run --memory=malloc`), each of which stands for
 * more; bytes and counts are estimates without bias. The variances say how far they may be off.
 */
#pragma once

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
	uint64_t at_failure_bytes;             /* when an allocation of the pool failed */
	uint64_t live_bytes, live_count;       /* at the end of the scope */
	uint64_t allocated_bytes, freed_bytes; /* in scope */
	uint64_t allocations, frees;
};

struct dw_memory_owner {
	uint32_t symbol;                   /* the first with its name; DW_NO_INDEX: no operator */
	struct dw_memory_use use;          /* of its own allocations */
	uint64_t total_bytes, total_count; /* allocated, with the owners nested in it */
};

/*
 * A place in the code that allocates from the heap: the innermost function with a known source line, and the next
 * one; without lines the innermost functions outside libc and the libraries of C++. The growth is that of the live bytes, from the
 * begin of the step after a quarter of all steps to the begin of the last one.
 */
struct dw_memory_place {
	const struct dw_source_function *function, *caller; /* NULL: not known, or of a thread's row */
	uint32_t thread; /* of a thread's row: index into the source's threads */
	struct dw_memory_use use;
	uint64_t samples; /* recorded blocks: what is allocated is known to 1 / sqrt(samples), or better */
	double peak_variance, live_variance;
	double growth_bytes, growth_variance; /* in all these steps */
	bool grows; /* by more than chance, and in each half of these steps */
};

/* Whether blocks of malloc were recorded, without a walk. */
bool dw_source_has_heap(const struct dw_source *source);
/* Whether an allocation failed, or the kernel killed a process because memory ran out, without a walk. */
bool dw_memory_fails(const struct dw_source *source);
/* Half of the 95% interval. */
double dw_memory_error(double variance);

/* The moment with the most memory in an interval. An interval that equals the ones before and
 * after it has no point. */
struct dw_memory_point {
	uint64_t ns, bytes[DW_MEMORY_KIND_COUNT];
};

/*
 * The last allocation of a pool that failed, or the end of a process that the kernel killed because memory ran out. What the
 * blocks were held by at that moment is in the uses, as for the peak. A free piece of an allocator's reserved memory is
 * smaller than `bytes`, or it would have been taken.
 */
struct dw_memory_failure {
	uint64_t count; /* of allocations that failed; 0: none */
	bool killed;
	uint64_t ns, bytes;               /* what was asked for; 0: not known */
	uint64_t used_bytes, limit_bytes; /* of the process's address space; 0: it has no limit */
	uint64_t held_bytes, reserved_bytes;
	uint32_t step;         /* index into source steps, or DW_NO_INDEX */
	uint32_t owner, layer; /* where: symbols, or DW_NO_INDEX */
	/* By layers that made the blocks, largest first; DW_NO_INDEX: no layer. */
	struct dw_memory_layer {
		uint32_t symbol;
		uint64_t bytes;
	} *layers;
	size_t layer_count;
};

struct dw_memory_pool {
	uint32_t process;                                      /* index */
	const char *device;                                    /* "cpu"; never NULL */
	struct dw_memory_use all, kinds[DW_MEMORY_KIND_COUNT]; /* kinds sum to all */
	/* By the allocator of a device, which gives out blocks of it: at most, and at the peak of what it had given
	 * out. 0: not recorded. */
	uint64_t most_reserved_bytes, reserved_bytes, peak_ns;
	struct dw_memory_failure failure;
	uint32_t peak_step;             /* index into source steps, or DW_NO_INDEX */
	struct dw_memory_owner *owners; /* by bytes at the peak, then bytes allocated */
	size_t owner_count;
	struct dw_memory_point *points; /* ascending, at most DW_MEMORY_POINTS, with the peak */
	size_t point_count;
	/* Of the heap. */
	bool sampled;
	double peak_variance, live_variance;
	struct dw_memory_place *places; /* by bytes at the peak, then bytes allocated */
	size_t place_count;
	struct dw_memory_place *threads; /* the same by thread that allocates */
	size_t thread_count;
	uint64_t growth_steps;          /* steps in which growth was counted; 0: there are too few, or it is not the heap */
};

/* The largest activation that was made in a step: it grows with the step's input. */
struct dw_memory_of_step {
	uint32_t thread;        /* index into the source's threads */
	uint64_t start_ns;
	uint64_t largest_bytes; /* 0: none was made */
};

struct dw_memory {
	struct dw_memory_pool *pools; /* those of the heap last; then by peak, descending */
	size_t pool_count;
	struct dw_memory_of_step *steps; /* of all processes; of each in order of time */
	size_t step_count;
	uint64_t unknown_frees; /* of addresses whose allocation was not recorded or was lost */
	uint64_t doubled;       /* allocations at a live address: the free between is missing */
};

/* NULL with `error` when out of memory. */
const struct dw_memory *dw_model_memory(struct dw_model *model, struct dwell_error *error);

const char *dw_memory_kind_name(enum dw_memory_kind kind);
