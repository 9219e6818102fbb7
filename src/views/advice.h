/*
 * What is said of a bottleneck in the overview and in the view that is about it alike:
 * a sentence with its share of a step, and below it what to try.
 */
#ifndef DW_VIEWS_ADVICE_H
#define DW_VIEWS_ADVICE_H

#include "model/loading.h"
#include "views/views.h"

/* From which share of a step on a wait is worth a hint: less is within what a change of
 * batch size or a busy neighbour moves. */
#define DW_ADVICE_SHARE 0.10

/* Of waiting for data (dataloader.c); needs recorded steps. */
void dw_view_advise_data(struct dw_table *table, struct dw_model *model,
                         const struct dw_steps *steps, const struct dw_loading *loading);

#endif
