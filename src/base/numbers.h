/* Real numbers: their order, their median, and as integers. */
#pragma once

#include <stdint.h>
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

/*
 * `value` without its fraction, from 0 to UINT64_MAX; 0 if it is not a number. A damaged file can make a product of ticks
 * and a ratio too large for 64 bits, for which C does not define the conversion: here the result is the largest value.
 */
static inline uint64_t dw_whole(double value)
{
	return value >= 18446744073709551615.0 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;
}

/* The same, from INT64_MIN to INT64_MAX. */
static inline int64_t dw_whole_signed(double value)
{
	return value >= 9223372036854775807.0    ? INT64_MAX
	       : value <= -9223372036854775808.0 ? INT64_MIN
	       : value == value                  ? (int64_t)value
	                                         : 0;
}
