/*
 * The file of a curve: head, panels, axis, the holders of the peak; see curve.h.
 *
 * A panel is an inner <svg>. Its units are parts of the time line and of the largest value, so
 * zooming only changes the viewBox. The values that a browser shows at the pointer are in the
 * attribute data-points of the panel, as whole numbers.
 */
#include "pictures/curve.h"

#include <inttypes.h>
#include <stdio.h>

#include "pictures/inside.h"

#define LEFT 84u          /* pixels, for the labels of values */
#define PLOT_WIDTH (DW_PICTURE_WIDTH - LEFT - DW_PICTURE_MARGIN)
#define PANEL 236u        /* the height of the plot of a panel */
#define LABEL 22u         /* above the plot */
#define AXIS 24u          /* below the last plot */
#define ROW 18u
#define HOLDERS 320u      /* start of the bars of holders; the script repeats this and the next */
#define HOLDER_WORDS 170u
#define UNITS 1000000u    /* the width of a plot in its own units */
#define HIGH 10000u       /* the height of a plot in its own units */
#define MOST_MARKS 400u   /* lines; of more marks only every second, third, ... is drawn */

struct plot {
	const struct dw_curve *curve;
	struct dw_pen pen;
	uint64_t top;         /* the top of the axis of values */
};

static unsigned curve_x(const struct dw_curve *curve, uint64_t ns)
{
	uint64_t span = curve->to_ns - curve->from_ns;

	if (ns <= curve->from_ns || !span)
		return 0;
	if (ns >= curve->to_ns)
		return UNITS;
	return (unsigned)((double)(ns - curve->from_ns) / (double)span * UNITS + 0.5);
}

static unsigned curve_y(const struct plot *plot, uint64_t value)
{
	return HIGH - (unsigned)((double)value / (double)plot->top * HIGH + 0.5);
}

/* ---- a panel ------------------------------------------------------------------------------- */

/* The outline of the sum of series 0 to `last`. The lower sums are drawn over it. */
static void curve_put_area(const struct plot *plot, size_t panel, size_t last)
{
	const struct dw_curve *curve = plot->curve;
	unsigned x_before = UINT32_MAX, y_before = HIGH;

	dw_pen_format(&plot->pen, "<path class=\"c%u\" d=\"M", (unsigned)curve->series[last].hue);
	for (size_t i = 0; i < curve->panels[panel].points; i++) {
		uint64_t at_ns, values[DW_CURVE_SERIES], sum = 0;
		unsigned x, y;

		curve->point(curve->context, panel, i, &at_ns, values);
		for (size_t n = 0; n <= last; n++)
			sum += values[n];
		x = curve_x(curve, at_ns);
		y = curve_y(plot, sum);
		if (x_before == UINT32_MAX)
			dw_pen_format(&plot->pen, "%u %uV%u", x, HIGH, y);
		else if (y != y_before)
			dw_pen_format(&plot->pen, "H%uV%u", x, y);
		x_before = x;
		y_before = y;
	}
	dw_pen_format(&plot->pen, "H%uV%uZ\"/>\n", UNITS, HIGH);
}

static void curve_put_marks(const struct plot *plot)
{
	const struct dw_curve *curve = plot->curve;
	size_t every = curve->mark_count / MOST_MARKS + 1;

	dw_pen_text(&plot->pen, "<path class=\"marks\" d=\"");
	for (size_t i = 0; i < curve->mark_count; i += every)
		dw_pen_format(&plot->pen, "M%u 0V%u", curve_x(curve, curve->marks[i].from_ns), HIGH);
	dw_pen_text(&plot->pen, "\"/>\n");
}

/* The points for the script: "ns,value,value,...;". */
static void curve_put_points(const struct plot *plot, size_t panel)
{
	const struct dw_curve *curve = plot->curve;

	dw_pen_text(&plot->pen, " data-points=\"");
	for (size_t i = 0; i < curve->panels[panel].points; i++) {
		uint64_t at_ns, values[DW_CURVE_SERIES];

		curve->point(curve->context, panel, i, &at_ns, values);
		dw_pen_format(&plot->pen, "%s%" PRIu64, i ? ";" : "", at_ns);
		for (size_t n = 0; n < curve->series_count; n++)
			dw_pen_format(&plot->pen, ",%" PRIu64, values[n]);
	}
	dw_pen_text(&plot->pen, "\"");
}

