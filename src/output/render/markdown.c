/*
 * Markdown: tables in GitHub's syntax, to paste into issues and reviews. Values are scaled as in
 * text. Characters in names that have a meaning in Markdown are escaped.
 */

#include "base/text.h"
#include "render/render.h"

void dw_render_markdown_text(FILE *file, const char *text)
{
	while (*text) {
		const char *at = text;
		uint32_t code = dw_utf8_next(&text);
		char bytes[4];

		if (dw_utf8_steers(code)) {
			fputc(' ', file);
			continue;
		}
		if (code < 0x80 && strchr("\\`*_{}[]<>#|~&", (int)code))
			fputc('\\', file);
		/* invalid bytes become U+FFFD, all other characters are unchanged */
		if (code == 0xfffd)
			fwrite(bytes, 1, dw_utf8_put(bytes, code), file);
		else
			fwrite(at, 1, (size_t)(text - at), file);
	}
}

static bool markdown_is_number(const struct dw_column *column)
{
	return column->type == DW_CELL_INT || column->type == DW_CELL_REAL;
}

static void markdown_put_cell(FILE *file, const struct dwell_table *table, size_t row, size_t i,
                              const struct dw_display_column *display)
{
	const struct dw_cell *cells = row < table->row_count ? dw_table_at(table, row) : table->totals;
	char buffer[64];
	const char *text = dw_display_cell(display, &cells[i], buffer, sizeof buffer);

	fputs(" ", file);
	if (i == 0 && table->depths && row < table->row_count)
		for (int depth = 0; depth < table->depths[row] && depth < 100; depth++)
			fputs("&ensp;", file);
	if (row == table->row_count && *text)
		fputs("**", file);
	dw_render_markdown_text(file, text);
	fputs(row == table->row_count && *text ? "** |" : " |", file);
}

static void markdown_put_rows(FILE *file, const struct dwell_table *table, const struct dwell_print_options *options)
{
	struct dw_display_column display[64];

	for (size_t i = 0; i < table->column_count; i++)
		dw_display_column(&display[i], table, i, options);
	fputs("|", file);
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].data_only)
			fprintf(file, " %s |", display[i].label);
	fputs("\n|", file);
	for (size_t i = 0; i < table->column_count; i++)
		if (!table->columns[i].data_only)
			fputs(markdown_is_number(&table->columns[i]) ? " ---: |" : " :--- |", file);
	fputs("\n", file);
	for (size_t row = 0; row < dw_table_rows_shown(table) + (table->totals != NULL); row++) {
		fputs("|", file);
		for (size_t i = 0; i < table->column_count; i++)
			if (!table->columns[i].data_only)
				markdown_put_cell(file, table, row, i, &display[i]);
		fputs("\n", file);
	}
	fputs("\n", file);
}

static void markdown_put_line(void *file, const struct dw_line *line)
{
	const char *word = dw_label_word(line->label);

	if (*word)
		fprintf(file, "**%s** ", word);
	dw_render_markdown_text(file, dw_line_words(line));
	fputs("\n\n", file);
}

void dw_render_markdown(const struct dwell_table *const *tables, size_t count, FILE *file,
                        const struct dwell_print_options *options)
{
	for (size_t i = 0; i < count; i++) {
		char scope[200];

		fprintf(file, "## %s\n\n", tables[i]->view);
		if (dw_display_scope(tables[i], scope, sizeof scope))
			markdown_put_line(file, &(struct dw_line){ DW_LABEL_NONE, scope });
		for (const struct dwell_table *part = tables[i]; part; part = part->next)
			dw_display_part(part, markdown_put_line, markdown_put_rows, file, options);
	}
}
