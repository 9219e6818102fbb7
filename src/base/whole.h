/*
 * Real numbers to whole ones. A damaged file can make a product of ticks and a ratio too large
 * for 64 bits, where C defines no result of a conversion: here it is the largest value.
 */
#ifndef DW_BASE_WHOLE_H
#define DW_BASE_WHOLE_H

#include <stdint.h>

/* `value` without its fraction, from 0 to UINT64_MAX; 0 where it is no number. */
static inline uint64_t dw_whole(double value)
{
	return value >= 18446744073709551615.0 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;
}

#endif
