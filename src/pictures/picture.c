/*
 * The file: head, bars, legend, tools; see picture.h. layout.c says where a bar lies.
 *
 * Lengths along x are percent, so that the picture follows the width that it is given.
 */
#include "pictures/inside.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define ROW 18u                 /* pixels from one row to the next; the script reads it */
#define BAR 17u
#define HEADER 72u
#define FOOTER 52u
#define COLUMN 7.3              /* pixels a column of the text, at most */

/* ---- text ----------------------------------------------------------------------------- */

static void put_text(struct dw_drawing *drawing, const char *text)
{
	drawing->put(drawing->to, text, strlen(text));
}

/* For what has a bounded length. */
static __attribute__((format(printf, 2, 3))) void put_format(struct dw_drawing *drawing,
                                                             const char *format, ...)
{
	char text[512];
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	assert(length >= 0 && (size_t)length < sizeof text);
	drawing->put(drawing->to, text, (size_t)length);
}

static void put_xml(struct dw_drawing *drawing, const char *text, unsigned columns)
{
	dw_picture_xml(drawing->put, drawing->to, text, columns);
}

/* Percent without printf's %f, whose point is the locale's; no zeros at the end. */
static struct dw_text percent(uint32_t part)
{
	struct dw_text text;
	unsigned rest = part % (DW_PICTURE_FULL / 100), digits = 5;
	unsigned whole = part / (DW_PICTURE_FULL / 100);

	for (; digits && rest % 10 == 0; digits--)
		rest /= 10;
	if (digits)
		snprintf(text.at, sizeof text.at, "%u.%0*u%%", whole, (int)digits, rest);
	else
		snprintf(text.at, sizeof text.at, "%u%%", whole);
	return text;
}

/* ---- nodes ---------------------------------------------------------------------------- */

/* Neighbours of one kind have to be told apart, and equal names to look alike. */
static unsigned tint(const char *label)
{
	uint32_t hash = 2166136261u;

	while (*label)
		hash = (hash ^ (unsigned char)*label++) * 16777619u;
	return (hash >> 13) % 3;
}

/* Layers repeat the names of those that they lie in: "net.conv1" in "net" is ".conv1".
 * The script does the same. */
static const char *short_label(const char *label, const char *parent)
{
	size_t length = strlen(parent);

	return length && strncmp(label, parent, length) == 0 && label[length] == '.'
	           ? label + length : label;
}

static double share(const struct dw_drawing *drawing, uint64_t value)
{
	return drawing->drawn.total ? (double)value / (double)drawing->drawn.total : 0;
}

/* The name's line first: the script reads it from here. */
static void put_tooltip(struct dw_drawing *drawing, const struct dw_picture_node *node,
                        const struct dw_picture_place *place)
{
	const struct dw_picture *picture = drawing->picture;

	put_text(drawing, "<title>");
	put_xml(drawing, node->label, DW_PICTURE_UNCUT);
	put_text(drawing, "\n");
	if (node->kind) {
		put_xml(drawing, picture->kinds[node->kind].name, DW_PICTURE_UNCUT);
		put_text(drawing, ", ");
	}
	put_format(drawing, "%s, %s of ", picture->unit((double)place->value, " ").at,
	           dw_text_percent(share(drawing, place->value)).at);
	put_xml(drawing, picture->root, DW_PICTURE_UNCUT);
	if (node->self != DW_PICTURE_NO_SELF)
		put_format(drawing, ", %s self", picture->unit((double)node->self, " ").at);
	if (node->count) {
		put_format(drawing, ", %s ", dw_text_count((int64_t)node->count).at);
		put_xml(drawing, picture->counted, DW_PICTURE_UNCUT);
		put_text(drawing, dw_text_plural(node->count));
	}
	put_text(drawing, "</title>");
}

