/* How the steps are computed: between steps.c, convert.c and slow_steps.c. */
#ifndef DW_MODEL_STEPS_STEPS_BUILD_H
#define DW_MODEL_STEPS_STEPS_BUILD_H

#include "model/steps/shares.h"
#include "model/steps/steps.h"

static inline uint64_t dw_step_length(const struct dw_step *step)
{
	return step->end_ns - step->start_ns;
}
/* Of uint64_t, ascending; the q-th quantile of what is sorted so, 0 of nothing. */
int dw_steps_compare(const void *left, const void *right);
uint64_t dw_steps_quantile(const uint64_t *sorted, size_t count, double q);

/* ---- convert.c -------------------------------------------------------------------------- */

/* The steps of a pace that was walked, with their shares and parts. -1: out of memory. */
int dw_steps_convert(struct dw_model *model, struct dw_steps *steps, const struct dw_pace *pace);
/* The parts of all counted steps. -1: out of memory. */
int dw_steps_sum_parts(struct dw_model *model, struct dw_steps *steps);
/* Of the pace's wall, or with `partial` of its steps alone, the ticks that were not recorded. */
uint64_t dw_steps_missing_ticks(const struct dw_steps *steps, const struct dw_pace *pace,
                                const struct dw_interval *missing, bool partial);
/* Adds a pace's time outside its steps to `ns` and `counts`, DW_BESIDE_COUNT of each. */
void dw_steps_convert_besides(struct dw_steps *steps, const struct dw_model *model,
                              const struct dw_pace *pace, uint64_t *ns, uint64_t *counts);
/* Makes the besides of what was added. -1: out of memory. */
int dw_steps_name_besides(struct dw_model *model, struct dw_steps *steps, const uint64_t *ns,
                          const uint64_t *counts);

/* ---- slow_steps.c ----------------------------------------------------------------------- */

/* Marks those that the walk is to look at closely, when all lengths are known. */
void dw_steps_sample(const struct dw_steps *steps, struct dw_pace_step *ticks);
/* Names what made slow steps slow; `ticks` and `ns_per_tick` by step. -1: out of memory. */
int dw_steps_explain(struct dw_model *model, struct dw_steps *steps,
                     const struct dw_pace_step *ticks, const double *ns_per_tick);

#endif
