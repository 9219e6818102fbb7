/* Functions of recorded call stacks as symbols. */
#pragma once

#include "model/core/model_data.h"

struct dw_functions {
	struct dw_symbol *symbols; /* the model's symbols, then the functions */
	uint32_t symbol_count;
	uint32_t **by_frame;       /* by file, then frame id: index of its first function in `list` */
	uint32_t *list;            /* symbols; the functions of a frame, innermost first */
};
/* Allocates in the model's arena. False: out of memory. */
bool dw_functions_init(struct dw_functions *functions, struct dw_model *model);
