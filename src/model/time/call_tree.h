/* The call tree, for call_tree.c (the products) and call_tree_walk.c (the pass). */
#ifndef DW_MODEL_TIME_CALL_TREE_H
#define DW_MODEL_TIME_CALL_TREE_H

#include "model/core/model_data.h"
#include "model/core/call_paths.h"
#include "model/core/stack_functions.h"
#include "model/time/profiles.h"

#define DW_TREE_DEEPEST DW_TRUNK_DEEPEST
#define DW_TREE_NODES (1u << 16) /* most nodes of a worker's tree */
#define DW_TREE_PATHS (1u << 22) /* most paths of a picture, of 32 bytes each */

/* Fills `whole`, whose limits are set, from all streams: by calls, or with `functions` by recorded
 * stacks. False: out of memory. Reset `whole` in any case. */
bool dw_tree_walk(struct dw_model *model, const struct dw_functions *functions,
                  struct dw_trunk *whole, bool *has_stacks);

#endif
