/* The tables that a query finds: query.c runs it, tables.c and ranges.c make the tables. Only for this folder. */
#pragma once

#include "model/model.h"

struct sqlite3;
/* Both return a code of SQLite. */
int dw_query_add_tables(struct sqlite3 *database, struct dw_model *model);
int dw_query_add_ranges(struct sqlite3 *database, struct dw_model *model);
/* The name of the table at `index` of tables.c; NULL past the end. */
const char *dw_query_table_name(size_t index);
