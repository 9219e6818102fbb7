/* Functions of recorded call stacks as symbols. */
#ifndef DW_MODEL_CORE_STACK_FUNCTIONS_H
#define DW_MODEL_CORE_STACK_FUNCTIONS_H

#include "model/core/model_data.h"

struct dw_functions {
	struct dw_symbol *symbols; /* first those of the model */
	uint32_t **by_frame;       /* by file, then frame id: where its functions begin in `list` */
	uint32_t *list;            /* symbols, a frame's innermost first */
};
/* In the model's arena; false when out of memory. */
bool dw_functions_init(struct dw_functions *functions, struct dw_model *model);

#endif