/* The distance of ticks: a quarter of the largest value, rounded up to a round number. */
static uint64_t curve_tick(uint64_t largest)
{
	uint64_t tick = 1;

	while (tick * 4 < largest && tick < UINT64_MAX / 16)
		tick *= 2;
	if (tick >= 4 && tick / 4 * 3 * 4 >= largest)
		return tick / 4 * 3;
	return tick;
}

static void curve_put_values_axis(const struct plot *plot, unsigned y)
{
	for (unsigned i = 0; i <= 4; i++)
		dw_pen_format(&plot->pen, "<text class=\"tick end\" x=\"%u\" y=\"%u\">%s</text>\n", LEFT - 6,
		              y + PANEL - i * PANEL / 4 + 4, plot->curve->unit((double)(plot->top / 4 * i), " ").at);
}

/* The peak: a mark, which the script moves, and a text, which stays within the plot. */
static void curve_put_peak(const struct plot *plot, const struct dw_curve_panel *panel)
{
	double x = curve_x(plot->curve, panel->peak_ns) / (double)UNITS * 100;
	double y = curve_y(plot, panel->peak_value) / (double)HIGH * 100;
	char at[3][16];

	/* %f of printf would use the decimal point of the locale */
	snprintf(at[0], sizeof at[0], "%u.%02u%%", (unsigned)x, (unsigned)(x * 100) % 100);
	snprintf(at[1], sizeof at[1], "%u.%02u%%", (unsigned)y, (unsigned)(y * 100) % 100);
	dw_pen_format(&plot->pen, "<svg class=\"peak\" x=\"%s\" y=\"%s\" overflow=\"visible\" data-ns=\"%" PRIu64
	              "\"><path d=\"M0 0l-5 -9h10z\"/><text class=\"%s\" x=\"%d\" y=\"-1\">",
	              at[0], at[1], panel->peak_ns, x > 75 ? "end" : "", x > 75 ? -9 : 9);
	dw_pen_xml(&plot->pen, panel->peak_label, 60);
	dw_pen_text(&plot->pen, "</text></svg>\n");
}

static void curve_put_panel(struct plot *plot, size_t index, unsigned y)
{
	const struct dw_curve_panel *panel = &plot->curve->panels[index];

	dw_pen_format(&plot->pen, "<text class=\"panel-name\" x=\"%u\" y=\"%u\">", LEFT, y - 6);
	dw_pen_xml(&plot->pen, panel->label, 120);
	dw_pen_text(&plot->pen, "</text>\n");
	curve_put_values_axis(plot, y);
	dw_pen_format(&plot->pen, "<svg class=\"panel\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"", LEFT, y,
	              PLOT_WIDTH, PANEL);
	curve_put_points(plot, index);
	dw_pen_format(&plot->pen, ">\n<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n"
	              "<svg class=\"plot\" width=\"100%%\" height=\"100%%\" viewBox=\"0 0 %u %u\""
	              " preserveAspectRatio=\"none\">\n", UNITS, HIGH);
	for (size_t n = plot->curve->series_count; n-- > 0;)
		curve_put_area(plot, index, n);
	dw_pen_format(&plot->pen, "<path class=\"grid\" d=\"M0 %uH%uM0 %uH%uM0 %uH%u\"/>\n", HIGH / 4,
	              UNITS, HIGH / 2, UNITS, HIGH / 4 * 3, UNITS);
	curve_put_marks(plot);
	dw_pen_text(&plot->pen, "</svg>\n");
	curve_put_peak(plot, panel);
	dw_pen_text(&plot->pen, "<path class=\"cursor\"/><rect class=\"drag\" width=\"0\" height=\"100%\"/></svg>\n");
}

