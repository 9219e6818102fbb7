/*
 * Renderers: a table to text, CSV, JSON, Markdown, HTML.
 *
 * A renderer knows tables and nothing else. All tables given are one answer; parts
 * that hang on a table (table->next) come with it. What a renderer could not write
 * shows in the file's error flag, which dw_render() turns into an error.
 */
#ifndef DW_RENDER_RENDER_H
#define DW_RENDER_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "dwell/trace.h"
#include "table/table.h"

struct dw_renderer {
	const char *name; /* "text" */
	const char *what;
	bool for_people;  /* scaled and short; else raw and complete */
	void (*render)(const struct dwell_table *const *tables, size_t count, FILE *file,
	               const struct dwell_print_options *options);
};

/* NULL past the end. */
const struct dw_renderer *dw_renderer_at(size_t index);
/* NULL with the nearest name in `error`. */
const struct dw_renderer *dw_renderer_find(const char *name, struct dwell_error *error);

int dw_render(const struct dw_renderer *renderer, const struct dwell_table *const *tables,
              size_t count, FILE *file, const struct dwell_print_options *options,
              struct dwell_error *error);

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

/* For the renderers: a dw_put into a FILE. */
void dw_render_put(void *file, const char *bytes, size_t length);
/* For machines: with a point, whatever the locale of the program we are in. */
void dw_render_real(FILE *file, double value);

/* ---- cells as people read them (people.c) ------------------------------------------------ */

/* What a column needs to know of its cells: the largest decides a shared unit. */
struct dw_people_column {
	const struct dw_column *column;
	double like_ns;
	double unit_ns; /* of --time-unit; 0: what fits */
	char label[64];
};

void dw_people_column(struct dw_people_column *people, const struct dwell_table *table, size_t column,
                      const struct dwell_print_options *options);
/* Scaled; text as found. `room` is where numbers are written. */
const char *dw_people_cell(const struct dw_people_column *people, const struct dw_cell *cell,
                           char *room, size_t size);
/* "Only steps 10..20, thread main."; false when the scope is everything. */
bool dw_people_scope(const struct dwell_table *table, char *room, size_t size);
/* Sentences that a table owes its reader: coverage, losses, rows left out. The parts of
 * an answer in several tables say these things themselves. */
void dw_people_footer(const struct dwell_table *table, void (*line)(void *to, const char *text),
                      void *to);

#endif
