/* What the thread of each step used in it, by the kernel's account. */
#pragma once

#include "model/steps/usage.h"

/* The usage of each step, in the order of dw_model_steps()->steps. NULL: out of memory. */
const struct dw_usage_of *dw_model_step_usages(struct dw_model *model, struct dwell_error *error);
