/*
 * The sequence: a step's operators in their order, the same position in all iterations.
 *
 * An iteration is a step that was recorded whole. Its operators are those that lie in no
 * other operator: of the step's thread and of the threads that run its backward pass
 * (autograd's, known by the forward thread that their operators name), in the order in
 * which they began; communication is an operation like them. Iterations are aligned with
 * one growing line of positions by name, phase and neighbours, so that a branch, an
 * operator that comes and goes or a changed graph gets positions of its own and shifts
 * nobody else's. A position's number is its place in that line over all iterations,
 * skipped ones included.
 *
 * Called by the view `sequence` and the layout `singa`. Memory grows with positions
 * (DW_SEQUENCE_POSITIONS at most), never with iterations.
 */
#ifndef DW_MODEL_SEQUENCE_SEQUENCE_H
#define DW_MODEL_SEQUENCE_SEQUENCE_H

#include "model/core/model.h"
#include "model/core/stat.h"

#define DW_SEQUENCE_POSITIONS 32768u

struct dw_sequence_ask {
	uint64_t skip; /* the run's first steps that are not timed, of each process */
};

enum dw_sequence_phase {
	DW_IN_NO_PHASE,
	DW_IN_FORWARD,
	DW_IN_BACKWARD,
	DW_IN_OTHER_PHASE /* optimizer, evaluation */
};

struct dw_sequence_op {
	uint32_t symbol;       /* the first of its symbols */
	enum dw_sequence_phase phase;
	uint64_t iterations;   /* that have it, skipped ones too */
	struct dw_stat stat;   /* of those that are timed; count 0: it is in skipped ones only */
	double mean_ns, std_ns;
	double drift;          /* its change over the run, as a part of its median */
	bool drifts;           /* and whether that is a trend: see drift.c */
};

/* `repeats` times the same `length` operators on end, from position `first` on. `ops` are
 * those of one of them: their times are those of all, drift the largest of them. */
struct dw_sequence_block {
	uint32_t first, length, repeats;
	struct dw_sequence_op *ops;
};

struct dw_sequence {
	struct dw_sequence_op *ops;
	uint32_t count;
	struct dw_sequence_block *blocks; /* ascending, apart */
	uint32_t block_count;
	uint64_t iterations;      /* timed */
	uint64_t skipped;
	uint64_t incomplete;      /* lost, recycled or still open in part: left out */
	uint64_t changes;         /* iterations whose operators are not those of the one before */
	uint64_t left_out;        /* operators beyond DW_SEQUENCE_POSITIONS */
	uint64_t last_index;      /* in the run, of the last whole iteration */
	double iteration_ns;      /* mean of the timed iterations, from begin to end */
	double drift;             /* of the iteration itself, as of an operator */
	bool drifts;
	double forward_ns;        /* mean time in phases "forward" of the step's thread that begin and
	                           * end in the step */
	bool has_forward, has_backward; /* such phases are marked; in timed iterations */
	uint32_t process_count;   /* that step */
};

/* NULL with `error` when out of memory. */
const struct dw_sequence *dw_model_sequence(struct dw_model *model,
                                            const struct dw_sequence_ask *ask,
                                            struct dwell_error *error);

/* DWELL_E_NO_DATA where no iteration is timed, and why. */
int dw_sequence_check(const struct dw_sequence *sequence, const struct dw_sequence_ask *ask,
                      struct dwell_error *error);

#endif
