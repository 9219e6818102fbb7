/*
 * The parts of a loop's time by its records, and for how long its thread was in each state in each of them.
 *
 * Records say exactly how long each part took. The kernel says how long the thread ran, waited and had no CPU in the
 * whole loop. Samples say where it ran and where it waited, each within its error. So the times of parts and states are
 * those next to the samples whose sums are the records' and the kernel's (iterative proportional fitting).
 */
#pragma once

#include "account/account.h"
#include "base/map.h"
#include "model/steps/steps.h"

/* The parts of a step in which a program in Python calls operators. */
#define DW_PARTS_OF_OPERATORS \
	(1u << DW_SHARE_OPTIMIZER | 1u << DW_SHARE_BACKWARD | 1u << DW_SHARE_FORWARD | 1u << DW_SHARE_OPERATORS)

struct dw_account_part {
	enum dw_iteration_class class;
	enum dw_sample_where where;
	enum dw_share share;
	uint32_t named;                            /* of the share NAMED: the symbol; otherwise DW_NO_INDEX */
	double ns;                                 /* by the records */
	double sampled_ns[DW_ACCOUNT_STATE_COUNT]; /* by samples */
	double state_ns[DW_ACCOUNT_STATE_COUNT];   /* fitted: they sum to ns */
	double joins_ns, work_ns;                  /* waits for other threads; the part of them that would stay if all had equal work */
	double answers_ns;                         /* of sampled_ns of OTHERS: by threads that use descriptors */
	double forks_ns, joined_ns;                /* sampled of forks of the process; of waits for them, what they did meanwhile */
	const struct dw_sample_row *joins;         /* the largest sample of waits for other threads. NULL: there is none */
};

struct dw_account_parts {
	struct dw_account_part *at;
	size_t count, capacity;
	struct dw_map by_key;
	uint32_t merged; /* bits of shares that are one part with the rest: samples cannot tell them apart */
	bool slow_is_steady; /* samples make iterations slow: the class of one says nothing about what the program does */
	bool failed;     /* memory ran out */
};

void dw_account_parts_reset(struct dw_account_parts *parts);
/* Adds the parts of the loop by its records. `python`: its process is a Python program. */
void dw_account_parts_of(struct dw_account_parts *parts, const struct dw_steps *steps, const struct dw_loop *loop,
                         const struct dw_symbol *symbols, bool python);
/* The class of the parts that an iteration of a class is in. */
enum dw_iteration_class dw_account_parts_class(const struct dw_account_parts *parts, enum dw_iteration_class class);
/* Adds a time of which records say nothing. */
void dw_account_parts_add_rest(struct dw_account_parts *parts, enum dw_sample_where where, double ns);
/* The part that a sample lies in. There is at least one. */
struct dw_account_part *dw_account_part_of(struct dw_account_parts *parts, const struct dw_sample_row *row);
/* The index of the part in which a cell lies. */
uint32_t dw_account_part_index(const struct dw_account_parts *parts, const struct dw_account_cell *cell);
/* Whether a cell lies in a part. */
bool dw_account_part_has(const struct dw_account_part *part, const struct dw_account_cell *cell);
/* The states of the iterations of a class, if the kernel says them. */
struct dw_account_margins {
	bool known;
	double ns, state_ns[DW_ACCOUNT_STATE_COUNT]; /* they sum to ns */
};

/* Fits the parts' states. `state_ns`: the sums of the loop. `margins`: of the classes; NULL: none is known.
 * `independent`: how many independent samples show where the thread ran. */
void dw_account_parts_fit(struct dw_account_parts *parts, const double state_ns[DW_ACCOUNT_STATE_COUNT],
                          const struct dw_account_margins *margins, double independent);
