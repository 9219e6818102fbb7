/*
 * Text: aligned columns, scaled values.
 *
 * On a terminal the table is fitted to the width. Columns with wide_only are omitted first, those with
 * not_narrow next, then texts are shortened in their middle. The remaining width is used for bars. In
 * a pipe nothing is shortened and no bars are drawn. Names come from other programs, so characters
 * that would move the cursor or hide text are never printed.
 */
#include <math.h>

#include "base/text.h"
#include "render/render.h"

#define GAP 2u
#define LABEL 7u        /* columns of a label, with the blank behind it */
#define PIPE_WIDTH 80u  /* of the first screen where the output is no terminal: labelled sentences are broken, wide columns omitted */
#define LEAST_NAME 20u  /* a column with not_narrow is omitted before texts are shortened below this */
#define COMMON_NAME 30u /* a column with wide_only is omitted before texts are shortened below this */
#define MOST_BAR 24u
#define MOST_INDENT 40u
#define MOST_COLUMNS 64u /* views have fewer */

struct text_page {
	FILE *file;
	const struct dwell_print_options *options;
	const struct dwell_table *table;
	struct dw_display_column display[MOST_COLUMNS];
	bool shown[MOST_COLUMNS];
	unsigned widths[MOST_COLUMNS];
	unsigned margin, bar_width;
	int bar;            /* index of the column with bars, or -1 */
	double bar_most;
	bool first;         /* it is the first part of its answer */
	bool blank_owed;    /* print a blank line between the rows and the footer, if there is a
	                     * footer */
};

/* ---- printing within columns ---------------------------------------------------------------- */

static void text_put_style(const struct text_page *page, const char *code)
{
	if (page->options->color)
		fprintf(page->file, "\033[%sm", code);
}

static void text_put_spaces(const struct text_page *page, unsigned count)
{
	fprintf(page->file, "%*s", (int)count, "");
}

/* Returns a code point that is safe to print: no control characters and no changes of direction. */
static uint32_t text_harmless(uint32_t code)
{
	return dw_utf8_steers(code) ? '?' : code;
}

/* Returns the number of terminal columns that a text needs. */
static unsigned text_columns(const char *text)
{
	unsigned columns = 0;
	uint32_t code;

	while ((code = dw_utf8_next(&text)) != 0)
		columns += dw_utf8_columns(text_harmless(code));
	return columns;
}

/* Prints the part of `text` in columns from..to - 1. */
static void text_put_part(const struct text_page *page, const char *text, unsigned from, unsigned to)
{
	unsigned column = 0;
	uint32_t code;
	char bytes[4];

	while ((code = dw_utf8_next(&text)) != 0) {
		unsigned columns = dw_utf8_columns(code = text_harmless(code));

		if (column >= from && column + columns <= to)
			fwrite(bytes, 1, dw_utf8_put(bytes, code), page->file);
		column += columns;
	}
}

/* Prints at most `width` columns. The middle of a longer text is omitted, because both ends
 * identify a name. Returns the number of columns used. */
static unsigned text_put_short(const struct text_page *page, const char *text, unsigned width)
{
	const char *dots = page->options->utf8 ? "\u2026" : "..";
	unsigned columns = text_columns(text), dot_columns = page->options->utf8 ? 1 : 2, head;

	if (columns <= width) {
		text_put_part(page, text, 0, columns);
		return columns;
	}
	width = width > dot_columns ? width - dot_columns : 0;
	head = (width + 1) / 2;
	text_put_part(page, text, 0, head);
	fputs(dots, page->file);
	text_put_part(page, text, columns - (width - head), columns);
	return width + dot_columns; /* a wide character at the cut may leave one column empty */
}

/* Returns the number of columns of the first word of `text`. */
static unsigned text_word_columns(const char *text, size_t length)
{
	unsigned columns = 0;
	const char *end = text + length;

	while (text < end)
		columns += dw_utf8_columns(text_harmless(dw_utf8_next(&text)));
	return columns;
}

/* Returns the length of the first word, or of its part up to and including a '|', because lists of
 * alternatives may be longer than a line. */
static size_t text_piece_length(const char *text)
{
	size_t length = strcspn(text, " |");

	return length + (text[length] == '|');
}

