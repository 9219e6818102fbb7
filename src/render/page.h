/* A page of text: text.c computes its layout, text_put.c prints it. */
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
	int bar;            /* index of the column with bars, or -1 */
	double bar_most;
	bool first;         /* it is the first part of its answer */
	bool blank_owed;    /* print a blank line between the rows and the footer, if there is a
	                     * footer */
};

void dw_page_style(const struct dw_page *page, const char *code);
void dw_page_spaces(const struct dw_page *page, unsigned count);
/* Returns the number of terminal columns that a text needs. */
unsigned dw_page_columns(const char *text);
/* Prints the part of `text` in columns from..to - 1. */
void dw_page_text(const struct dw_page *page, const char *text, unsigned from, unsigned to);
/* Prints at most `width` columns. The middle of a longer text is omitted, because both ends
 * identify a name. Returns the number of columns used. */
unsigned dw_page_short(const struct dw_page *page, const char *text, unsigned width);
/* Prints a sentence, broken at blanks to the width of the terminal; a hint keeps its indent. The
 * caller ends the last line. */
void dw_page_sentence(const struct dw_page *page, const char *text);

#endif
