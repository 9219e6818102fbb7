/*
 * Renderers: a table to text, CSV, JSON, Markdown, HTML.
 *
 * A renderer sees tables and nothing else. The tables given are one answer; each is printed
 * with the parts after it (table->next). A failed write sets the file's error flag, which
 * dw_render() turns into an error.
 */
#pragma once

#include "table/table.h"

struct dw_renderer {
	const char *name; /* "text" */
	const char *what;
	bool is_scaled;   /* values are scaled and few rows shown; otherwise raw values and all rows */
	void (*render)(const struct dwell_table *const *tables, size_t count, FILE *file,
	               const struct dwell_print_options *options);
};

/* The renderers in their order, the default first; NULL past the end. */
const struct dw_renderer *dw_renderer_at(size_t index);
/* Returns NULL, and names the nearest format in `error`, if there is none. */
const struct dw_renderer *dw_renderer_find(const char *name, struct dwell_error *error);

int dw_render(const struct dw_renderer *renderer, const struct dwell_table *const *tables,
              size_t count, FILE *file, const struct dwell_print_options *options, struct dwell_error *error);

void dw_render_text(const struct dwell_table *const *tables, size_t count, FILE *file,
                    const struct dwell_print_options *options);
void dw_render_csv(const struct dwell_table *const *tables, size_t count, FILE *file,
                   const struct dwell_print_options *options);
void dw_render_json(const struct dwell_table *const *tables, size_t count, FILE *file,
                    const struct dwell_print_options *options);
void dw_render_markdown(const struct dwell_table *const *tables, size_t count, FILE *file,
                        const struct dwell_print_options *options);
void dw_render_html(const struct dwell_table *const *tables, size_t count, FILE *file,
                    const struct dwell_print_options *options);

/* For the renderers: dw_put for a FILE. */
void dw_render_put(void *file, const char *bytes, size_t length);
/* Writes a text as part of a line of Markdown: what has a meaning there is escaped. */
void dw_render_markdown_text(FILE *file, const char *text);
/* For CSV and JSON: writes a number with a point, whatever the program's locale. */
void dw_render_real(FILE *file, double value);

/* ---- cells of the scaled formats (display.c) ---------------------------------------------- */

/* NAN: the cell has no number. */
double dw_display_number(const struct dw_cell *cell);

/* How a column is displayed. If its cells share a unit, the largest of them decides it. */
struct dw_display_column {
	const struct dw_column *column;
	double like_ns; /* with a shared unit: a duration with this unit; otherwise 0 */
	double unit_ns; /* of --time-unit, or 0 */
	char label[64];
};

void dw_display_column(struct dw_display_column *display, const struct dwell_table *table,
                       size_t column, const struct dwell_print_options *options);
/* The cell's text: its own, or a scaled number, which is written to `buffer`. */
const char *dw_display_cell(const struct dw_display_column *display, const struct dw_cell *cell,
                            char *buffer, size_t size);
/* Writes "Only steps 10..20, thread main, rows named aten::*."; false if the scope is the whole trace. */
bool dw_display_scope(const struct dwell_table *table, char *buffer, size_t size);
/* Writes a table: each sentence by `line`, the rows by `rows`. */
void dw_display_part(const struct dwell_table *table, void (*line)(void *to, const struct dw_line *line),
                     void (*rows)(FILE *file, const struct dwell_table *table, const struct dwell_print_options *options),
                     FILE *file, const struct dwell_print_options *options);
/* Calls `line` for each sentence below a table: coverage, losses, rows that were omitted. Tables
 * that are parts of an answer have these sentences among their own notes. */
void dw_display_footer(const struct dwell_table *table, void (*line)(void *to, const struct dw_line *line), void *to);
