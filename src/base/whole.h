/*
 * Converts real numbers to integers. A damaged file can make a product of ticks and a ratio too
 * large for 64 bits, for which C does not define the conversion. Here the result is the largest
 * value.
 */
#pragma once

#include <stdint.h>

/* `value` without its fraction, from 0 to UINT64_MAX; 0 if it is not a number. */
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