/* ---- axis, legend, holders ------------------------------------------------------------------- */

/* The distance of ticks: 1, 2 or 5 times a power of ten, so that six fit. The script does the
 * same. */
static uint64_t curve_time_tick(uint64_t span)
{
	static const unsigned steps[] = { 1, 2, 5 };
	uint64_t ten = 1;

	for (;; ten *= 10)
		for (int i = 0; i < 3; i++)
			if (ten * steps[i] * 8 >= span || ten > UINT64_MAX / 100)
				return ten * steps[i];
}

/* A time in the unit of the largest one, with enough decimals to distinguish two ticks. */
static struct dw_text curve_time_text(uint64_t ns, uint64_t tick, uint64_t largest)
{
	static const struct { uint64_t ns; const char *name; } units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" },
	};
	struct dw_text text;
	size_t i = 0;
	int digits = 0;
	uint64_t rest;

	while (units[i].ns > largest && units[i].ns > 1)
		i++;
	rest = units[i].ns;
	while (tick < rest && rest > 1) {
		rest /= 10;
		digits++;
	}
	if (digits)
		snprintf(text.at, sizeof text.at, "%" PRIu64 ".%0*u %s", ns / units[i].ns, digits & 15,
		         (unsigned)(ns % units[i].ns / rest), units[i].name);
	else
		snprintf(text.at, sizeof text.at, "%" PRIu64 " %s", ns / units[i].ns, units[i].name);
	return text;
}

static void curve_put_time_axis(const struct plot *plot, unsigned y)
{
	const struct dw_curve *curve = plot->curve;
	uint64_t tick = curve_time_tick(curve->to_ns - curve->from_ns);
	uint64_t at = (curve->from_ns + tick - 1) / tick * tick;

	dw_pen_format(&plot->pen, "<g class=\"axis\" data-y=\"%u\" data-from=\"%" PRIu64
	              "\" data-to=\"%" PRIu64 "\">", y + 16, curve->from_ns, curve->to_ns);
	for (; at <= curve->to_ns; at += tick)
		dw_pen_format(&plot->pen, "<text class=\"tick mid\" x=\"%u\" y=\"%u\">%s</text>",
		              LEFT + (unsigned)((double)curve_x(curve, at) / UNITS * PLOT_WIDTH), y + 16,
		              curve_time_text(at, tick, curve->to_ns).at);
	dw_pen_text(&plot->pen, "</g>\n");
}

static void curve_put_legend(const struct plot *plot, unsigned y)
{
	const struct dw_curve *curve = plot->curve;
	unsigned x = DW_PICTURE_MARGIN;

	dw_pen_format(&plot->pen, "<svg class=\"legend\" y=\"%u\" overflow=\"visible\">\n", y);
	for (size_t n = 0; n < curve->series_count; n++) {
		dw_pen_format(&plot->pen, "<svg x=\"%u\" overflow=\"visible\"><g class=\"c%u\"><rect y=\"2\" width=\"12\""
		              " height=\"12\" rx=\"2\"/></g><text x=\"17\" y=\"12\">", x, (unsigned)curve->series[n].hue);
		dw_pen_xml(&plot->pen, curve->series[n].name, DW_PICTURE_UNCUT);
		dw_pen_text(&plot->pen, "</text></svg>\n");
		x += 33 + (unsigned)(DW_PEN_COLUMN * (double)strlen(curve->series[n].name));
	}
	dw_pen_text(&plot->pen, "</svg>\n");
}

