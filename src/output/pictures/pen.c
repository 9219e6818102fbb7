/* The pen of all pictures; see pen.h. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "pictures/pen.h"

#define BUTTON 62 /* pixels */

void dw_pen_text(const struct dw_pen *pen, const char *text)
{
	pen->put(pen->to, text, strlen(text));
}

void dw_pen_format(const struct dw_pen *pen, const char *format, ...)
{
	char text[512];
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	assert(length >= 0 && (size_t)length < sizeof text);
	pen->put(pen->to, text, (size_t)length);
}

void dw_pen_xml(const struct dw_pen *pen, const char *text, unsigned columns)
{
	dw_picture_xml(pen->put, pen->to, text, columns);
}

void dw_pen_head(const struct dw_pen *pen, const char *title, const char *subtitle,
                 const char *kind, const char *style, unsigned height)
{
	dw_pen_format(pen, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
	              "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dwp %s\" width=\"%u\""
	              " height=\"%u\" viewBox=\"0 0 %u %u\">\n<title>",
	              kind, DW_PICTURE_WIDTH, height, DW_PICTURE_WIDTH, height);
	dw_pen_xml(pen, title, DW_PICTURE_UNCUT);
	dw_pen_text(pen, "</title>\n<style>");
	dw_pen_text(pen, dw_picture_style);
	dw_pen_text(pen, style);
	dw_pen_text(pen, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
	dw_pen_format(pen, "<text class=\"name\" x=\"%u\" y=\"26\">", DW_PICTURE_MARGIN);
	dw_pen_xml(pen, title, 120);
	dw_pen_format(pen, "</text>\n<text class=\"sub\" x=\"%u\" y=\"45\">", DW_PICTURE_MARGIN);
	dw_pen_xml(pen, subtitle ? subtitle : "", 160);
	dw_pen_format(pen, "</text>\n<text class=\"said\" x=\"%u\" y=\"64\" role=\"status\"/>\n"
	              "<text class=\"found\" x=\"100%%\" dx=\"-%u\" y=\"48\" role=\"status\"/>\n",
	              DW_PICTURE_MARGIN, DW_PICTURE_MARGIN);
}

void dw_pen_buttons(const struct dw_pen *pen, const char *const *words, size_t count)
{
	int x = -(int)DW_PICTURE_MARGIN - BUTTON;

	dw_pen_text(pen, "<svg class=\"tools\" x=\"100%\" overflow=\"visible\">\n");
	for (size_t i = 0; i < count; i++)
		dw_pen_format(pen, "<g class=\"button %s\" role=\"button\" tabindex=\"0\" aria-label=\"%s\">"
		              "<rect x=\"%d\" y=\"9\" width=\"%d\" height=\"24\" rx=\"4\"/>"
		              "<text x=\"%d\" y=\"25\">%s</text></g>\n",
		              words[i], words[i], x - (int)(count - 1 - i) * (BUTTON + 8), BUTTON,
		              x - (int)(count - 1 - i) * (BUTTON + 8) + BUTTON / 2, words[i]);
	dw_pen_text(pen, "</svg>\n");
}

void dw_pen_script(const struct dw_pen *pen, const char *script)
{
	dw_pen_text(pen, "<script><![CDATA[\n");
	dw_pen_text(pen, script);
	dw_pen_text(pen, "]]></script>\n</svg>\n");
}
