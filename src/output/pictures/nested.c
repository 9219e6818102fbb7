/*
 * The file of a picture: head, bars, legend, tools; see picture.h. layout.c finds the places.
 *
 * Horizontal lengths are in percent, so that the picture follows the width of its page.
 */
#include "pictures/inside.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

#define ROW 18u                 /* pixels from one row to the next; the script reads it */
#define BAR 17u
#define HEADER DW_PEN_HEADER
#define FOOTER 52u
#define COLUMN DW_PEN_COLUMN

/* ---- text ----------------------------------------------------------------------------- */

/* Percent without zeros at the end. %f of printf would use the decimal point of the locale. */
static struct dw_text picture_percent(uint32_t part)
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

/* The shade of a bar, from its label: neighbours of one kind differ, equal names are equal. */
static unsigned picture_tint(const char *label)
{
	uint32_t hash = 2166136261u;

	while (*label)
		hash = (hash ^ (unsigned char)*label++) * 16777619u;
	return (hash >> 13) % 3;
}

/* The label of a layer without that of the layer around it: "net.conv1" in "net" becomes
 * ".conv1". The script does the same. */
static const char *picture_short_label(const char *label, const char *parent)
{
	size_t length = strlen(parent);

	return length && strncmp(label, parent, length) == 0 && label[length] == '.' ? label + length : label;
}

static double picture_share(const struct dw_drawing *drawing, uint64_t value)
{
	return drawing->drawn.total ? (double)value / (double)drawing->drawn.total : 0;
}

/* The first line is the name: the script reads it from here. */
static void picture_put_tooltip(struct dw_drawing *drawing, const struct dw_picture_node *node,
                                const struct dw_picture_place *place)
{
	const struct dw_picture *picture = drawing->picture;

	dw_pen_text(&drawing->pen, "<title>");
	dw_pen_xml(&drawing->pen, node->label, DW_PICTURE_UNCUT);
	dw_pen_text(&drawing->pen, "\n");
	if (node->kind && !picture->plain) {
		dw_pen_xml(&drawing->pen, picture->kinds[node->kind].name, DW_PICTURE_UNCUT);
		dw_pen_text(&drawing->pen, ", ");
	}
	dw_pen_format(&drawing->pen, "%s, %s of ", picture->unit((double)place->value, " ").at,
	           dw_text_percent(picture_share(drawing, place->value)).at);
	dw_pen_xml(&drawing->pen, picture->root, DW_PICTURE_UNCUT);
	if (node->self != DW_PICTURE_NO_SELF)
		dw_pen_format(&drawing->pen, ", %s self", picture->unit((double)node->self, " ").at);
	if (node->count) {
		dw_pen_format(&drawing->pen, ", %s ", dw_text_count((int64_t)node->count).at);
		dw_pen_xml(&drawing->pen, picture->counted, DW_PICTURE_UNCUT);
		dw_pen_text(&drawing->pen, dw_text_plural(node->count));
	}
	if (node->note)
		dw_pen_xml(&drawing->pen, node->note, DW_PICTURE_UNCUT);
	dw_pen_text(&drawing->pen, "</title>");
}

static void picture_put_node(struct dw_drawing *drawing, const struct dw_picture_node *node,
                             const struct dw_picture_place *place, uint32_t row)
{
	uint32_t rows = drawing->drawn.rows;
	uint32_t y = (drawing->picture->down ? row : rows - 1 - row) * ROW;
	double room = (double)place->width / DW_PICTURE_FULL * DW_PICTURE_FRAMES - 7;
	const char *label = row ? picture_short_label(node->label, drawing->levels[row - 1].label) : node->label;
	struct dw_text x = picture_percent(place->x);

	dw_pen_format(&drawing->pen, "<g class=\"c%u t%u\">", (unsigned)drawing->picture->kinds[node->kind].hue,
	           drawing->picture->plain ? 0 : picture_tint(node->label));
	picture_put_tooltip(drawing, node, place);
	dw_pen_format(&drawing->pen, "<rect x=\"%s\" y=\"%u\" width=\"%s\" height=\"%u\"/>", x.at, y,
	           picture_percent(place->width).at, BAR);
	if (room >= 3 * COLUMN || room >= (double)strlen(label) * COLUMN) {
		dw_pen_format(&drawing->pen, "<text x=\"%s\" dx=\"3\" y=\"%u\">", x.at, y + 13);
		dw_pen_xml(&drawing->pen, label, (unsigned)(room / COLUMN));
		dw_pen_text(&drawing->pen, "</text>");
	}
	dw_pen_text(&drawing->pen, "</g>\n");
}