static void put_node(struct dw_drawing *drawing, const struct dw_picture_node *node,
                     const struct dw_picture_place *place, uint32_t row)
{
	uint32_t rows = drawing->drawn.rows;
	uint32_t y = (drawing->picture->down ? row : rows - 1 - row) * ROW;
	double room = (double)place->width / DW_PICTURE_FULL * DW_PICTURE_FRAMES - 7;
	const char *label = row ? short_label(node->label, drawing->levels[row - 1].label)
	                        : node->label;
	struct dw_text x = percent(place->x);

	put_format(drawing, "<g class=\"c%u t%u\">", (unsigned)drawing->picture->kinds[node->kind].hue,
	           tint(node->label));
	put_tooltip(drawing, node, place);
	put_format(drawing, "<rect x=\"%s\" y=\"%u\" width=\"%s\" height=\"%u\"/>", x.at, y,
	           percent(place->width).at, BAR);
	if (room >= 3 * COLUMN || room >= (double)strlen(label) * COLUMN) {
		put_format(drawing, "<text x=\"%s\" dx=\"3\" y=\"%u\">", x.at, y + 13);
		put_xml(drawing, label, (unsigned)(room / COLUMN));
		put_text(drawing, "</text>");
	}
	put_text(drawing, "</g>\n");
}

static int put_nodes(struct dw_drawing *drawing)
{
	const struct dw_picture *picture = drawing->picture;
	struct dw_picture_node node = { picture->root, drawing->drawn.total, DW_PICTURE_NO_SELF, 0, 0, 0 };
	struct dw_picture_place place = { 0, DW_PICTURE_FULL, drawing->drawn.total };
	int failed = 0;

	if (!dw_picture_start(drawing))
		return -1;
	put_format(drawing, "<svg class=\"frames\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\">\n",
	           DW_PICTURE_MARGIN, HEADER, DW_PICTURE_FRAMES, drawing->drawn.rows * ROW);
	put_node(drawing, &node, &place, 0);
	for (size_t i = 0; i < picture->count && !failed; i++) {
		picture->node(picture->context, i, &node);
		if (dw_picture_lay(drawing, &node, &place, &failed))
			put_node(drawing, &node, &place, node.depth + 1);
	}
	put_format(drawing, "<rect class=\"ring\" height=\"%u\" width=\"0\"/>\n</svg>\n", BAR);
	return failed;
}

/* ---- around them ------------------------------------------------------------------------ */

static void put_head(struct dw_drawing *drawing)
{
	const struct dw_picture *picture = drawing->picture;
	unsigned height = HEADER + drawing->drawn.rows * ROW + FOOTER;

	put_format(drawing,
	           "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
	           "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dwp %s\" width=\"%u\""
	           " height=\"%u\" viewBox=\"0 0 %u %u\">\n<title>",
	           picture->down ? "down" : "up", DW_PICTURE_WIDTH, height, DW_PICTURE_WIDTH, height);
	put_xml(drawing, picture->title, DW_PICTURE_UNCUT);
	put_text(drawing, "</title>\n<style>");
	put_text(drawing, dw_picture_style);
	put_text(drawing, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
	put_format(drawing, "<text class=\"name\" x=\"%u\" y=\"26\">", DW_PICTURE_MARGIN);
	put_xml(drawing, picture->title, 120);
	put_format(drawing, "</text>\n<text class=\"sub\" x=\"%u\" y=\"45\">", DW_PICTURE_MARGIN);
	put_xml(drawing, picture->subtitle ? picture->subtitle : "", 160);
	put_format(drawing,
	           "</text>\n<text class=\"said\" x=\"%u\" y=\"64\" role=\"status\"/>\n"
	           "<text class=\"found\" x=\"100%%\" dx=\"-%u\" y=\"48\" role=\"status\"/>\n",
	           DW_PICTURE_MARGIN, DW_PICTURE_MARGIN);
}

static void put_button(struct dw_drawing *drawing, const char *word, int x)
{
	put_format(drawing,
	           "<g class=\"button %s\" role=\"button\" tabindex=\"0\" aria-label=\"%s\">"
	           "<rect x=\"%d\" y=\"9\" width=\"62\" height=\"24\" rx=\"4\"/>"
	           "<text x=\"%d\" y=\"25\">%s</text></g>\n",
	           word, word, x, x + 31, word);
}

/* Shown by the script: without one they would do nothing. */
static void put_tools(struct dw_drawing *drawing)
{
	put_text(drawing, "<svg class=\"tools\" x=\"100%\" overflow=\"visible\">\n");
	put_button(drawing, "Search", -142);
	put_button(drawing, "Reset", -72);
	put_text(drawing, "</svg>\n");
}

/* The kinds of one hue that were seen, as "collector, profiler"; false: none. */
static bool join_kinds(const struct dw_drawing *drawing, unsigned hue, char *text, size_t size)
{
	const struct dw_picture *picture = drawing->picture;
	size_t used = 0;

	for (size_t i = 1; i < picture->kind_count; i++) {
		if (picture->kinds[i].hue != hue || !(drawing->kinds >> i & 1))
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
		                         picture->kinds[i].name);
		if (used >= size)
			break;
	}
	return used > 0;
}

