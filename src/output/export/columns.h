/*
 * Tables as columns in memory, for libraries of data frames: structures of Arrow's C data interface, as dwell/trace.h
 * repeats them. Their memory belongs to whoever got them, until release() is called, and does not depend on the trace.
 *
 * Called by libdwell-read. A column is of whole numbers, of real numbers, or of texts in UTF-8; a cell may have no value.
 */
#pragma once

#include "model/model.h"
#include "table/table.h"

/* The rows of a table. A column's type is the widest of its cells: whole numbers, real numbers, texts. */
int dw_columns_of_table(const struct dwell_table *table, struct ArrowSchema *schema, struct ArrowArray *columns,
                        struct dwell_error *error);

/* Gets some rows of a table. A result that is not 0 ends the walk. */
typedef int dw_columns_each(const char *table, struct ArrowSchema *schema, struct ArrowArray *columns, void *context);

/* Calls `each` for the rows of the table with this name (rows.h), or of all if it is NULL, some thousands at a time. A table
 * without rows is passed on once, empty. With `dictionaries`, columns of names that recur are indices into these rows'
 * different names. Returns the result of `each` that ended it. Errors: DWELL_E_NAME, DWELL_E_NOMEM. */
int dw_columns_of_rows(struct dw_model *model, const char *table, bool dictionaries, dw_columns_each *each, void *context,
                       struct dwell_error *error);
