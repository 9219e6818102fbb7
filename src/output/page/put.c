/* The texts and numbers of a page's data; see put.h. */
#include "page/put.h"

#include "base/text.h"

void dw_page_put(void *out, const char *bytes, size_t length)
{
	const char *end = bytes + length, *sign;

	while ((sign = memchr(bytes, '<', (size_t)(end - bytes)))) {
		dw_out_bytes(out, bytes, (size_t)(sign - bytes));
		dw_out_text(out, "\\u003c");
		bytes = sign + 1;
	}
	dw_out_bytes(out, bytes, (size_t)(end - bytes));
}

void dw_page_put_text(struct dw_writer_out *out, const char *text)
{
	char cut[DW_PAGE_MOST_TEXT + 4];
	size_t length = strnlen(text, DW_PAGE_MOST_TEXT + 1);

	if (length > DW_PAGE_MOST_TEXT) {
		length = DW_PAGE_MOST_TEXT;
		while (length > DW_PAGE_MOST_TEXT - 4 && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
		memcpy(cut, text, length);
		memcpy(cut + length, "\xe2\x80\xa6", 4);
		text = cut;
	}
	dw_json_text(dw_page_put, out, text);
}
