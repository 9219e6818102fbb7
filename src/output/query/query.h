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

#define DW_QUERY_MOST_ROWS 1000000u      /* of a result, which is in memory */
#define DW_QUERY_MOST_BYTES (200u << 20) /* of a result with what SQLite needs for it; half of it for either */
#define DW_QUERY_MS 5000u                /* what callers allow if nobody says otherwise: a statement may run without end */

/* Runs one statement for at most `most_ms`; 0: for any time. ".schema" lists the tables and their columns. The caller destroys the
 * table. Errors: DWELL_E_ARGUMENT for bad SQL, with its place, and for what takes too much time or memory; DWELL_E_NO_DATA;
 * DWELL_E_NOMEM. */
int dw_query_run(struct dw_model *model, const char *sql, uint64_t most_ms, struct dwell_table **table, struct dwell_error *error);
