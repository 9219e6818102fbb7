/* Any text in XML, escaped so that it cannot end its element; see picture.h. */

#include "pictures/picture.h"

/* Whether XML 1.0 does not allow the character, or a line of text must not contain it. */
static bool xml_is_unfit(uint32_t code)
{
	return dw_utf8_steers(code) || (code >= 0xd800 && code < 0xe000) ||
	       (code & 0xfffe) == 0xfffe || code > 0x10ffff || code == 0x2028 || code == 0x2029;
}

static const char *xml_entity(uint32_t code)
{
	switch (code) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	}
	return NULL;
}

static void xml_put_code(dw_put *put, void *to, uint32_t code)
{
	const char *name = xml_entity(code);
	char bytes[4];

	if (name)
		put(to, name, strlen(name));
	else
		put(to, bytes, dw_utf8_put(bytes, xml_is_unfit(code) ? 0xfffd : code));
}

/* Where the text must end so that "…" fits; NULL if the whole text fits. */
static const char *xml_find_cut(const char *text, unsigned columns)
{
	const char *last = text, *at = text;
	unsigned used = 0;

	while (*at) {
		unsigned wide = dw_utf8_columns(dw_utf8_next(&at));

		if (used + wide > columns)
			return last;
		used += wide;
		if (used < columns)
			last = at;
	}
	return NULL;
}

void dw_picture_xml(dw_put *put, void *to, const char *text, unsigned columns)
{
	const char *end = columns == DW_PICTURE_UNCUT ? NULL : xml_find_cut(text, columns);

	while (end ? text < end : *text)
		xml_put_code(put, to, dw_utf8_next(&text));
	if (end)
		xml_put_code(put, to, 0x2026);
}