/* Prints words behind `column` columns, broken at blanks to at most `limit` columns, or not if that is 0; further lines
 * begin with `indent` blanks. The caller ends the last line. */
static void text_put_words(const struct text_page *page, const char *text, unsigned column, unsigned indent, unsigned limit)
{
	const char *whole = text;
	unsigned at = 0;

	for (; *text; text += strspn(text, " ")) {
		size_t length = text_piece_length(text);
		unsigned columns = text_word_columns(text, length), start, space = text > whole && text[-1] == ' ';

		if (at && limit && column + space + columns > limit) {
			fputc('\n', page->file);
			text_put_spaces(page, indent);
			column = indent;
		} else if (at && space) {
			fputc(' ', page->file);
			column++;
		}
		at = 1;
		start = text_word_columns(whole, (size_t)(text - whole));
		text_put_part(page, whole, start, start + columns);
		column += columns;
		text += length;
	}
}

/* Prints a sentence, broken to the width of the terminal; a hint keeps its indent. One with a label has it in a column
 * of its own, and on the first screen is broken in a pipe too. */
static void text_put_sentence(const struct text_page *page, const struct dw_line *line)
{
	unsigned limit = page->options->width, indent = (unsigned)strspn(line->text, " ");

	if (line->label == DW_LABEL_NONE) {
		text_put_spaces(page, indent);
		text_put_words(page, line->text + indent, indent, indent + (strncmp(line->text + indent, "-> ", 3) == 0 ? 3 : 0), limit);
		return;
	}
	text_put_style(page, "1");
	fprintf(page->file, "%-*s", (int)LABEL, dw_label_word(line->label));
	text_put_style(page, "0");
	text_put_words(page, dw_line_words(line), LABEL, LABEL, limit || !page->table->screen ? limit : PIPE_WIDTH);
}

/* ---- layout ------------------------------------------------------------------------------- */

static bool text_is_text(const struct text_page *page, size_t i)
{
	return page->table->columns[i].type == DW_CELL_TEXT;
}

static unsigned text_indent_of(const struct dwell_table *table, size_t row)
{
	unsigned indent = table->depths ? (unsigned)table->depths[row] * 2 : 0;

	return indent < MOST_INDENT ? indent : MOST_INDENT;
}

static unsigned text_cell_width(const struct text_page *page, size_t row, size_t i)
{
	const struct dwell_table *table = page->table;
	const struct dw_cell *cells = row < table->row_count ? dw_table_at(table, row) : table->totals;
	char buffer[64];
	unsigned indent = i == 0 && row < table->row_count ? text_indent_of(table, row) : 0;

	return text_columns(dw_display_cell(&page->display[i], &cells[i], buffer, sizeof buffer)) + indent;
}

static unsigned text_total_width(const struct text_page *page)
{
	unsigned width = page->margin, shown = 0;

	for (size_t i = 0; i < page->table->column_count; i++) {
		width += page->shown[i] ? page->widths[i] : 0;
		shown += page->shown[i];
	}
	return width + (shown ? shown - 1 : 0) * GAP;
}

/* Narrows the widest text column until the table fits or no column can be narrowed. */
static void text_shorten(struct text_page *page, unsigned least)
{
	while (text_total_width(page) > page->options->width) {
		size_t widest = MOST_COLUMNS;
		unsigned excess = text_total_width(page) - page->options->width, give;

		for (size_t i = 0; i < page->table->column_count; i++)
			if (page->shown[i] && text_is_text(page, i) && page->widths[i] > least &&
			    (widest == MOST_COLUMNS || page->widths[i] > page->widths[widest]))
				widest = i;
		if (widest == MOST_COLUMNS)
			return;
		give = page->widths[widest] - least;
		page->widths[widest] -= give < excess ? give : excess;
	}
}

static void text_limit_names(struct text_page *page, unsigned most)
{
	for (size_t i = 0; i < page->table->column_count; i++)
		if (text_is_text(page, i) && page->widths[i] > most)
			page->widths[i] = most;
}

