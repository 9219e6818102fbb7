/* What the kernel says of the iterations of a class. Only for this folder. */
#pragma once

#include "account/parts.h"

/* Sets the margins of the classes but the steady one, and whether these are bounded, from an account whose states and classes are known.
 * `per_cpu`: wall time of a CPU for a ns for which the thread runs. */
void dw_account_find_margins(const struct dw_model *model, struct dw_account *to, const struct dw_steps *steps,
                             const struct dw_loop *loop, double per_cpu, struct dw_account_margins margins[DW_ITERATION_CLASSES]);
