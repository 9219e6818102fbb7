/*
 * How the steps are computed: for the product of steps_product.c, and for a walk that also computes other
 * products.
 *
 *     dw_steps_begin()   before the walk
 *     ...                the walk, with division.h
 *     dw_steps_end()     after it
 */
#pragma once

#include "model/core/product.h"
#include "model/steps/shares.h"
#include "model/time/threads.h"

struct dw_steps_work {
	struct dw_model *model;
	struct dw_steps *steps;
	struct dw_pace *paces;
	struct dw_pace_step *ticks; /* by step, like steps->steps */
	double *ns_per_tick;        /* by step */
	size_t *from;               /* by step: index of the source's step */
	size_t *order, *first_of;   /* steps_product.c: the source's steps by thread */
	const struct dw_step_classes *classes;
	struct dw_shares shares;
};

/* Prepares the walk; `steps` is zeroed. `threads` NULL: no records are missing. False: out of
 * memory. Call the reset function in any case. */
bool dw_steps_begin(struct dw_steps_work *work, struct dw_model *model, struct dw_steps *steps,
                    const struct dw_threads *threads);
/* Fills `steps`, with the `threads` of dw_steps_begin() or those that the walk found. False: out of memory. */
bool dw_steps_end(struct dw_steps_work *work, const struct dw_threads *threads);
void dw_steps_reset(struct dw_steps_work *work);

/* ---- steps_product.c, for the files below -------------------------------------------------------- */

static inline uint64_t dw_step_length(const struct dw_step *step)
{
	return step->end_ns - step->start_ns;
}
/* Whether no records of the process are missing in the step. *missing: the first hole that can overlap; steps of a
 * process ascend. */
bool dw_step_is_whole(const struct dw_source_step *step, const struct dw_interval **missing);
/* Index of the stream that a thread writes; the source's stream_count: it has no records. */
size_t dw_steps_find_stream(const struct dw_source *source, uint32_t thread);
/* The q-th quantile of an array in ascending order; 0 if it is empty. */
uint64_t dw_steps_quantile(const uint64_t *sorted, size_t count, double q);

/* ---- iteration_times.c ---------------------------------------------------------------------------- */

/* The iterations of `count` steps. -1: out of memory. */
void dw_iterations_set_mean(struct dw_iteration_times *times);
int dw_steps_time_iterations(const struct dw_step *steps, size_t count, struct dw_iteration_times *times);

/* ---- convert.c, loops.c -------------------------------------------------------------------------- */

/* Converts the steps of a pace after the walk, with their shares and parts. -1: out of memory. */
int dw_steps_convert(struct dw_model *model, struct dw_steps *steps, const struct dw_pace *pace);
/* Sums the parts of all counted steps. -1: out of memory. */
int dw_steps_sum_parts(struct dw_model *model, struct dw_steps *steps);
/* The ticks of the pace's wall time that were not recorded; with `partial` only of its steps. */
uint64_t dw_steps_missing_ticks(const struct dw_steps *steps, const struct dw_pace *pace,
                                const struct dw_interval *missing, bool partial);
/* Fills the loop of a pace, after its steps have been converted. -1: out of memory. */
int dw_steps_convert_loop(struct dw_model *model, struct dw_steps *steps, struct dw_pace *pace);
/* Adds a pace's time outside its steps to `ns` and `counts`, which have DW_BESIDE_COUNT entries. */
void dw_steps_convert_besides(struct dw_steps *steps, const struct dw_model *model, const struct dw_pace *pace,
                              uint64_t *ns, uint64_t *counts);
/* Makes the named times outside steps from these sums. -1: out of memory. */
int dw_steps_name_besides(struct dw_model *model, struct dw_steps *steps, const uint64_t *ns, const uint64_t *counts);

/* ---- slow_steps.c ----------------------------------------------------------------------- */

/* When all lengths are known: marks the steps for which the walk collects the time of each row, and those whose operators stand for
 * the loop's. */
void dw_steps_sample(struct dw_steps_work *work);
/* Finds what made slow steps slow. `ticks` and `ns_per_tick` are by step. -1: out of memory. */
int dw_steps_explain(struct dw_model *model, struct dw_steps *steps, const struct dw_pace_step *ticks,
                     const double *ns_per_tick);
