/*
 * A table: the answer of a view, and all that a renderer sees.
 *
 * Values are raw: nanoseconds, bytes, ratios from 0 to 1, counts. Only the scaled formats
 * (text, Markdown, HTML) convert them, by the unit of the column. A cell without a value is
 * DW_CELL_NONE (text: blank, CSV: empty, JSON: null). Views fill a table and renderers read it;
 * neither includes the other. An answer of several parts is a chain of tables.
 * dw_table_destroy() frees all memory of a table.
 *
 * A view need not check for errors while it fills a table. If memory is out, `failed` is set and
 * further rows go to a spare row; dw_view_run() checks `failed` once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "dwell/trace.h"

/* X(name, what JSON calls it) */
#define DW_UNITS(X)                                                               \
	X(NONE, "")             /* text, ids, plain numbers */                        \
	X(COUNT, "count")       /* a number of things */                              \
	X(NS, "ns")             /* a duration, or a time since the trace's start */   \
	X(BYTES, "bytes")                                                             \
	X(RATIO, "ratio")       /* 0 to 1, displayed as a percentage */               \
	X(TIMES, "times")       /* a factor, displayed as "3.9x" */                   \
	X(PER_SECOND, "1/s")

enum dw_unit {
#define X(name, label) DW_UNIT_##name,
	DW_UNITS(X)
#undef X
};

enum dw_cell_type { DW_CELL_NONE, DW_CELL_INT, DW_CELL_REAL, DW_CELL_TEXT };

struct dw_cell {
	enum dw_cell_type type;
	union {
		int64_t integer;
		double real;      /* NaN and infinities are written as null */
		const char *text; /* UTF-8 as recorded; renderers escape it */
	};
};

/* What the totals have in a column. */
enum dw_total {
	DW_TOTAL_NONE,
	DW_TOTAL_SUM, /* the sum of the rows' cells */
	DW_TOTAL_OWN, /* the cell of the row that dw_table_put_totals() is given */
};

/* A member of the struct that a view fills for a row. No value is DW_EMPTY, NULL, NAN, DW_NO_NUMBER, UINT32_MAX. */
struct dw_member {
	enum { DW_MEMBER_NONE, DW_MEMBER_CELL, DW_MEMBER_TEXT, DW_MEMBER_DOUBLE, DW_MEMBER_U64, DW_MEMBER_U32 } type;
	unsigned offset, row_size;
};
#define DW_NO_NUMBER UINT64_MAX

struct dw_column {
	const char *name;       /* in --sort, CSV and JSON: "self_ns" */
	const char *label;      /* in text, Markdown and HTML: "self" */
	enum dw_unit unit;
	enum dw_cell_type type; /* of its cells that are not DW_CELL_NONE */
	bool bar;               /* text on a terminal may draw a bar next to the value */
	bool wide_only;         /* text omits the column if the terminal is narrow */
	bool not_narrow;        /* text omits the column if those with wide_only were not enough */
	bool one_unit;          /* all durations are displayed in one unit: parts of a whole */
	bool unit_of_left;      /* the same unit as the column to its left: two sides of a comparison */
	bool data_only;         /* only CSV and JSON have the column */
	/* What follows is for dw_table_choose() and dw_table_put(). */
	unsigned only;          /* the table has the column if it has all these bits */
	unsigned text_only;     /* otherwise data_only */
	struct dw_member member;                      /* the cell is a member of the row, */
	struct dw_cell (*cell)(const void *row);      /* or what this makes of the row */
	enum dw_total total;
	const char *sums;       /* of a share: the column whose cells it is a part of the whole of; NULL: of no column */
	const char *of;         /* of a share without `sums`, whose label does not say so: what it is of; NULL: the label says it */
	const char *total_text; /* "all operators" */
};

/* The columns that a table can have. */
struct dw_column_list {
	const struct dw_column *at;
	size_t count;
};
#define DW_COLUMN_LIST(columns) { columns, sizeof(columns) / sizeof *(columns) }

/* DW_COLUMN("self_ns", "self", NS, INT, .bar = true) */
#define DW_COLUMN(name_, label_, unit_, type_, ...)                                      \
	{ .name = name_, .label = label_, .unit = DW_UNIT_##unit_, .type = DW_CELL_##type_,  \
	  __VA_ARGS__ }

/*
 * A column of a table whose rows are structs. It is one line in one list, and its cell is found by name:
 *
 *     struct pace_row { uint64_t steps; double mean_ns; };
 *
 *     static const struct dw_column pace_columns[] = {
 *         DW_FIELD(struct pace_row, steps, "steps", COUNT, INT, .total = DW_TOTAL_SUM),
 *         DW_FIELD(struct pace_row, mean_ns, "a step", NS, REAL),
 *         DW_COLUMN("rate", "steps/s", PER_SECOND, REAL, .cell = pace_rate),
 *     };
 *
 *     table = dw_table_choose("pace", pace_columns, 3, 0);
 *     DW_TABLE_PUT(table, 0, struct pace_row, .steps = 4, .mean_ns = 2e7);
 *
 * DW_FIELD_AS() is for a member with another name than the column: stat.self_ns.
 */
