/*
 * Symbols: names merged by content, with the row and kind of each id.
 */
#pragma once

#include <stdint.h>

struct dw_model;

/* Row and kind of a record's id, by file and id. Read for every record. */
struct dw_op {
	uint32_t row;  /* row in the profile by name: see dw_model.row_symbol */
	uint32_t kind; /* self time excludes children of the same kind; 1..DW_KINDS - 1 */
};
#define DW_KINDS 32u

/* The symbol "(other calls)", for what exceeds a product's limit. */
#define DW_OTHER_CALLS 1u

/* Computes the model's symbols, rows and ops. -1: out of memory. */
int dw_symbols_merge(struct dw_model *model);
/* Returns the kind of ranges of a category. */
uint32_t dw_kind_of(uint32_t category);
