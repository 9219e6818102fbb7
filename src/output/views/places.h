/*
 * Places: the file and line at which a program names a range.
 *
 * C's macros store them; other ranges have none. A row of a view stands for all ranges of one category
 * and name, so it can have several places. A view calls dw_view_places_take() after each row that it
 * fills, and dw_view_places_finish() at the end. If any row has a place, the table gets the columns
 * `place` ("conv.c:120", "conv.c:120 and 2 more") and `file` (with its folder, only in data). Otherwise
 * the table stays as it is. If all names have one place, it tells no row apart: then it is only in data.
 */
#pragma once

#include "views/common.h"

struct dw_view_places {
	struct dw_model *model;
	struct {
		uint32_t symbol; /* the first one with a place */
		uint32_t count;  /* of its places */
	} *of;               /* by row of symbols; NULL: no symbol has a place */
	uint32_t *rows;      /* by row of the table: its row of symbols, or DW_NO_INDEX */
	size_t row_count, row_capacity;
	bool failed;         /* memory ran out */
};

void dw_view_places_init(struct dw_view_places *places, struct dw_model *model);
/* The last row of the table is of this symbol; DW_NO_INDEX: of none. */
void dw_view_places_take(struct dw_view_places *places, const struct dwell_table *table, uint32_t symbol);
/* Adds the columns and frees the memory. */
void dw_view_places_finish(struct dw_view_places *places, struct dwell_table *table);
extern const struct dw_column_list dw_view_places_columns;
