/* Steps from inside: between steps.c and steps_slow.c. */
#ifndef DW_MODEL_STEPS_INSIDE_H
#define DW_MODEL_STEPS_INSIDE_H

#include "model/shares.h"

static inline uint64_t dw_step_length(const struct dw_step *step)
{
	return step->end_ns - step->start_ns;
}
/* Of uint64_t, ascending; the q-th quantile of what is sorted so, 0 of nothing. */
int dw_steps_compare(const void *left, const void *right);
uint64_t dw_steps_quantile(const uint64_t *sorted, size_t count, double q);

/* Marks those that the walk is to look at closely, when all lengths are known. */
void dw_steps_sample(const struct dw_steps *steps, struct dw_pace_step *ticks);
/* Names what made slow steps slow; `ticks` and `ns_per_tick` by step. -1: out of memory. */
int dw_steps_explain(struct dw_model *model, struct dw_steps *steps,
                     const struct dw_pace_step *ticks, const double *ns_per_tick);

#endif
