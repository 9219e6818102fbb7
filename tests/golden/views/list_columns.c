/*
 * Lists what text shows of the columns that views have on traces, which a view's JSON does not say: where a column is
 * hidden, bars, common units; the first cell of the totals; and columns that --sort takes and completions do not offer: none.
 *
 * usage: list_columns TRACE...          a table is listed once; columns that differ between traces are listed all
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dwell/trace.h"
#include "table/table.h"
#include "views/views.h"

#define MOST_LINES 2000

struct list_line {
	char table[64], text[160];
};
static struct list_line lines[MOST_LINES];
static size_t line_count;

/* Inserts a line of a table at this place, if the table does not have it; returns the place behind it. */
static size_t list_put(size_t at, const char *table, const char *text)
{
	for (size_t i = 0; i < line_count; i++)
		if (strcmp(lines[i].table, table) == 0 && strcmp(lines[i].text, text) == 0)
			return i + 1;
	if (line_count == MOST_LINES)
		abort();
	memmove(&lines[at + 1], &lines[at], (line_count++ - at) * sizeof *lines);
	snprintf(lines[at].table, sizeof lines->table, "%s", table);
	snprintf(lines[at].text, sizeof lines->text, "%s", text);
	return at + 1;
}

static void list_column(char *to, size_t size, const struct dw_column *column)
{
	static const char *const units[] = { DW_UNITS(DW_LIST_TEXT) }, *const types[] = { "none", "int", "real", "text" };

	snprintf(to, size, "  %-26s %-22s %s%s%s%s%s%s%s%s", column->name, column->label, types[column->type],
	         *units[column->unit] ? ", " : "", units[column->unit], column->bar ? ", bar" : "",
	         column->one_unit ? ", one unit" : "", column->wide_only ? ", wide only" : "",
	         column->not_narrow ? ", not narrow" : "", column->data_only ? ", data only" : "");
}

/* Whether --sort is said to take the column (dw_view_column()), which completions of shells offer. */
static bool list_is_offered(const struct dw_view *view, const char *column)
{
	const char *name;

	for (size_t i = 0; (name = dw_view_column(view, i)); i++)
		if (strcmp(name, column) == 0)
			return true;
	return false;
}

static void list_table(const struct dw_view *view, const struct dwell_table *table)
{
	char name[64], text[160];
	size_t at = line_count;

	snprintf(name, sizeof name, "%s%s%s", table->view, table->part ? ": " : "", table->part ? table->part : "");
	at = list_put(at, name, name);
	if (table->heads_only || table->summary || table->depths) {
		snprintf(text, sizeof text, "  is:%s%s%s", table->heads_only ? " only sentences" : "",
		         table->summary ? " a summary" : "", table->depths ? " a tree" : "");
		at = list_put(at, name, text);
	}
	for (size_t i = 0; i < table->column_count; i++) {
		list_column(text, sizeof text, &table->columns[i]);
		at = list_put(at, name, text);
	}
	for (size_t i = 0; !table->heads_only && i < table->column_count; i++)
		if (!list_is_offered(view, table->columns[i].name)) {
			snprintf(text, sizeof text, "  not offered to --sort: %.100s", table->columns[i].name);
			at = list_put(at, name, text);
		}
	for (size_t i = 0; table->totals && i < table->column_count; i++)
		if (table->totals[i].type == DW_CELL_TEXT) {
			snprintf(text, sizeof text, "  totals: %.100s", table->totals[i].text);
			at = list_put(at, name, text);
		}
}

static void list_trace(const char *path)
{
	struct dwell_trace *trace;
	struct dwell_error error;

	if (dwell_trace_open(&trace, &path, 1, NULL, &error)) {
		fprintf(stderr, "%s\n", error.message);
		exit(1);
	}
	for (size_t i = 0; dwell_view_name(i, NULL); i++) {
		struct dwell_view_options options = { .size = sizeof options };
		struct dwell_table *table;

		if (dwell_trace_view(trace, dwell_view_name(i, NULL), &options, &table, &error))
			continue;
		for (const struct dwell_table *part = table; part; part = part->next)
			list_table(dw_view_at(i), part);
		dwell_table_destroy(table);
	}
	dwell_trace_close(trace);
}

int main(int count, char **words)
{
	for (int i = 1; i < count; i++)
		list_trace(words[i]);
	for (size_t i = 0; i < line_count; i++)
		puts(lines[i].text);
	return 0;
}