#define DW_FIELD(row, member_, label_, unit_, type_, ...) \
	DW_FIELD_AS(row, member_, #member_, label_, unit_, type_, __VA_ARGS__)
#define DW_FIELD_AS(row, member_, name_, label_, unit_, type_, ...)                       \
	{ .name = name_, .label = label_, .unit = DW_UNIT_##unit_, .type = DW_CELL_##type_,  \
	  .member = { DW_MEMBER_TYPE(((row *)0)->member_), offsetof(row, member_), sizeof(row) }, __VA_ARGS__ }
#define DW_MEMBER_TYPE(member) _Generic((member), struct dw_cell: DW_MEMBER_CELL, const char *: DW_MEMBER_TEXT,     \
	                                    double: DW_MEMBER_DOUBLE, uint64_t: DW_MEMBER_U64, uint32_t: DW_MEMBER_U32)

/* Values of cells. A text is copied; NULL is no value. */
#define DW_INT(value) ((struct dw_cell){ .type = DW_CELL_INT, .integer = (int64_t)(value) })
#define DW_REAL(value) ((struct dw_cell){ .type = DW_CELL_REAL, .real = (double)(value) })
#define DW_STRING(value) ((struct dw_cell){ .type = DW_CELL_TEXT, .text = (value) })
#define DW_EMPTY ((struct dw_cell){ .type = DW_CELL_NONE })
/* The share of a part; no value if the whole is 0. */
#define DW_PART(part, whole) ((whole) ? DW_REAL((double)(part) / (double)(whole)) : DW_EMPTY)

/*
 * What a sentence above or below a table is for. X(name, word, mark): text, Markdown and HTML print the word in front of
 * the sentence; the sentence itself, as JSON has it, begins with the mark.
 */
#define DW_LABELS(X)                                                                     \
	X(NONE, "", "")           /* the renderer only prints the sentence */                \
	X(REST, "", "")           /* it belongs to the labelled one before it */             \
	X(STOP, "STOP", "")       /* the run failed, or stands still */                      \
	X(RISK, "RISK", "")       /* a danger to the run, as a full memory */                                 \
	X(SLOW, "SLOW", "")       /* what takes longer than necessary */                     \
	X(WORK, "WORK", "")       /* work of the program; whether it can be less is not known */ \
	X(ALSO, "ALSO", "")       /* a chance, or what else is known */                      \
	X(TRY, "TRY", "  -> ")    /* what to do about the sentence before it */              \
	X(LOOK, "LOOK", "  -> ")  /* the command that shows the evidence */                  \
	X(ALL, "ALL", "All of this ") /* what the remedies together can save */                 \
	X(NOTE, "NOTE", "")                                                                  \
	X(TRUST, "Trust:", "Trust: ") /* what the figures rest on */                         \
	X(NEXT, "Next:", "Next: ")    /* the commands to go on with */

enum dw_label {
#define X(name, word, mark) DW_LABEL_##name,
	DW_LABELS(X)
#undef X
};

struct dw_line {
	enum dw_label label;
	const char *text; /* begins with the label's mark */
};

/* The sentence without the mark. */
const char *dw_line_words(const struct dw_line *line);
const char *dw_label_word(enum dw_label label);

struct dw_loss_line {
	const char *cause;
	uint64_t records;
	const char *why; /* "the disk was full" */
};

struct dwell_table {
	struct dw_arena arena;
	const char *view;          /* "operators" */
	const char *part;          /* of an answer in several tables: "breakdown"; otherwise NULL */
	struct dwell_table *next;     /* the next part, destroyed with this one; or NULL */
	bool heads_only;           /* the heads contain everything: text and Markdown omit the rows */
	bool screen;               /* a part of the first screen: where the output is no terminal, text fits it into 80 columns */
	bool summary;              /* it summarizes the next part: CSV omits it */
	bool failed;               /* memory ran out: the table is not complete */
	struct dw_column *columns;
	size_t column_count;
	struct dw_cell *cells;     /* row after row */
	size_t row_count, row_capacity;
	size_t rows_shown;         /* text, Markdown and HTML have at most these rows, unless there are totals; 0: all */
	int *depths;               /* of each row in a tree: text indents the first column; or NULL */
	struct dw_cell *totals;    /* one row, or NULL */
	struct dw_cell *spare;     /* the row that is filled after memory ran out */
	struct dw_line *notes;     /* sentences below the table */
	size_t note_count, note_capacity;
	struct dw_line *heads;     /* sentences above the table */
	size_t head_count, head_capacity;
	struct dw_loss_line *losses;
	size_t loss_count;
	const char **gaps;         /* what else is not recorded: "1.2 s of 1.5 s of CPU time: ..." */
	size_t gap_count, gap_capacity;
	double coverage;           /* recorded share of the time in scope, 0 to 1 */
	size_t rows_cut;           /* rows omitted by --limit */
	const char *steps;         /* scope: "10..20", or NULL */
	const char *thread;        /* scope, or NULL */
	const char *profile;       /* scope, or NULL */
	const char *action;        /* scope, or NULL */
	const char *time;          /* scope: "1.5s..2s", or NULL */
	const char *name;          /* only rows of this name: a pattern, or NULL */
	const char *min_duration;  /* only rows of at least this time: "1ms", or NULL */
	const char **traces;       /* the files read */
	size_t trace_count;
};

