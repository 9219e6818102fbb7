/*
 * A trace as tables: a row for each event, step, sample of a stack, event of a device, thread and so on.
 *
 * Called by formats of tables (sqlite.c, columns.c), which say what becomes of a row. Times are nanoseconds since the
 * start of the run. Of `ranges`, `steps`, `metadata` and `losses` the columns are those that `dwell query` has.
 */
#pragma once

#include "model/model.h"
#include "table/table.h"

enum dw_rows_table { DW_ROWS_RANGES, DW_ROWS_MARKS, DW_ROWS_COUNTERS, DW_ROWS_ALLOCATIONS, DW_ROWS_FLOWS, DW_ROWS_ASYNC,
	                 DW_ROWS_STEPS, DW_ROWS_SAMPLES, DW_ROWS_DEVICE, DW_ROWS_THREADS, DW_ROWS_PROCESSES, DW_ROWS_METADATA,
	                 DW_ROWS_LOSSES, DW_ROWS_RUN, DW_ROWS_TABLES };
#define DW_ROWS_ALL ((1u << DW_ROWS_TABLES) - 1)

#define DW_ROWS_MOST_COLUMNS 12

struct dw_rows_column {
	const char *name;
	enum dw_cell_type type; /* of its cells that have a value */
	bool recurs;            /* few different texts, which remain where they are as long as the model */
};

struct dw_rows_head {
	const char *name;
	struct dw_rows_column columns[DW_ROWS_MOST_COLUMNS + 1]; /* up to one without a name */
};

extern const struct dw_rows_head dw_rows_heads[DW_ROWS_TABLES];
size_t dw_rows_column_count(enum dw_rows_table table);

/* Gets a row with a cell for each column; its texts are valid during the call, and one that is NULL is no value. */
typedef int dw_rows_put(void *context, enum dw_rows_table table, const struct dw_cell *row);

/* Calls `put` for each row of the tables whose bits are in `tables`, in the model's scope. Stops at the first result that
 * is not 0 and returns it. Errors: DWELL_E_NOMEM. */
int dw_rows_walk(struct dw_model *model, unsigned tables, dw_rows_put *put, void *context, struct dwell_error *error);
