/* What is said of the start and the end of a run, for the view verdict and the overview. */
#pragma once

#include "rules/rules.h"
#include "views/common.h"

/* Whether the report says what the start or the end of the run takes: if the loop is less than half of the run, and the run does not
 * stand still. The start is compared without its imports, which no program can make shorter: if it is less than a large cause in the
 * loop, it is said after that cause. ends.c. */
enum dw_view_ends { DW_VIEW_ENDS_NOT, DW_VIEW_ENDS_FIRST, DW_VIEW_ENDS_AFTER };
enum dw_view_ends dw_view_says_ends(struct dw_model *model, const struct dw_verdicts *verdicts);
/* Says what the start takes, if this is its place; returns whether it is. */
bool dw_view_head_ends(struct dwell_table *table, struct dw_model *model, const struct dw_verdicts *verdicts, enum dw_view_ends when);
