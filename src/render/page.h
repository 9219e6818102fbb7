/*
 * A page of text: what text.c lays out and text_put.c puts on a terminal.
 */
#ifndef DW_RENDER_PAGE_H
#define DW_RENDER_PAGE_H

#include "render/render.h"

#define DW_PAGE_COLUMNS 64u /* views have fewer */

struct dw_page {
	FILE *file;
	const struct dwell_print_options *options;
	const struct dwell_table *table;
	struct dw_display_column display[DW_PAGE_COLUMNS];
	bool shown[DW_PAGE_COLUMNS];
	unsigned widths[DW_PAGE_COLUMNS];
	unsigned margin, bar_width;
	int bar;            /* the column that is drawn, or -1 */
	double bar_most;
	bool first;         /* part of its answer */
	bool blank_owed;    /* between the rows and a footer, should there be one */
};

void dw_page_style(const struct dw_page *page, const char *code);
void dw_page_spaces(const struct dw_page *page, unsigned count);
/* Columns that a text takes. */
unsigned dw_page_columns(const char *text);
/* The part of `text` that lies in columns from..to - 1. */
void dw_page_text(const struct dw_page *page, const char *text, unsigned from, unsigned to);
/* At most `width` columns: the middle gives way, for both ends of a name tell it.
 * Returns the columns used. */
unsigned dw_page_short(const struct dw_page *page, const char *text, unsigned width);
/* A sentence, broken at blanks where the terminal ends; a hint keeps its indent. The
 * last line's end is the caller's. */
void dw_page_sentence(const struct dw_page *page, const char *text);

#endif
