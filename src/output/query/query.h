/*
 * Questions in SQL about a trace: virtual tables of SQLite over a model.
 *
 * Each view is a table with the columns that CSV has; it is computed when a statement first names it.
 * Further tables are steps, metadata and losses. `ranges` has a row for each recorded range; its
 * rows are decoded chunk by chunk while SQLite asks for them, so that nothing is copied. Conditions
 * on its step, thread and start narrow what is decoded.
 */
#pragma once

#include "model/model.h"
#include "table/table.h"

#define DW_QUERY_MOST_ROWS 1000000u /* of a result, which is in memory */

/* Runs one statement. ".schema" lists the tables and their columns. The caller destroys the table.
 * Errors: DWELL_E_ARGUMENT for bad SQL, with its place; DWELL_E_NO_DATA; DWELL_E_NOMEM. */
int dw_query_run(struct dw_model *model, const char *sql, struct dwell_table **table, struct dwell_error *error);
