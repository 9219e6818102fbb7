/* Writes the data of a page: JSON that may stand in a script of HTML. */
#ifndef DW_PAGE_PUT_H
#define DW_PAGE_PUT_H

#include "export/out.h"

#define DW_PAGE_MOST_TEXT 400u   /* bytes of a text; longer ones are cut and end in "…" */

/* For dw_json_text() and others that put JSON. In HTML only "<" can end the element of the data. JSON needs it in
 * texts alone, where it may be escaped. */
void dw_page_put(void *out, const char *bytes, size_t length);
/* A text with quotes. */
void dw_page_put_text(struct dw_writer_out *out, const char *text);
/* DW_PAGE_PUT(out, "{'count':#,'end_ns':#", count, end_ns): "'" stands for a quote, each "#" for the next number. */
#define DW_PAGE_PUT(out, json, ...) dw_page_put_numbers(out, json, (const uint64_t[]){ __VA_ARGS__ })
void dw_page_put_numbers(struct dw_writer_out *out, const char *json, const uint64_t *numbers);

#endif