/* Copies the columns but not their texts, which must be static. NULL if memory is out. */
struct dwell_table *dw_table_create(const char *view, const struct dw_column *columns, size_t count);
void dw_table_destroy(struct dwell_table *table); /* and the parts after it */

/* Like dw_table_create(), of the columns that a table with the bits `has` has. */
struct dwell_table *dw_table_choose(const char *view, const struct dw_column *columns, size_t count, unsigned has);
/* Adds a row, whose columns find their cells in `row`: the struct of the table's columns. */
void dw_table_put(struct dwell_table *table, int depth, const void *row, size_t row_size);
#define DW_TABLE_PUT(table, depth, row, ...) dw_table_put(table, depth, &(const row){ __VA_ARGS__ }, sizeof(row))
/* Fills the totals from all rows of the table, and from `row` where a column has DW_TOTAL_OWN. */
void dw_table_put_totals(struct dwell_table *table, const void *row, size_t row_size);
#define DW_TABLE_PUT_TOTALS(table, row, ...) dw_table_put_totals(table, &(const row){ __VA_ARGS__ }, sizeof(row))

/* Adds a row of DW_CELL_NONE cells and returns it, never NULL; valid until the next row is added.
 * `depth` is its depth in a tree, or 0. */
struct dw_cell *dw_table_row(struct dwell_table *table, int depth);
struct dw_cell *dw_table_totals(struct dwell_table *table);
/* Adds columns after the others; their cells are empty in the rows that the table has, and in its totals. A
 * pointer to a row is no longer valid. */
void dw_table_add_columns(struct dwell_table *table, const struct dw_column *columns, size_t count);
/* The column with this name, which the table must have. */
struct dw_column *dw_table_named(const struct dwell_table *table, const char *name);
static inline size_t dw_table_rows_shown(const struct dwell_table *table)
{
	return table->rows_shown && !table->totals && table->rows_shown < table->row_count ? table->rows_shown : table->row_count;
}

static inline struct dw_cell *dw_table_at(const struct dwell_table *table, size_t row)
{
	return table->cells + row * table->column_count;
}

/* The row's cell in the column with this name, which the table must have. */
static inline struct dw_cell *dw_table_cell(const struct dwell_table *table, size_t row, const char *name)
{
	return &dw_table_at(table, row)[dw_table_named(table, name) - table->columns];
}

static inline void dw_cell_int(struct dw_cell *cell, int64_t value)
{
	cell->type = DW_CELL_INT;
	cell->integer = value;
}
static inline void dw_cell_real(struct dw_cell *cell, double value)
{
	cell->type = DW_CELL_REAL;
	cell->real = value;
}
void dw_cell_text(struct dwell_table *table, struct dw_cell *cell, const char *text); /* copies */

/* Add a sentence above the table, or below it. */
void dw_table_say(struct dwell_table *table, enum dw_label label, const char *format, ...) __attribute__((format(printf, 3, 4)));
void dw_table_say_below(struct dwell_table *table, enum dw_label label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same without a label. */
void dw_table_note(struct dwell_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dw_table_head(struct dwell_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dw_table_gap(struct dwell_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The index of the column with this name, or -1. */
int dw_table_column(const struct dwell_table *table, const char *name);

/* What the shares of this column are of, in the unit of the column that it sums. NaN: no row has a share. */
double dw_table_whole(const struct dwell_table *table, const struct dw_column *column);

/* By the column with this name, which the table must have. */
void dw_table_sort_by(struct dwell_table *table, const char *name);
/* A stable sort: numbers descending, texts ascending, empty cells last. Rows of a tree stay with
 * their parents. */
void dw_table_sort(struct dwell_table *table, size_t column);
/* Keeps the rows for which `keep` is true, and in a tree the parents of each; returns how many were
 * removed. */
size_t dw_table_keep(struct dwell_table *table, const bool *keep);
/* Keeps the first rows. In a tree these include the parents of each. */
void dw_table_limit(struct dwell_table *table, size_t rows);