static void curve_put_holders(const struct plot *plot, unsigned y)
{
	const struct dw_curve *curve = plot->curve;

	if (!curve->holder_count)
		return;
	dw_pen_format(&plot->pen, "<text class=\"panel-name\" x=\"%u\" y=\"%u\">", DW_PICTURE_MARGIN, y + 14);
	dw_pen_xml(&plot->pen, curve->holders_label, 150);
	dw_pen_text(&plot->pen, "</text>\n");
	for (size_t i = 0; i < curve->holder_count; i++) {
		dw_pen_format(&plot->pen, "<text class=\"holder\" x=\"%u\" y=\"%u\">", DW_PICTURE_MARGIN,
		              y + (unsigned)(i + 1) * ROW + 14);
		dw_pen_xml(&plot->pen, curve->holders[i].name, 40);
		dw_pen_text(&plot->pen, "</text>\n");
	}
	/* the text of a bar is next to it, so a bar cannot have the whole width */
	dw_pen_format(&plot->pen, "<svg class=\"holders\" x=\"%u\" y=\"%u\" width=\"%u\" overflow=\"visible\">\n",
	              HOLDERS, y, DW_PICTURE_WIDTH - HOLDERS - HOLDER_WORDS);
	for (size_t i = 0; i < curve->holder_count; i++) {
		const struct dw_curve_holder *holder = &curve->holders[i];
		double share = holder->of ? (double)holder->value / (double)holder->of : 0;
		unsigned permille = (unsigned)(share * 1000 + 0.5), at = (unsigned)(i + 1) * ROW;

		dw_pen_format(&plot->pen, "<g class=\"c10\"><rect y=\"%u\" width=\"%u.%u%%\" height=\"12\"/></g>"
		              "<text class=\"holder\" x=\"%u.%u%%\" dx=\"6\" y=\"%u\">%s, %s</text>\n",
		              at + 4, permille / 10, permille % 10, permille / 10, permille % 10, at + 14,
		              curve->unit((double)holder->value, " ").at, dw_text_percent(share).at);
	}
	dw_pen_text(&plot->pen, "</svg>\n");
}

/* The marks for the script: "from,number,to;". */
static void curve_put_mark_data(const struct plot *plot)
{
	const struct dw_curve *curve = plot->curve;

	dw_pen_format(&plot->pen, "<g class=\"mark-data\" data-mark=\"%s\" data-marks=\"", curve->mark);
	for (size_t i = 0; i < curve->mark_count; i++)
		dw_pen_format(&plot->pen, "%s%" PRIu64 ",%" PRIu64 ",%" PRIu64, i ? ";" : "",
		              curve->marks[i].from_ns, curve->marks[i].number, curve->marks[i].to_ns);
	dw_pen_text(&plot->pen, "\"/>\n");
}

void dw_curve_write(const struct dw_curve *curve, dw_put *put, void *to)
{
	static const char *const tools[] = { "In", "Out", "Peak", "Reset" };
	struct plot plot = { .curve = curve, .pen = { put, to } };
	unsigned y = DW_PEN_HEADER + LABEL, axis, rows;

	/* All panels have one scale: an area is as high as its value. There is space above the peak for its text. */
	for (size_t i = 0; i < curve->panel_count; i++) {
		uint64_t top = curve_tick(curve->panels[i].peak_value + curve->panels[i].peak_value / 16) * 4;

		plot.top = top > plot.top ? top : plot.top;
	}
	axis = y + (unsigned)curve->panel_count * (PANEL + LABEL) - LABEL;
	rows = curve->holder_count ? (unsigned)curve->holder_count + 1 : 0;
	dw_pen_head(&plot.pen, curve->title, curve->subtitle, "curve", dw_curve_style, axis + AXIS + rows * ROW + 52);
	for (size_t i = 0; i < curve->panel_count; i++, y += PANEL + LABEL)
		curve_put_panel(&plot, i, y);
	curve_put_time_axis(&plot, axis);
	curve_put_holders(&plot, axis + AXIS);
	if (curve->note) {
		dw_pen_format(&plot.pen, "<text class=\"note\" x=\"%u\" y=\"%u\">", DW_PICTURE_MARGIN,
		              axis + AXIS + rows * ROW + 18);
		dw_pen_xml(&plot.pen, curve->note, 160);
		dw_pen_text(&plot.pen, "</text>\n");
	}
	curve_put_legend(&plot, axis + AXIS + rows * ROW + 28);
	curve_put_mark_data(&plot);
	dw_pen_buttons(&plot.pen, tools, sizeof tools / sizeof *tools);
	dw_pen_script(&plot.pen, dw_curve_script);
}
