/*
 * The pen of all pictures: it writes text, numbers, the head and the buttons.
 *
 * nested.c (nested nodes) and curve.c (values over time) use it. A pen keeps no errors; the
 * function that it writes through does.
 */
#pragma once

#include "pictures/picture.h"

struct dw_pen {
	dw_put *put;
	void *to;
};

void dw_pen_text(const struct dw_pen *pen, const char *text);
/* A short text, like printf. */
void dw_pen_format(const struct dw_pen *pen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Any text, as dw_picture_xml(). */
void dw_pen_xml(const struct dw_pen *pen, const char *text, unsigned columns);

/* The file from its first byte to the end of title and subtitle. `kind` is the class of the svg
 * element; `style` follows the common style. */
void dw_pen_head(const struct dw_pen *pen, const char *title, const char *subtitle,
                 const char *kind, const char *style, unsigned height);
/* Buttons, from right to left. The script shows them, because they do nothing without it. */
void dw_pen_buttons(const struct dw_pen *pen, const char *const *words, size_t count);
void dw_pen_script(const struct dw_pen *pen, const char *script);

#define DW_PICTURE_MARGIN 10u
#define DW_PEN_HEADER 72u /* height of the head in pixels */
#define DW_PEN_COLUMN 7.3 /* the most pixels of a column of text */
