/*
 * The interfaces that the files of the torch layout share: a page of columns, the order of rows.
 *
 *   torch.c        the columns and their values
 *   torch_page.c   text in columns: padded, cut, its width in characters
 *   torch_rows.c   the rows
 *   torch_order.c  the columns by which rows can be sorted
 */
#pragma once

#include "layouts/layouts.h"
#include "model/time/calls.h"

struct dw_torch_column {
	const char *head;
	unsigned width;
	bool left;
};

struct dw_torch_page {
	FILE *file;
	struct dw_torch_column columns[20];
	size_t column_count;
};

/* The layout itself (torch.c), which lightning-pytorch prints for each action. */
int dw_torch_print(struct dw_model *model, const struct dw_layout_request *request, FILE *file,
                   struct dwell_error *error);

/* ---- torch_page.c ------------------------------------------------------------------- */

void dw_torch_add_column(struct dw_torch_page *page, const char *head, unsigned width, bool left);
/* The number of bytes of the first `length` characters. */
size_t dw_torch_bytes(const char *text, size_t bytes, size_t length);

/* Prints a cell and two blanks. A text that is too long makes the line longer. */
void dw_torch_put_cell(const struct dw_torch_page *page, const struct dw_torch_column *column,
                       const char *text, size_t bytes);
void dw_torch_put_text(const struct dw_torch_page *page, const struct dw_torch_column *column, const char *text);
/* A name of limit - 3 characters or more is cut at its end: "aten::a_very_long..." */
void dw_torch_put_name(const struct dw_torch_page *page, const struct dw_torch_column *column,
                       const char *name, unsigned limit);
/* A text wider than the column is cut at its beginning: "...modules/conv.py(454): forward" */
void dw_torch_put_source(const struct dw_torch_page *page, const struct dw_torch_column *column,
                         const char *text, size_t bytes);

/* Prints a line of `c` over all columns; a line of dashes for each column; the heads of the columns
 * between two such lines. */
void dw_torch_put_line(const struct dw_torch_page *page, char c);
void dw_torch_put_separator(const struct dw_torch_page *page);
void dw_torch_put_heads(const struct dw_torch_page *page);

/* ---- torch_rows.c ------------------------------------------------------------------- */

struct dw_torch_row {
	const struct dw_call_row *call; /* of an event of a device: only name, count and first */
	uint64_t self_device_ns, device_ns; /* as in PyTorch, a call within a call of its row counts
	                                     * too */
	bool on_device;    /* the row is of events of a device */
	bool annotation;   /* these are the program's annotations */
	double value;      /* the value by which it is sorted */
	size_t place;
};

struct dw_torch_rows {
	struct dw_torch_row *rows; /* in the order of their first calls */
	size_t count;
	uint64_t device_ns;        /* sum over events of devices; annotations count in 1.13 only */
	bool has_device;           /* some event of a device took time */
	struct dw_call_row *events;
};

/* All rows of `calls`, which were requested by `ask`; with all_ranges also those of events of
 * devices; `old`: those of PyTorch 1.13. Reset zeroed rows in any case. */
int dw_torch_rows_make(struct dw_torch_rows *rows, struct dw_model *model,
                       const struct dw_calls *calls, const struct dw_calls_ask *ask, bool old,
                       struct dwell_error *error);
void dw_torch_rows_reset(struct dw_torch_rows *rows);

/* ---- torch_order.c ------------------------------------------------------------------ */

/* Whether rows can be sorted by `sort`; an error names the nearest column. */
int dw_torch_check_sort(const char *sort, struct dwell_error *error);
/* Sorts the rows: the largest value of `sort` first, equal ones in their order. `sort` must be a known
 * name, or NULL: then the order does not change. */
void dw_torch_order(struct dw_torch_rows *rows, const char *sort);
