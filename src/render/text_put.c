/*
 * Text on a terminal: counts columns, shortens long texts, breaks sentences, and replaces
 * characters that would move the cursor or hide text.
 */
#include <string.h>

#include "base/text.h"
#include "render/page.h"

void dw_page_style(const struct dw_page *page, const char *code)
{
	if (page->options->color)
		fprintf(page->file, "\033[%sm", code);
}

void dw_page_spaces(const struct dw_page *page, unsigned count)
{
	fprintf(page->file, "%*s", (int)count, "");
}

/* Returns a code point that is safe to print: no control characters and no changes of direction. */
static uint32_t text_is_harmless(uint32_t code)
{
	return dw_utf8_steers(code) ? '?' : code;
}

unsigned dw_page_columns(const char *text)
{
	unsigned columns = 0;
	uint32_t code;

	while ((code = dw_utf8_next(&text)) != 0)
		columns += dw_utf8_columns(text_is_harmless(code));
	return columns;
}

void dw_page_text(const struct dw_page *page, const char *text, unsigned from, unsigned to)
{
	unsigned column = 0;
	uint32_t code;
	char bytes[4];

	while ((code = dw_utf8_next(&text)) != 0) {
		unsigned columns = dw_utf8_columns(code = text_is_harmless(code));

		if (column >= from && column + columns <= to)
			fwrite(bytes, 1, dw_utf8_put(bytes, code), page->file);
		column += columns;
	}
}

unsigned dw_page_short(const struct dw_page *page, const char *text, unsigned width)
{
	const char *dots = page->options->utf8 ? "\u2026" : "..";
	unsigned columns = dw_page_columns(text), dot_columns = page->options->utf8 ? 1 : 2, head;

	if (columns <= width) {
		dw_page_text(page, text, 0, columns);
		return columns;
	}
	width = width > dot_columns ? width - dot_columns : 0;
	head = (width + 1) / 2;
	dw_page_text(page, text, 0, head);
	fputs(dots, page->file);
	dw_page_text(page, text, columns - (width - head), columns);
	return width + dot_columns; /* a wide character at the cut may leave one column empty */
}

/* Returns the number of columns of the first word of `text`. */
static unsigned text_word_columns(const char *text, size_t length)
{
	unsigned columns = 0;
	const char *end = text + length;

	while (text < end)
		columns += dw_utf8_columns(text_is_harmless(dw_utf8_next(&text)));
	return columns;
}

/* Returns the length of the first word, or of its part up to and including a '|', because lists of
 * alternatives may be longer than a line. */
static size_t text_piece_length(const char *text)
{
	size_t length = strcspn(text, " |");

	return length + (text[length] == '|');
}

void dw_page_sentence(const struct dw_page *page, const char *text)
{
	unsigned limit = page->options->width, indent = (unsigned)strspn(text, " ");
	unsigned column = indent, at = 0;
	const char *whole = text;

	if (strncmp(text + indent, "-> ", 3) == 0)
		indent += 3;
	dw_page_spaces(page, column);
	for (text += column; *text; text += strspn(text, " ")) {
		size_t length = text_piece_length(text);
		unsigned columns = text_word_columns(text, length), start, space = text > whole &&
		text[-1] == ' ';

		if (at && limit && column + space + columns > limit) {
			fputc('\n', page->file);
			dw_page_spaces(page, indent);
			column = indent;
		} else if (at && space) {
			fputc(' ', page->file);
			column++;
		}
		at = 1;
		start = text_word_columns(whole, (size_t)(text - whole));
		dw_page_text(page, whole, start, start + columns);
		column += columns;
		text += length;
	}
}