static int picture_put_nodes(struct dw_drawing *drawing)
{
	const struct dw_picture *picture = drawing->picture;
	struct dw_picture_node node = { picture->root, drawing->drawn.total, DW_PICTURE_NO_SELF, 0, 0, 0,
		                            NULL };
	struct dw_picture_place place = { 0, DW_PICTURE_FULL, drawing->drawn.total };
	int failed = 0;

	if (!dw_picture_start(drawing))
		return -1;
	dw_pen_format(&drawing->pen, "<svg class=\"frames\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\">\n",
	           DW_PICTURE_MARGIN, HEADER, DW_PICTURE_FRAMES, drawing->drawn.rows * ROW);
	picture_put_node(drawing, &node, &place, 0);
	for (size_t i = 0; i < picture->count && !failed; i++) {
		picture->node(picture->context, i, &node);
		if (dw_picture_lay(drawing, &node, &place, &failed))
			picture_put_node(drawing, &node, &place, node.depth + 1);
	}
	dw_pen_format(&drawing->pen, "<rect class=\"ring\" height=\"%u\" width=\"0\"/>\n</svg>\n", BAR);
	return failed;
}

/* ---- legend and foot ------------------------------------------------------------------------ */

/* The names of the kinds of one hue that occur, as "collector, profiler". False if none does. */
static bool picture_join_kinds(const struct dw_drawing *drawing, unsigned hue, char *text, size_t size)
{
	const struct dw_picture *picture = drawing->picture;
	size_t used = 0;

	for (size_t i = 1; i < picture->kind_count; i++) {
		if (picture->kinds[i].hue != hue || !(drawing->kinds >> i & 1))
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", picture->kinds[i].name);
		if (used >= size)
			break;
	}
	return used > 0;
}

static void picture_put_legend(struct dw_drawing *drawing, unsigned y)
{
	char text[128];
	double x = DW_PICTURE_MARGIN;

	dw_pen_format(&drawing->pen, "<svg class=\"legend\" y=\"%u\" overflow=\"visible\">\n", y);
	for (unsigned hue = 0; hue < DW_HUE_MOST; hue++) {
		if (!picture_join_kinds(drawing, hue, text, sizeof text))
			continue;
		dw_pen_format(&drawing->pen, "<svg x=\"%u\" overflow=\"visible\"><g class=\"c%u\">"
		              "<rect y=\"2\" width=\"12\" height=\"12\" rx=\"2\"/></g><text x=\"17\" y=\"12\">",
		              (unsigned)x, hue);
		dw_pen_xml(&drawing->pen, text, DW_PICTURE_UNCUT);
		dw_pen_text(&drawing->pen, "</text></svg>\n");
		x += 17 + COLUMN * (double)strlen(text) + 16;
	}
	dw_pen_text(&drawing->pen, "</svg>\n");
}

static void picture_put_foot(struct dw_drawing *drawing)
{
	static const char *const tools[] = { "Search", "Reset" };
	const struct dw_picture *picture = drawing->picture;
	unsigned y = HEADER + drawing->drawn.rows * ROW;
	uint64_t merged = drawing->drawn.merged;

	dw_pen_format(&drawing->pen, "<text class=\"note\" x=\"%u\" y=\"%u\">", DW_PICTURE_MARGIN, y + 18);
	if (merged)
		dw_pen_format(&drawing->pen, "%s node%s narrower than 0.1 pixel: %s (%s) left in %s parent%s",
		           dw_text_count((int64_t)merged).at, dw_text_plural(merged),
		           picture->unit((double)drawing->merged_value, " ").at,
		           dw_text_percent(picture_share(drawing, drawing->merged_value)).at,
		           merged == 1 ? "its" : "their", dw_text_plural(merged));
	else if (picture->count)
		dw_pen_format(&drawing->pen, "%s nodes, none left out", dw_text_count((int64_t)picture->count + 1).at);
	else
		dw_pen_text(&drawing->pen, "nothing was recorded that could be shown here");
	dw_pen_text(&drawing->pen, "</text>\n");
	picture_put_legend(drawing, y + 28);
	dw_pen_buttons(&drawing->pen, tools, sizeof tools / sizeof *tools);
	dw_pen_script(&drawing->pen, dw_picture_script);
}

int dw_picture_write(const struct dw_picture *picture, dw_put *put, void *to,
                     struct dw_picture_drawn *drawn, struct dwell_error *error)
{
	struct dw_drawing drawing = { .picture = picture, .pen = { put, to } };
	int failed = dw_picture_measure(&drawing);

	assert(picture->kind_count <= 32);
	if (!failed) {
		dw_pen_head(&drawing.pen, picture->title, picture->subtitle, picture->down ? "down" : "up",
		            picture->style ? picture->style : "", HEADER + drawing.drawn.rows * ROW + FOOTER);
		failed = picture_put_nodes(&drawing);
	}
	if (!failed)
		picture_put_foot(&drawing);
	free(drawing.levels);
	if (failed)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while drawing '%.100s'", picture->title);
	if (drawn)
		*drawn = drawing.drawn;
	return 0;
}
