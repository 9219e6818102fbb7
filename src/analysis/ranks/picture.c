/*
 * A picture of a comparison: a row for each rank, a column for each group of steps, coloured by how
 * much longer the rank worked than the median rank. It is an SVG of bounded size: with many ranks
 * or steps a cell shows the largest excess of those that it stands for. The darkest colour is that of the
 * excess that one cell of twenty exceeds, so that noise stays faint. On dark paper strong colours are light.
 */
#include <math.h>
#include <stdarg.h>

#include "ranks/ranks.h"

#define MOST_ROWS 256u
#define MOST_COLUMNS 400u
#define LEVELS 21 /* of colours */
#define LEFT 70
#define TOP 58
#define PLOT_WIDTH 760.0
#define RIGHT 90 /* for the values of the ranks */

struct picture {
	const struct dw_ranks *ranks;
	FILE *svg;
	size_t rows, columns;
	double darkest; /* excess of the darkest colour */
};

static void picture_put(FILE *svg, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void picture_put(FILE *svg, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(svg, format, arguments);
	va_end(arguments);
}

/* On light paper from white over orange to dark red, on dark paper from black over brown to a light orange: strong colours
 * stand out from the paper on both. */
static void picture_style(FILE *svg)
{
	static const int stops[2][3][3] = { { { 245, 245, 240 }, { 240, 150, 60 }, { 130, 10, 30 } },
		                                { { 34, 38, 43 }, { 150, 78, 24 }, { 255, 178, 110 } } };

	picture_put(svg, "<style>\nsvg{color-scheme:light dark;max-width:100%%;height:auto}.slow{font-weight:700}\n"
	            ".paper{fill:#fcfcfb}text{fill:#1d2126}.faint{fill:#59616b}\n");
	for (int dark = 0; dark < 2; dark++) {
		if (dark)
			picture_put(svg, "@media (prefers-color-scheme:dark){.paper{fill:#15181c}text{fill:#f0f1f3}.faint{fill:#a4acb6}\n");
		for (int level = 0; level < LEVELS; level++) {
			double at = level * 2.0 / (LEVELS - 1);
			const int(*of)[3] = &stops[dark][at > 1];
			int colour[3];

			for (int i = 0; i < 3; i++)
				colour[i] = (int)lround(of[0][i] + (at - (at > 1)) * (of[1][i] - of[0][i]));
			picture_put(svg, ".e%d{fill:#%02x%02x%02x}", level, colour[0], colour[1], colour[2]);
		}
		picture_put(svg, dark ? "}\n" : "\n");
	}
	picture_put(svg, "</style>\n");
}

static int picture_level(const struct picture *picture, double excess)
{
	return (int)lround(fmin(1, fmax(0, excess / picture->darkest)) * (LEVELS - 1));
}

/* The largest excess of the ranks and spans of one cell; NaN: none was compared. */
static double picture_cell(const struct picture *picture, size_t row, size_t column)
{
	const struct dw_ranks *ranks = picture->ranks;
	size_t rows = picture->rows, columns = picture->columns;
	double largest = NAN;

	for (size_t i = row * ranks->count / rows; i < (row + 1) * ranks->count / rows; i++)
		for (size_t s = column * ranks->span_count / columns; s < (column + 1) * ranks->span_count / columns; s++) {
			double excess = ranks->excess[i * ranks->span_count + s];

			if (!isnan(excess) && (isnan(largest) || excess > largest))
				largest = excess;
		}
	return largest;
}

/* Of the excesses that 5% of the cells exceed, the next of a few values. */
static double picture_darkest(const struct picture *picture)
{
	static const double values[] = { 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100 };
	size_t counts[sizeof values / sizeof *values + 1] = { 0 }, cells = 0, more, at;

	for (size_t row = 0; row < picture->rows; row++)
		for (size_t column = 0; column < picture->columns; column++) {
			double excess = picture_cell(picture, row, column);

			for (at = 0; at < sizeof values / sizeof *values && excess > values[at]; at++)
				;
			counts[at] += !isnan(excess);
			cells += !isnan(excess);
		}
	at = sizeof values / sizeof *values - 1;
	for (more = counts[at + 1]; at && 20 * (more + counts[at]) <= cells; at--)
		more += counts[at];
	return values[at];
}

/* The rank's name, its cells, and how much longer it worked than the median rank, in the median step. */
static void picture_row(const struct picture *picture, size_t row, double height)
{
	const struct dw_ranks *ranks = picture->ranks;
	size_t first = row * ranks->count / picture->rows;
	const struct dw_rank_result *result = &ranks->results[first];
	double width = PLOT_WIDTH / (double)picture->columns, y = TOP + height * (double)row;

	if (height >= 10 || row % (size_t)ceil(10 / height) == 0) {
		picture_put(picture->svg, "<text%s x=\"%d\" y=\"%.1f\" text-anchor=\"end\">rank %d</text>\n",
		            result->slow || result->may ? " class=\"slow\"" : "", LEFT - 8, y + height / 2 + 4,
		            result->rank->rank >= 0 ? result->rank->rank : (int)first);
		if (!isnan(result->excess) && picture->rows == ranks->count)
			picture_put(picture->svg, "<text%s x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%+.1f%%</text>\n",
			            result->slow || result->may ? " class=\"slow\"" : "", LEFT + PLOT_WIDTH + RIGHT - 20,
			            y + height / 2 + 4, result->excess * 100);
	}
	for (size_t column = 0; column < picture->columns; column++) {
		double excess = picture_cell(picture, row, column);

		if (!isnan(excess))
			picture_put(picture->svg, "<rect class=\"e%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
			            picture_level(picture, excess), LEFT + width * (double)column, y, width + 0.1, height + 0.1);
	}
}

static void picture_legend(const struct picture *picture)
{
	for (int i = 0; i < LEVELS; i += 2)
		picture_put(picture->svg, "<rect class=\"e%d\" x=\"%d\" y=\"30\" width=\"16\" height=\"10\"/>\n", i, LEFT + 220 + 8 * i);
	picture_put(picture->svg,
		"<text class=\"faint\" x=\"%d\" y=\"39\" text-anchor=\"end\">work beyond the median rank: 0%%</text>\n"
		"<text class=\"faint\" x=\"%d\" y=\"39\">%.0f%% and more</text>\n",
		LEFT + 214, LEFT + 220 + 8 * LEVELS + 14, picture->darkest * 100);
	if (picture->rows == picture->ranks->count)
		picture_put(picture->svg, "<text class=\"faint\" x=\"%.0f\" y=\"%d\" text-anchor=\"end\">median step</text>\n",
		            LEFT + PLOT_WIDTH + RIGHT - 20, TOP - 8);
}

/* 1, 2 or 5 times a power of ten, so that at most eight numbers stand below the steps. */
static uint64_t picture_tick(uint64_t steps)
{
	for (uint64_t ten = 1;; ten *= 10)
		for (uint64_t tick = 1; tick <= 5; tick = tick * 2 + (tick == 2))
			if (tick * ten * 8 >= steps)
				return tick * ten;
}

/* The numbers of steps, and what a cell stands for. */
static void picture_axis(const struct picture *picture, double bottom)
{
	const struct dw_ranks *ranks = picture->ranks;
	uint64_t steps = (uint64_t)ranks->span_count << ranks->span_log2, tick = picture_tick(steps);
	double cell = (double)steps / (double)picture->columns;

	for (uint64_t at = (ranks->first_step + tick - 1) / tick * tick; at < ranks->first_step + steps; at += tick) {
		double x = LEFT + ((double)(at - ranks->first_step) + 0.5) * PLOT_WIDTH / (double)steps;

		picture_put(picture->svg, "<rect class=\"faint\" x=\"%.1f\" y=\"%.0f\" width=\"1\" height=\"4\"/>"
		            "<text class=\"faint\" x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%llu</text>\n",
		            x, bottom + 1, x, bottom + 16, (unsigned long long)at);
	}
	picture_put(picture->svg, "<text class=\"faint\" x=\"%d\" y=\"%.0f\" text-anchor=\"end\">step</text>\n", LEFT - 8, bottom + 16);
	if (cell > 1 || ranks->count > picture->rows)
		picture_put(picture->svg,
		            "<text class=\"faint\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">a cell shows the largest excess of up to "
		            "%.0f steps%s</text>\n",
		            LEFT + PLOT_WIDTH / 2, bottom + 32, ceil(cell) * ceil((double)ranks->count / (double)picture->rows),
		            ranks->count > picture->rows ? " of ranks" : "");
}

void dw_ranks_picture(const struct dw_ranks *ranks, FILE *svg)
{
	struct picture picture = { .ranks = ranks,
		                       .svg = svg, .rows = ranks->count < MOST_ROWS ? ranks->count : MOST_ROWS,
		                       .columns = ranks->span_count < MOST_COLUMNS ? ranks->span_count : MOST_COLUMNS };
	size_t rows = picture.rows;
	double height = rows <= 16 ? 20 : rows <= 64 ? 10 : 4, bottom = TOP + height * (double)rows;

	picture_put(svg,
	            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
	            "font-family=\"system-ui,sans-serif\" font-size=\"11\">\n",
	            LEFT + (int)PLOT_WIDTH + RIGHT, bottom + 42, LEFT + (int)PLOT_WIDTH + RIGHT, bottom + 42);
	picture_style(svg);
	picture_put(svg,
	            "<title>Ranks and steps: who takes longer than the median rank</title>\n"
	            "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
	            "<text x=\"%d\" y=\"20\" font-size=\"14\">Which rank took longer, in which step</text>\n",
	            LEFT);
	picture.darkest = picture_darkest(&picture);
	picture_legend(&picture);
	for (size_t row = 0; row < rows; row++)
		picture_row(&picture, row, height);
	picture_axis(&picture, bottom);
	picture_put(svg, "</svg>\n");
}
