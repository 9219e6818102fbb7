/* Shapes of an operator's arguments as text. */
#pragma once

#include "read/source.h"

enum dw_shapes_style {
	DW_SHAPES_AS_TORCH,   /* "[[2, 3], []]": arguments that are not tensors are "[]" */
	DW_SHAPES_FOR_PEOPLE, /* "float32[2,3], (1,1)": with element types; integers in parentheses */
};
/* The caller frees the text. NULL: out of memory. `shapes` may be NULL. */
char *dw_shapes_text(const struct dw_entry_shapes *shapes, enum dw_shapes_style style);

/* The enum dwell_dtype of a stored argument: integers and truth values are stored with the type DWELL_ARG_INTS. */
uint8_t dw_shapes_type(const uint8_t *argument);

/* Whether both have the same text in PyTorch's form, which has no element types; and a hash that is
 * then the same. NULL has no arguments. */
bool dw_shapes_same_sizes(const struct dw_entry_shapes *a, const struct dw_entry_shapes *b);
uint32_t dw_shapes_hash_sizes(uint32_t seed, const struct dw_entry_shapes *shapes);
