/*
 * CSV as defined by RFC 4180: CRLF, quotes where needed, raw values.
 *
 * Totals, notes and sentences are omitted: a total among its parts would be included in every sum
 * over the column. A part that summarizes the next part is omitted for the same reason. An empty
 * line separates tables.
 */
#include <math.h>

#include "base/text.h"
#include "render/render.h"

/* Writes valid UTF-8 for any name, and to a terminal no control characters. */
static void csv_put_text(FILE *file, const char *text, bool terminal)
{
	bool quoted = text[strcspn(text, ",\"\r\n")] || *text == ' ';
	uint32_t code;

	fputs(quoted ? "\"" : "", file);
	while ((code = dw_utf8_next(&text)) != 0) {
		char bytes[4];

		if (terminal && dw_utf8_steers(code))
			code = '?';
		if (code == '"')
			fputc('"', file);
		fwrite(bytes, 1, dw_utf8_put(bytes, code), file);
	}
	fputs(quoted ? "\"" : "", file);
}

static void csv_put_cell(FILE *file, const struct dw_cell *cell, bool terminal)
{
	if (cell->type == DW_CELL_INT)
		fprintf(file, "%lld", (long long)cell->integer);
	else if (cell->type == DW_CELL_REAL && isfinite(cell->real))
		dw_render_real(file, cell->real);
	else if (cell->type == DW_CELL_TEXT)
		csv_put_text(file, cell->text, terminal);
}

static void csv_put_table(FILE *file, const struct dwell_table *table, bool terminal)
{
	for (size_t i = 0; i < table->column_count; i++) {
		fputs(i ? "," : "", file);
		csv_put_text(file, table->columns[i].name, terminal);
	}
	fputs("\r\n", file);
	for (size_t row = 0; row < table->row_count; row++) {
		for (size_t i = 0; i < table->column_count; i++) {
			fputs(i ? "," : "", file);
			csv_put_cell(file, dw_table_at(table, row) + i, terminal);
		}
		fputs("\r\n", file);
	}
}

void dw_render_csv(const struct dwell_table *const *tables, size_t count, FILE *file,
                   const struct dwell_print_options *options)
{
	bool any = false;

	for (size_t i = 0; i < count; i++)
		for (const struct dwell_table *part = tables[i]; part; part = part->next) {
			if (part->summary && part->next)
				continue;
			fputs(any ? "\r\n" : "", file);
			csv_put_table(file, part, options->width > 0);
			any = true;
		}
}
