/* Real numbers: their order, their median, and as integers. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

/* So many standard deviations to each side of the mean have 95% of what is distributed normally. */
#define DW_DEVIATIONS 1.96

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

static inline void dw_swap_numbers(double *left, double *right)
{
	double kept = *left;

	*left = *right;
	*right = kept;
}

/* Changes the order of the numbers so that the one at `at` is where it would be in ascending order, smaller ones are before
 * it, and larger ones behind it. The time is in proportion to their number, also for sorted ones: the pivot is chosen at
 * random. */
static inline void dw_select_number(double *values, size_t count, size_t at)
{
	uint64_t random = count;
	size_t first = 0, end = count;

	while (end - first > 1) {
		size_t i = first, j = end - 1;
		double middle;

		random = random * 6364136223846793005u + 1442695040888963407u;
		middle = values[first + (size_t)(random >> 33) % (end - first)];
		for (;; i++, j--) {
			while (values[i] < middle)
				i++;
			while (values[j] > middle)
				j--;
			if (i >= j)
				break;
			dw_swap_numbers(&values[i], &values[j]);
		}
		/* Up to j none is larger, from j + 1 on none is smaller. */
		if (i == j && at == i)
			return;
		if (at <= j && j + 1 < end)
			end = j + 1;
		else if (at > j)
			first = j + 1;
		else
			end--;
	}
}

/* The median, as dw_median() returns it, but faster. Changes the order of the numbers. */
static inline double dw_select_median(double *values, size_t count)
{
	double below;

	if (!count)
		return 0;
	dw_select_number(values, count, count / 2);
	if (count % 2)
		return values[count / 2];
	below = values[0];
	for (size_t i = 1; i < count / 2; i++)
		below = values[i] > below ? values[i] : below;
	return (below + values[count / 2]) / 2;
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

/* Student's factor for 95% of `n` values, from 2 on: within 1%. */
static inline double dw_student(double n)
{
	static const double few[] = { 12.706, 4.303, 3.182 };

	return n < 5 ? few[n < 3 ? 0 : n < 4 ? 1 : 2] : 1.96 + 2.5 / (n - 1) + 1.3 / ((n - 1) * (n - 1));
}
