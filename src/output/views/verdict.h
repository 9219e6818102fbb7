/* What the rules say, for the view verdict and the first lines of the overview. */
#pragma once

#include "rules/rules.h"
#include "views/common.h"

/* The verdicts on the model's main loop. The texts live in `arena`. Returns -1 if out of memory. */
int dw_view_judge(struct dw_model *model, struct dw_arena *arena, struct dw_verdicts *verdicts,
                  struct dwell_error *error);

/* Puts the first `most` verdicts above the table, with what to try, and the bound of their gains
 * together. The loop is displayed like `like_ns`. */
void dw_view_head_verdicts(struct dwell_table *table, const struct dw_verdicts *verdicts, size_t most, double like_ns);
