/*
 * Symbols: names merged by content, and what a record's id means to the products.
 */
#ifndef DW_MODEL_CORE_SYMBOLS_H
#define DW_MODEL_CORE_SYMBOLS_H

#include <stdint.h>

struct dw_model;

/* What a record's id means to the products, by file and id: read on the hot path. */
struct dw_op {
	uint32_t row;  /* by name: see dw_model.row_symbols */
	uint32_t kind; /* self excludes children of the same kind; 1..DW_KINDS - 1 */
};
#define DW_KINDS 32u

/* The symbol of what is more than a product keeps apart. */
#define DW_OTHER_CALLS 1u

/* Fills the model's symbols, rows and ops. -1: out of memory. */
int dw_symbols_merge(struct dw_model *model);
/* The kind of ranges of a category. */
uint32_t dw_kind_of(uint32_t category);

#endif
