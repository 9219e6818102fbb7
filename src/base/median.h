/* The median of numbers. */
#pragma once

#include <stdlib.h>

static inline int dw_compare_numbers(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Sorts numbers in ascending order. */
static inline void dw_sort_numbers(double *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof *values, dw_compare_numbers);
}

/* Sorts the numbers and returns their median; 0 if there are none. */
static inline double dw_median(double *values, size_t count)
{
	dw_sort_numbers(values, count);
	if (!count)
		return 0;
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