static void text_fit_columns(struct text_page *page)
{
	unsigned natural[MOST_COLUMNS], width = page->options->width;
	size_t count = page->table->column_count;

	if (!width) {
		for (size_t i = count; page->table->screen && i-- > 0 && text_total_width(page) > PIPE_WIDTH;)
			if (page->table->columns[i].wide_only)
				page->shown[i] = false;
		return;
	}
	memcpy(natural, page->widths, sizeof natural);
	/* Long names must not cause columns to be omitted: they count as this many characters. */
	text_limit_names(page, COMMON_NAME);
	for (size_t i = count; i-- > 0 && text_total_width(page) > width;)
		if (page->table->columns[i].wide_only)
			page->shown[i] = false;
	text_limit_names(page, LEAST_NAME);
	for (size_t i = count; i-- > 0 && text_total_width(page) > width;)
		if (page->table->columns[i].not_narrow)
			page->shown[i] = false;
	/* The remaining width is given to the names. */
	for (size_t i = 0; i < count; i++)
		page->widths[i] = natural[i];
	text_shorten(page, LEAST_NAME);
	text_shorten(page, LEAST_NAME / 2);
}

static double text_number_of(const struct dw_cell *cell)
{
	if (cell->type == DW_CELL_INT)
		return (double)cell->integer;
	return cell->type == DW_CELL_REAL ? cell->real : 0;
}

static void text_choose_bar(struct text_page *page)
{
	const struct dwell_table *table = page->table;
	unsigned used = text_total_width(page) + GAP;

	page->bar = -1;
	page->bar_most = 0;
	if (!page->options->width || used + 8 > page->options->width)
		return;
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].bar && page->shown[i])
			page->bar = (int)i;
	page->bar_width = page->options->width - used;
	if (page->bar_width > MOST_BAR)
		page->bar_width = MOST_BAR;
	for (size_t row = 0; page->bar >= 0 && row < dw_table_rows_shown(table); row++) {
		double value = text_number_of(dw_table_at(table, row) + page->bar);

		if (value > page->bar_most)
			page->bar_most = value;
	}
	if (page->bar_most <= 0)
		page->bar = -1;
}

