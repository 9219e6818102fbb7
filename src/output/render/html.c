/*
 * HTML: tables for a notebook or another page.
 *
 * The output is a self-contained fragment: one <div> with its style, without scripts and external
 * resources. Values are scaled as in text. A column with bars draws them behind its cells. The
 * titles of cells contain the raw values for pages that sort or copy them.
 */
#include <math.h>

#include "base/text.h"
#include "render/render.h"

static const char style[] = "<style>"
	".dwell{font:13px/1.45 system-ui,sans-serif;max-width:100%;overflow-x:auto}"
	".dwell p{margin:.3em 0}"
	".dwell table{font:inherit;border-collapse:collapse;margin:.5em 0}"
	".dwell th,.dwell td{padding:.15em .7em;text-align:right;white-space:nowrap;"
	"font-variant-numeric:tabular-nums;background-color:transparent}"
	".dwell th{border-bottom:1px solid #8888;font-weight:600}"
	".dwell table th.t,.dwell table td.t{text-align:left;white-space:pre}" /* JupyterLab aligns cells to the right */
	".dwell tfoot td{border-top:1px solid #8888;font-weight:600}"
	".dwell .b{background-image:linear-gradient(#f0883e66,#f0883e66);background-repeat:no-repeat}"
	"</style>";

static void html_put_escaped(FILE *file, const char *text)
{
	while (*text) {
		const char *at = text;
		uint32_t code = dw_utf8_next(&text);
		char bytes[4];

		switch (code) {
		case '<': fputs("&lt;", file); break;
		case '>': fputs("&gt;", file); break;
		case '&': fputs("&amp;", file); break;
		case '"': fputs("&quot;", file); break;
		case 0xfffd: fwrite(bytes, 1, dw_utf8_put(bytes, code), file); break;
		default:
			if (dw_utf8_steers(code))
				fputc(' ', file);
			else
				fwrite(at, 1, (size_t)(text - at), file);
		}
	}
}

/* The maximum of the rows without the totals, because a bar compares its row with other rows. */
static double html_most_of(const struct dwell_table *table, size_t column)
{
	double most = 0;

	for (size_t row = 0; row < dw_table_rows_shown(table); row++)
		most = fmax(most, dw_display_number(dw_table_at(table, row) + column));
	return most;
}

static void html_put_cell(FILE *file, const struct dwell_table *table, size_t row, size_t i,
                          const struct dw_display_column *display, double most)
{
	bool is_row = row < table->row_count;
	const struct dw_cell *cell = (is_row ? dw_table_at(table, row) : table->totals) + i;
	double value = dw_display_number(cell);
	char buffer[64];

	if (table->columns[i].type == DW_CELL_TEXT)
		fputs("<td class=t>", file);
	else if (!isfinite(value))
		fputs("<td>", file);
	else {
		fputs("<td ", file);
		if (is_row && most > 0 && value > 0)
			fprintf(file, "class=b style=\"background-size:%.0f%% 100%%\" ", 100 * value / most);
		fputs("title=\"", file);
		dw_render_real(file, value);
		fputs("\">", file);
	}
	if (i == 0 && table->depths && is_row)
		for (int depth = 0; depth < table->depths[row] && depth < 100; depth++)
			fputs("&ensp;&ensp;", file);
	html_put_escaped(file, dw_display_cell(display, cell, buffer, sizeof buffer));
	fputs("</td>", file);
}

static void html_put_rows(FILE *file, const struct dwell_table *table, const struct dwell_print_options *options)
{
	struct dw_display_column display[64];
	double most[64];

	fputs("<table><thead><tr>", file);
	for (size_t i = 0; i < table->column_count; i++) {
		dw_display_column(&display[i], table, i, options);
		most[i] = table->columns[i].bar ? html_most_of(table, i) : 0;
		if (table->columns[i].data_only)
			continue;
		fputs(table->columns[i].type == DW_CELL_TEXT ? "<th class=t>" : "<th>", file);
		html_put_escaped(file, display[i].label);
		fputs("</th>", file);
	}
	fputs("</tr></thead>\n<tbody>", file);
	for (size_t row = 0; row < dw_table_rows_shown(table) + (table->totals != NULL); row++) {
		fputs(row == table->row_count ? "</tbody>\n<tfoot><tr>" : "<tr>", file);
		for (size_t i = 0; i < table->column_count; i++)
			if (!table->columns[i].data_only)
				html_put_cell(file, table, row, i, &display[i], most[i]);
		fputs("</tr>\n", file);
	}
	fputs(table->totals ? "</tfoot></table>\n" : "</tbody></table>\n", file);
}

static void html_put_line(void *file, const struct dw_line *line)
{
	const char *word = dw_label_word(line->label);

	fputs("<p>", file);
	if (*word)
		fprintf(file, "<b>%s</b> ", word);
	html_put_escaped(file, dw_line_words(line));
	fputs("</p>\n", file);
}

void dw_render_html(const struct dwell_table *const *tables, size_t count, FILE *file,
                    const struct dwell_print_options *options)
{
	fprintf(file, "<div class=dwell>%s\n", style);
	for (size_t i = 0; i < count; i++) {
		char scope[200];

		if (count > 1)
			fprintf(file, "<h4>%s</h4>\n", tables[i]->view);
		if (dw_display_scope(tables[i], scope, sizeof scope))
			html_put_line(file, &(struct dw_line){ DW_LABEL_NONE, scope });
		for (const struct dwell_table *part = tables[i]; part; part = part->next)
			dw_display_part(part, html_put_line, html_put_rows, file, options);
	}
	fputs("</div>\n", file);
}
