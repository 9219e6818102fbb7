/* The call tree, for call_tree.c (the products) and call_tree_walk.c (the pass). */
#ifndef DW_MODEL_TIME_CALL_TREE_H
#define DW_MODEL_TIME_CALL_TREE_H

#include "model/core/model_data.h"
#include "model/core/stack_functions.h"
#include "model/time/call_sums.h"
#include "model/time/profiles.h"

/* Adds the ranges of all streams to `whole`: by call path, or if `functions` is given by recorded
 * stack. False: out of memory. Reset `whole` afterwards in any case. */
bool dw_tree_walk(struct dw_model *model, const struct dw_functions *functions,
                  struct dw_call_sums *whole, bool *has_stacks);

#endif