static void text_lay_out(struct text_page *page)
{
	const struct dwell_table *table = page->table;

	page->margin = table->part ? 2 : 0;
	for (size_t i = 0; i < table->column_count; i++) {
		page->shown[i] = !table->columns[i].data_only;
		dw_display_column(&page->display[i], table, i, page->options);
		page->widths[i] = text_columns(page->display[i].label);
		for (size_t row = 0; row < dw_table_rows_shown(table) + (table->totals != NULL); row++) {
			unsigned width = text_cell_width(page, row, i);

			if (width > page->widths[i])
				page->widths[i] = width;
		}
	}
	text_fit_columns(page);
	text_choose_bar(page);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void text_put_bar(const struct text_page *page, const struct dw_cell *cell)
{
	static const char *const eighths[] = { "", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b",
		"\u258a", "\u2589" };
	double value = text_number_of(cell);
	unsigned length;

	if (!(value > 0))
		return;
	length = (unsigned)lround(value / page->bar_most * page->bar_width * 8);
	if (!page->options->utf8)
		length = (length + 4) / 8 * 8;
	if (!length)
		return;
	text_put_spaces(page, GAP);
	text_put_style(page, "36");
	for (unsigned i = 0; i < length / 8; i++)
		fputs(page->options->utf8 ? "\u2588" : "#", page->file);
	fputs(eighths[length % 8], page->file);
	text_put_style(page, "0");
}

/* Pads numbers on the left and texts on the right. Returns the number of blanks to print after it
 * if something follows. */
static unsigned text_put_padded(const struct text_page *page, const char *text, size_t i, unsigned indent)
{
	unsigned width = page->widths[i], columns;

	if (!text_is_text(page, i)) {
		columns = text_columns(text);
		text_put_spaces(page, width > columns ? width - columns : 0);
		text_put_part(page, text, 0, columns);
		return 0;
	}
	if (indent > width / 2)
		indent = width / 2;
	text_put_spaces(page, indent);
	columns = indent + text_put_short(page, text, width - indent);
	return width > columns ? width - columns : 0;
}

static void text_put_labels(const struct text_page *page)
{
	unsigned owed = page->margin;

	for (size_t i = 0, first = 1; i < page->table->column_count; i++) {
		if (!page->shown[i])
			continue;
		text_put_spaces(page, owed + (first ? 0 : GAP));
		if (first)
			text_put_style(page, "1");
		owed = text_put_padded(page, page->display[i].label, i, 0);
		first = 0;
	}
	text_put_style(page, "0");
	fputc('\n', page->file);
}

static void text_put_row(const struct text_page *page, const struct dw_cell *cells, unsigned indent)
{
	char buffer[64];
	unsigned owed = page->margin;

	for (size_t i = 0, first = 1; i < page->table->column_count; i++) {
		const char *text;

		if (!page->shown[i])
			continue;
		text = dw_display_cell(&page->display[i], &cells[i], buffer, sizeof buffer);
		owed += first ? 0 : GAP;
		first = 0;
		if (!*text) {
			owed += page->widths[i];
			continue;
		}
		text_put_spaces(page, owed);
		owed = text_put_padded(page, text, i, i == 0 ? indent : 0);
	}
	if (page->bar >= 0 && cells != page->table->totals && text_number_of(&cells[page->bar]) > 0) {
		text_put_spaces(page, owed);
		text_put_bar(page, &cells[page->bar]);
	}
}

static void text_put_rows(struct text_page *page)
{
	const struct dwell_table *table = page->table;

	text_lay_out(page);
	text_put_labels(page);
	for (size_t row = 0; row < dw_table_rows_shown(table); row++) {
		text_put_row(page, dw_table_at(table, row), text_indent_of(table, row));
		fputc('\n', page->file);
	}
	if (!table->totals)
		return;
	text_put_style(page, "1");
	text_put_row(page, table->totals, 0);
	text_put_style(page, "0");
	fputc('\n', page->file);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void text_put_footer_line(void *pointer, const struct dw_line *line)
{
	struct text_page *page = pointer;

	if (page->blank_owed)
		fputc('\n', page->file);
	page->blank_owed = false;
	text_put_style(page, "2");
	text_put_sentence(page, line);
	text_put_style(page, "0");
	fputc('\n', page->file);
}

static void text_put_line(const struct text_page *page, const struct dw_line *line)
{
	text_put_sentence(page, line);
	fputc('\n', page->file);
}

/* Whether this part or a later one is shown in text. */
static bool text_says_more(const struct dwell_table *part)
{
	for (; part; part = part->next)
		if (part->head_count || part->note_count || (!part->heads_only && part->row_count))
			return true;
	return false;
}

static void text_put_table(struct text_page *page)
{
	const struct dwell_table *table = page->table;
	bool rows = !table->heads_only && table->row_count, more = text_says_more(table->next);
	char scope[200];

	bool scoped = page->first && dw_display_scope(table, scope, sizeof scope);

	if (scoped)
		text_put_line(page, &(struct dw_line){ DW_LABEL_NONE, scope });
	for (size_t i = 0; i < table->head_count; i++)
		text_put_line(page, &table->heads[i]);
	if ((table->head_count || scoped) && (rows || more))
		fputc('\n', page->file);
	if (rows) {
		text_put_rows(page);
		if (more || table->note_count)
			fputc('\n', page->file);
	}
	for (size_t i = 0; i < table->note_count; i++)
		text_put_line(page, &table->notes[i]);
	if (table->note_count && more)
		fputc('\n', page->file);
	page->blank_owed = rows && !table->note_count;
	dw_display_footer(table, text_put_footer_line, page);
}

void dw_render_text(const struct dwell_table *const *tables, size_t count, FILE *file,
                    const struct dwell_print_options *options)
{
	struct text_page page = { .file = file, .options = options };

	for (size_t i = 0; i < count; i++) {
		fputs(i ? "\n" : "", file);
		page.table = tables[i];
		if (count > 1) {
			text_put_style(&page, "1;4");
			fputs(tables[i]->view, file);
			text_put_style(&page, "0");
			fputs("\n\n", file);
		}
		page.first = true;
		for (; page.table; page.table = page.table->next) {
			text_put_table(&page);
			page.first = false;
		}
	}
}