static void put_legend(struct dw_drawing *drawing, unsigned y)
{
	char text[128];
	double x = DW_PICTURE_MARGIN;

	put_format(drawing, "<svg class=\"legend\" y=\"%u\" overflow=\"visible\">\n", y);
	for (unsigned hue = 0; hue < DW_HUE_COUNT; hue++) {
		if (!join_kinds(drawing, hue, text, sizeof text))
			continue;
		put_format(drawing,
		           "<svg x=\"%u\" overflow=\"visible\"><g class=\"c%u\">"
		           "<rect y=\"2\" width=\"12\" height=\"12\" rx=\"2\"/></g><text x=\"17\" y=\"12\">",
		           (unsigned)x, hue);
		put_xml(drawing, text, DW_PICTURE_UNCUT);
		put_text(drawing, "</text></svg>\n");
		x += 17 + COLUMN * (double)strlen(text) + 16;
	}
	put_text(drawing, "</svg>\n");
}

static void put_foot(struct dw_drawing *drawing)
{
	const struct dw_picture *picture = drawing->picture;
	unsigned y = HEADER + drawing->drawn.rows * ROW;
	uint64_t merged = drawing->drawn.merged;

	put_format(drawing, "<text class=\"note\" x=\"%u\" y=\"%u\">", DW_PICTURE_MARGIN, y + 18);
	if (merged)
		put_format(drawing, "%s node%s narrower than 0.1 pixel: %s (%s) left in %s parent%s",
		           dw_text_count((int64_t)merged).at, dw_text_plural(merged),
		           picture->unit((double)drawing->merged_value, " ").at,
		           dw_text_percent(share(drawing, drawing->merged_value)).at,
		           merged == 1 ? "its" : "their", dw_text_plural(merged));
	else if (picture->count)
		put_format(drawing, "%s nodes, none left out", dw_text_count((int64_t)picture->count + 1).at);
	else
		put_text(drawing, "nothing was recorded that could be shown here");
	put_text(drawing, "</text>\n");
	put_legend(drawing, y + 28);
	put_tools(drawing);
	put_text(drawing, "<script><![CDATA[\n");
	put_text(drawing, dw_picture_script);
	put_text(drawing, "]]></script>\n</svg>\n");
}

int dw_picture_write(const struct dw_picture *picture, dw_put *put, void *to,
                     struct dw_picture_drawn *drawn, struct dwell_error *error)
{
	struct dw_drawing drawing = { .picture = picture, .put = put, .to = to };
	int failed = dw_picture_measure(&drawing);

	assert(picture->kind_count <= 32);
	if (!failed) {
		put_head(&drawing);
		failed = put_nodes(&drawing);
	}
	if (!failed)
		put_foot(&drawing);
	free(drawing.levels);
	if (failed)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while drawing '%.100s'",
		                    picture->title);
	if (drawn)
		*drawn = drawing.drawn;
	return 0;
}
