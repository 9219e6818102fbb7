/*
 * A picture of a comparison: a row for each rank, a column for each group of steps, coloured by how
 * much longer the rank worked than the median rank. It is an SVG of bounded size: with many ranks
 * or steps a cell shows the largest excess of those that it stands for. The darkest colour is that of the
 * excess that one cell of twenty exceeds, so that noise stays light.
 */
#include <math.h>
#include <stdarg.h>

#include "ranks/ranks.h"

#define MOST_ROWS 256u
#define MOST_COLUMNS 400u
#define LEFT 90
#define TOP 58
#define PLOT_WIDTH 800.0

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

/* From white over orange to dark red, which also differ in brightness. */
static void picture_colour(const struct picture *picture, double excess, int colour[3])
{
	static const int stops[3][3] = { { 245, 245, 240 }, { 240, 150, 60 }, { 130, 10, 30 } };
	double at = fmin(1, fmax(0, excess / picture->darkest)) * 2;
	int stop = at >= 1;

	for (int i = 0; i < 3; i++)
		colour[i] = (int)lround(stops[stop][i] + (at - stop) * (stops[stop + 1][i] - stops[stop][i]));
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

static void picture_row(const struct picture *picture, size_t row, double height)
{
	const struct dw_ranks *ranks = picture->ranks;
	FILE *svg = picture->svg;
	size_t columns = picture->columns;
	double width = PLOT_WIDTH / (double)columns, y = TOP + height * (double)row;
	size_t first = row * ranks->count / picture->rows;

	if (height >= 10 || row % (size_t)ceil(10 / height) == 0)
		picture_put(svg, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">rank %d</text>\n", LEFT - 8, y + height / 2 + 4,
		            ranks->results[first].rank->rank >= 0 ? ranks->results[first].rank->rank : (int)first);
	for (size_t column = 0; column < columns; column++) {
		double excess = picture_cell(picture, row, column);
		int colour[3];

		if (isnan(excess))
			continue;
		picture_colour(picture, excess, colour);
		picture_put(svg, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%02x%02x%02x\"/>\n",
		            LEFT + width * (double)column, y, width + 0.1, height + 0.1, colour[0], colour[1], colour[2]);
	}
}

static void picture_legend(const struct picture *picture)
{
	FILE *svg = picture->svg;

	for (int i = 0; i <= 10; i++) {
		int colour[3];

		picture_colour(picture, picture->darkest * i / 10, colour);
		picture_put(svg, "<rect x=\"%d\" y=\"30\" width=\"16\" height=\"10\" fill=\"#%02x%02x%02x\"/>\n",
		            LEFT + 250 + 16 * i, colour[0], colour[1], colour[2]);
	}
	picture_put(svg,
		"<text x=\"%d\" y=\"39\" text-anchor=\"end\">work beyond the median rank: 0%%</text>\n"
		"<text x=\"%d\" y=\"39\">%.0f%% and more</text>\n",
		LEFT + 244, LEFT + 250 + 16 * 11 + 6, picture->darkest * 100);
}

/* The numbers of the first and the last step, and what a cell stands for. */
static void picture_axis(const struct picture *picture, double bottom)
{
	const struct dw_ranks *ranks = picture->ranks;
	uint64_t last = ranks->first_step + ((uint64_t)ranks->span_count << ranks->span_log2) - 1;
	double steps = ldexp((double)ranks->span_count, (int)ranks->span_log2) / (double)picture->columns;

	picture_put(picture->svg,
	            "<text x=\"%d\" y=\"%.0f\">step %llu</text>\n"
	            "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">step %llu</text>\n",
	            LEFT, bottom + 16, (unsigned long long)ranks->first_step, LEFT + PLOT_WIDTH, bottom + 16,
	            (unsigned long long)last);
	if (steps > 1 || ranks->count > picture->rows)
		picture_put(picture->svg,
		            "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">a cell shows the largest excess of up to %.0f steps%s"
		            "</text>\n",
		            LEFT + PLOT_WIDTH / 2, bottom + 16, ceil(steps) * ceil((double)ranks->count / (double)picture->rows),
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
	            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
	            "font-family=\"sans-serif\" font-size=\"11\" fill=\"#333\">\n",
	            LEFT + (int)PLOT_WIDTH + 20, bottom + 34);
	picture_put(svg,
	            "<title>Ranks and steps: who takes longer than the median rank</title>\n"
	            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
	            "<text x=\"%d\" y=\"20\" font-size=\"14\">Which rank took longer, in which step</text>\n",
	            LEFT);
	picture.darkest = picture_darkest(&picture);
	picture_legend(&picture);
	for (size_t row = 0; row < rows; row++)
		picture_row(&picture, row, height);
	picture_axis(&picture, bottom);
	picture_put(svg, "</svg>\n");
}
