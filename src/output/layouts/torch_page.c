/*
 * A page of columns, as PyTorch prints its tables: a text is padded to the width of its column and
 * followed by two blanks. Names and sources that are too long are cut.
 *
 * Called by torch.c. Widths are in characters (code points), like Python's len().
 */
#include <string.h>

#include "layouts/python.h"
#include "layouts/torch_parts.h"

void dw_torch_add_column(struct dw_torch_page *page, const char *head, unsigned width, bool left)
{
	page->columns[page->column_count++] = (struct dw_torch_column){ head, width, left };
}

size_t dw_torch_bytes(const char *text, size_t bytes, size_t length)
{
	size_t at = 0;

	while (at < bytes && length--)
		for (at++; at < bytes && ((unsigned char)text[at] & 0xc0) == 0x80;)
			at++;
	return at;
}

/* Prints `before`, `text` and `behind`, padded to the width of the column. */
static void torch_page_put_parts(const struct dw_torch_page *page, const struct dw_torch_column *column,
                                 const char *before, const char *text, size_t bytes, const char *behind)
{
	size_t length = strlen(before) + dw_layout_characters(text, bytes) + strlen(behind);
	int blanks = length < column->width ? (int)(column->width - length) : 0;

	fprintf(page->file, "%*s%s", column->left ? 0 : blanks, "", before);
	for (size_t i = 0; i < bytes; i++) /* no line breaks in a cell */
		fputc((unsigned char)text[i] < 0x20 ? ' ' : text[i], page->file);
	fprintf(page->file, "%s%*s", behind, (column->left ? blanks : 0) + 2, "");
}

void dw_torch_put_cell(const struct dw_torch_page *page, const struct dw_torch_column *column,
                       const char *text, size_t bytes)
{
	torch_page_put_parts(page, column, "", text, bytes, "");
}

void dw_torch_put_text(const struct dw_torch_page *page, const struct dw_torch_column *column, const char *text)
{
	torch_page_put_parts(page, column, "", text, strlen(text), "");
}

void dw_torch_put_name(const struct dw_torch_page *page, const struct dw_torch_column *column,
                       const char *name, unsigned limit)
{
	size_t bytes = strlen(name), most = limit > 3 ? limit - 3 : 0;

	if (dw_layout_characters(name, bytes) < most)
		torch_page_put_parts(page, column, "", name, bytes, "");
	else
		torch_page_put_parts(page, column, "", name, dw_torch_bytes(name, bytes, most), "...");
}

void dw_torch_put_source(const struct dw_torch_page *page, const struct dw_torch_column *column,
                         const char *text, size_t bytes)
{
	size_t length = dw_layout_characters(text, bytes), width = column->width, skip;
	const char *dots = width > 3 ? "..." : "";

	if (length <= width) {
		torch_page_put_parts(page, column, "", text, bytes, "");
		return;
	}
	skip = dw_torch_bytes(text, bytes, length - width + strlen(dots));
	torch_page_put_parts(page, column, dots, text + skip, bytes - skip, "");
}

void dw_torch_put_line(const struct dw_torch_page *page, char c)
{
	unsigned width = 0;

	for (size_t i = 0; i < page->column_count; i++)
		width += page->columns[i].width + 2;
	for (width -= 2; width; width--)
		fputc(c, page->file);
	fputc('\n', page->file);
}

void dw_torch_put_separator(const struct dw_torch_page *page)
{
	for (size_t i = 0; i < page->column_count; i++) {
		for (unsigned n = 0; n < page->columns[i].width; n++)
			fputc('-', page->file);
		fputs("  ", page->file);
	}
	fputc('\n', page->file);
}

void dw_torch_put_heads(const struct dw_torch_page *page)
{
	dw_torch_put_separator(page);
	for (size_t i = 0; i < page->column_count; i++)
		dw_torch_put_text(page, &page->columns[i], page->columns[i].head);
	fputc('\n', page->file);
	dw_torch_put_separator(page);
}
