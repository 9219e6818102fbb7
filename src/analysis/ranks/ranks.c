/* Statistics, numbers and notes that all files of this folder use. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/numbers.h"
#include "ranks/ranks.h"

#define LEAST_SPREADS 5.0 /* of the differences between ranks, robust */
#define MAY_SPREADS 4.5 /* as LEAST_SPREADS, of a rank that may be slow */
#define MAY_PARTS 8.0 /* that are compared in each rank, about */
#define MAY_MORE 0.7  /* standard errors beyond the largest that is expected of so many equal parts */
#define ALONE 0.1 /* excess of a rank that is slow although others differ, if no other has half as much */
#define BLOCK 10u /* least steps of a block */
#define LEAST_BLOCKS 5u
#define MOST_BLOCKS 20u
#define MEDIAN_ERROR 1.2533 /* standard error of a median of normal values, in those of their mean */
#define SIGMA 1.4826 /* of a normal distribution, from the median absolute deviation */

const char *dw_ranks_part_name(unsigned part)
{
	switch (part) {
	case DW_RANKS_NO_PART:
		return "";
	case DW_RANKS_BETWEEN:
		return "between steps";
	case DW_PART_IDLE:
		return "waits";
	case DW_PART_UNNAMED:
		return "no range";
	default:
		return dw_facts_part_name((enum dw_part)part);
	}
}

void dw_ranks_note(struct dw_ranks *ranks, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (ranks->notes && ranks->note_count < 64)
		ranks->notes[ranks->note_count++] = dw_arena_text(&ranks->arena, text, strlen(text));
}

double dw_ranks_middle(double *values, size_t count)
{
	double median = dw_select_median(values, count);

	return count == 2 ? values[0] : median;
}

int dw_ranks_number(const struct dw_ranks *ranks, size_t i)
{
	return ranks->results[i].rank->rank >= 0 ? ranks->results[i].rank->rank : (int)i;
}

double dw_ranks_spread(double *values, size_t count, double median)
{
	for (size_t i = 0; i < count; i++)
		values[i] = fabs(values[i] - median);
	return SIGMA * dw_select_median(values, count);
}

/* The standard error of a quantile from those of blocks of consecutive values, which are less
 * dependent on each other than the values. 0: there are too few. Changes the values' order. */
static double ranks_block_error(double *values, size_t count, double quantile)
{
	size_t blocks = count / BLOCK < MOST_BLOCKS ? count / BLOCK : MOST_BLOCKS;
	double medians[MOST_BLOCKS], sum = 0, squares = 0;

	if (blocks < LEAST_BLOCKS)
		return 0;
	for (size_t b = 0; b < blocks; b++) {
		size_t from = b * count / blocks, to = (b + 1) * count / blocks;
		size_t at = (size_t)(quantile * (double)(to - from));

		dw_select_number(values + from, to - from, at);
		medians[b] = values[from + at];
		sum += medians[b];
	}
	for (size_t b = 0; b < blocks; b++)
		squares += pow(medians[b] - sum / (double)blocks, 2);
	return sqrt(squares / (double)(blocks - 1) / (double)blocks);
}

double dw_ranks_quarter_error(double *values, size_t count, double *quarter)
{
	double error = ranks_block_error(values, count, 0.25);

	if (count)
		dw_select_number(values, count, count / 4);
	*quarter = count ? values[count / 4] : 0;
	return count / BLOCK < LEAST_BLOCKS ? INFINITY : error;
}

double dw_ranks_median_error(double *values, size_t count, double *median)
{
	double error = ranks_block_error(values, count, 0.5);

	*median = dw_select_median(values, count);
	return count ? fmax(error, dw_ranks_spread(values, count, *median) / sqrt((double)count) * MEDIAN_ERROR) : error;
}

struct dw_ranks_limit dw_ranks_find_limit(const double *excess, const double *errors, size_t count, double *space)
{
	struct dw_ranks_limit limit = { .least_doubt = sqrt(2 * log(MAY_PARTS * (double)count)) + MAY_MORE };

	memcpy(space, errors, count * sizeof *space);
	limit.least_error = dw_median(space, count); /* an error that is small by chance */
	memcpy(space, excess, count * sizeof *space);
	limit.median = dw_median(space, count);
	for (size_t i = 0; i < count; i++) {
		limit.second = fmax(limit.second, fmin(limit.first, excess[i]));
		limit.first = fmax(limit.first, excess[i]);
	}
	if (count >= 4)
		limit.spread = dw_ranks_spread(space, count, limit.median);
	return limit;
}

/* Whether one rank alone has a large excess. Among few ranks, others that are faster than the median one make the spread large,
 * and say nothing of it. */
static bool ranks_is_alone(const struct dw_ranks_limit *limit, double excess)
{
	return excess >= ALONE && excess >= limit->first && limit->second <= excess / 2;
}

bool dw_ranks_exceeds(const struct dw_ranks_limit *limit, double excess, double error)
{
	return excess >= DW_RANKS_LEAST_EXCESS && excess >= DW_RANKS_LEAST_ERRORS * fmax(error, limit->least_error) &&
	       (excess - fmin(limit->median, 0) >= LEAST_SPREADS * limit->spread || ranks_is_alone(limit, excess));
}

double dw_ranks_doubt(const struct dw_ranks_limit *limit, double excess, double error)
{
	double least = fmax(fmax(error, limit->least_error) * limit->least_doubt, MAY_SPREADS * limit->spread);

	return excess / fmax(least, DW_RANKS_LEAST_EXCESS);
}

void dw_ranks_reset(struct dw_ranks *ranks)
{
	dw_arena_reset(&ranks->arena);
}
