/* Writes the data of a page: JSON that may stand in a script of HTML. */
#pragma once

#include "export/out.h"

#define DW_PAGE_MOST_TEXT 400u   /* bytes of a text; longer ones are cut and end in "…" */

/* For dw_json_text() and others that put JSON. In HTML only "<" can end the element of the data. JSON needs it in
 * texts alone, where it may be escaped. */
void dw_page_put(void *out, const char *bytes, size_t length);
/* A text with quotes. */
void dw_page_put_text(struct dw_writer_out *out, const char *text);
/* DW_OUT_JSON() with texts as dw_page_put_text() writes them. */
#define DW_PAGE_PUT(out, json, ...) \
	dw_out_json(out, json, (const struct dw_out_value[]){ DW_OUT_VALUES(__VA_ARGS__) }, dw_page_put_text)
