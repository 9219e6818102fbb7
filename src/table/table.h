/*
 * A table: what a view answers with and all that a renderer knows.
 *
 * Values are raw: nanoseconds, bytes, ratios from 0 to 1, counts. Only the text
 * renderer scales them, by the column's unit. A cell that has no value is
 * DW_CELL_NONE (text: blank, CSV: empty, JSON: null). Views fill a table,
 * renderers read it; neither knows the other. All memory of a table belongs to
 * its arena and dies with dw_table_destroy().
 */
#ifndef DW_TABLE_TABLE_H
#define DW_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum dw_unit {
	DW_UNIT_NONE,  /* text, ids, plain numbers */
	DW_UNIT_COUNT, /* a number of things */
	DW_UNIT_NS,    /* a duration or a moment since the trace's start */
	DW_UNIT_BYTES,
	DW_UNIT_RATIO, /* 0 to 1; printed as a percentage */
	DW_UNIT_PER_SECOND,
};

enum dw_cell_type { DW_CELL_NONE, DW_CELL_INT, DW_CELL_REAL, DW_CELL_TEXT };

struct dw_cell {
	enum dw_cell_type type;
	union {
		int64_t integer;
		double real;      /* NaN and infinities are written as null */
		const char *text; /* UTF-8 as found; renderers escape */
	};
};

struct dw_column {
	const char *name;       /* what --sort and JSON call it: "self_ns" */
	const char *label;      /* what people read: "Self" */
	enum dw_unit unit;
	enum dw_cell_type type; /* of its cells, DW_CELL_NONE aside */
	bool bar;               /* text on a terminal may draw the value beside it */
	bool wide_only;         /* text leaves it out when the terminal is narrow */
};

struct dw_loss_line {
	const char *cause;
	uint64_t records;
};

struct dw_table {
	struct dw_arena arena;
	const char *view;          /* "operators" */
	const char *title;         /* a line above it in text, or NULL */
	struct dw_column *columns;
	size_t column_count;
	struct dw_cell *cells;     /* row after row */
	size_t row_count, row_capacity;
	int *depths;               /* of each row in a tree, or NULL: text indents the first column */
	struct dw_cell *totals;    /* one row, or NULL */
	const char **notes;        /* sentences below the table */
	size_t note_count;
	const char **heads;        /* sentences above the table: an overview's prose */
	size_t head_count;
	struct dw_loss_line *losses;
	size_t loss_count;
	double coverage;           /* share of the asked time that was recorded, 0 to 1 */
	size_t rows_cut;           /* rows that --limit left out */
	const char *steps;         /* scope: "10..20", or NULL */
	const char *thread;        /* scope, or NULL */
	const char **traces;       /* the files read */
	size_t trace_count;
};

/* Columns are copied (their texts are not: static). NULL when out of memory. */
struct dw_table *dw_table_create(const char *view, const struct dw_column *columns, size_t count);
void dw_table_destroy(struct dw_table *table);

/* Adds a row of DW_CELL_NONE cells and returns it; valid until the next row. */
struct dw_cell *dw_table_row(struct dw_table *table, int depth);
struct dw_cell *dw_table_totals(struct dw_table *table);

void dw_cell_int(struct dw_cell *cell, int64_t value);
void dw_cell_real(struct dw_cell *cell, double value);
void dw_cell_text(struct dw_table *table, struct dw_cell *cell, const char *text); /* copies */

void dw_table_note(struct dw_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dw_table_head(struct dw_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* -1: no such column. */
int dw_table_column(const struct dw_table *table, const char *name);

/* Stable; numbers descend, texts ascend; rows of a tree stay with their parents. */
void dw_table_sort(struct dw_table *table, size_t column);
void dw_table_limit(struct dw_table *table, size_t rows);

#endif
