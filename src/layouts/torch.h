/*
 * The interfaces that the files of the torch layout share: a page of columns, the order of rows.
 *
 *   torch.c        the columns and their values
 *   torch_page.c   text in columns: padded, cut, its width in characters
 *   torch_order.c  the columns by which rows can be sorted
 */
#ifndef DW_LAYOUTS_TORCH_H
#define DW_LAYOUTS_TORCH_H

#include "layouts/layouts.h"
#include "model/time/calls.h"

struct dw_torch_column {
	const char *head;
	unsigned width;
	bool left;
};

struct dw_torch_page {
	FILE *file;
	struct dw_torch_column columns[16];
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
void dw_torch_put_text(const struct dw_torch_page *page, const struct dw_torch_column *column,
                       const char *text);
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

/* ---- torch_order.c ------------------------------------------------------------------ */

/* Whether rows can be sorted by `sort`; an error names the nearest column. */
int dw_torch_check_sort(const char *sort, struct dwell_error *error);

struct dw_torch_row {
	const struct dw_call_row *call;
	double value; /* the value by which it is sorted; 0 without `sort` */
};
/* All rows, the largest value of `sort` first. `sort` must be a known name, or NULL: then the order
 * does not change. The caller frees the result. NULL when out of memory. */
struct dw_torch_row *dw_torch_order(const struct dw_calls *calls, const char *sort);

#endif
