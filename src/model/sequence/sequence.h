/*
 * The sequence: the operators of a step in order, each at the same position in all iterations.
 *
 * An iteration is a step that was recorded completely. Its operators are the outermost ones of the
 * step's thread and of the threads that run its backward pass, in order of their begins. A thread
 * runs the backward pass if its operators name the step's thread as that of their forward
 * operators, as autograd's do. Communication counts as an operator.
 *
 * All positions are in one line that grows. An iteration's operators are aligned with it by name,
 * phase and neighbours. A branch, an operator that runs only sometimes, or a changed graph gets new
 * positions and does not change the positions of other operators. The number of a position is its
 * place in the line over all iterations, also skipped ones.
 *
 * Called by the view `sequence` and the layout `singa`. Memory grows with the positions
 * (DW_SEQUENCE_POSITIONS at most), not with the iterations.
 */
#pragma once

#include "model/core/model.h"
#include "model/core/stat.h"

#define DW_SEQUENCE_POSITIONS 32768u

struct dw_sequence_ask {
	uint64_t skip; /* number of steps at the begin of each process that are not timed */
};

enum dw_sequence_phase {
	DW_IN_NO_PHASE,
	DW_IN_FORWARD,
	DW_IN_BACKWARD,
	DW_IN_OTHER_PHASE /* optimizer, evaluation */
};

struct dw_sequence_op {
	uint32_t symbol;       /* the first symbol with its name */
	enum dw_sequence_phase phase;
	uint64_t iterations;   /* number of iterations that have it, also skipped ones */
	struct dw_stat stat;   /* of timed iterations; count 0: only skipped ones have it */
	double mean_ns, std_ns;
	double drift;          /* its change over the run, divided by its median */
	bool drifts;           /* whether the change is a trend, see drift.c */
	uint64_t device_ns, device_events; /* of timed iterations: work of devices that it caused */
};

/* From position `first` on, the same `length` operators follow one another `repeats` times. `ops`
 * has `length` entries, each merged from all repetitions: its drift is the largest of these. */
struct dw_sequence_block {
	uint32_t first, length, repeats;
	struct dw_sequence_op *ops;
};

struct dw_sequence {
	struct dw_sequence_op *ops;
	uint32_t count;
	struct dw_sequence_block *blocks; /* ascending, without overlap */
	uint32_t block_count;
	uint64_t iterations;      /* timed */
	uint64_t skipped;
	uint64_t incomplete;      /* iterations left out because a part is lost, recycled or open */
	uint64_t changes;         /* iterations whose operators differ from those of the one before */
	uint64_t left_out;        /* operators beyond DW_SEQUENCE_POSITIONS */
	uint64_t last_index;      /* the largest index of a complete iteration in its thread */
	double iteration_ns;      /* mean of the timed iterations, from begin to end */
	double drift;             /* of the iteration's time, like dw_sequence_op.drift */
	bool drifts;
	double forward_ns;        /* mean time in phases "forward" of the step's thread that begin and
	                           * end in the step */
	bool has_forward, has_backward; /* timed iterations have such phases */
	uint32_t process_count;   /* number of processes with steps */
};

/* NULL with `error` when out of memory. */
const struct dw_sequence *dw_model_sequence(struct dw_model *model, const struct dw_sequence_ask *ask,
                                            struct dwell_error *error);

/* Returns 0, or DWELL_E_NO_DATA with the reason in `error` if no iteration is timed. */
int dw_sequence_check(const struct dw_sequence *sequence, const struct dw_sequence_ask *ask, struct dwell_error *error);
