/*
 * What all pictures write with: text, numbers, the head and the buttons alike.
 *
 * picture.c (nodes in one another) and curve.c (values over time) use it. A pen keeps
 * no errors: what it writes through does.
 */
#ifndef DW_PICTURES_PEN_H
#define DW_PICTURES_PEN_H

#include "pictures/picture.h"

struct dw_pen {
	dw_put *put;
	void *to;
};

void dw_pen_text(const struct dw_pen *pen, const char *text);
/* For what has a bounded length. */
void dw_pen_format(const struct dw_pen *pen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Any text, as dw_picture_xml(). */
void dw_pen_xml(const struct dw_pen *pen, const char *text, unsigned columns);

/* From the first byte to below the lines of words; `kind` is the class of the whole,
 * `style` comes behind the style that all have. */
void dw_pen_head(const struct dw_pen *pen, const char *title, const char *subtitle,
                 const char *kind, const char *style, unsigned height);
/* Buttons are shown by the script: without one they would do nothing. Right to left. */
void dw_pen_buttons(const struct dw_pen *pen, const char *const *words, size_t count);
void dw_pen_script(const struct dw_pen *pen, const char *script);

#define DW_PEN_HEADER 72u /* pixels of the head */
#define DW_PEN_COLUMN 7.3 /* pixels a column of the text, at most */

#endif
