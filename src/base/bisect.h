/*
 * Searches a sorted array by halves.
 *
 *     DW_BISECT(0, count, i, items[i].ns < ns)
 *
 * is the first index for which the condition is false, or the end: that of the first item that is
 * not before `ns`. The condition must be true for a front part alone.
 */
#pragma once

#include <stddef.h>

#define DW_BISECT(from, to, i, before)                    \
	({                                                    \
		size_t low_ = (from), high_ = (to);               \
                                                          \
		while (low_ < high_) {                            \
			size_t i = low_ + (high_ - low_) / 2;         \
                                                          \
			if (before)                                   \
				low_ = i + 1;                             \
			else                                          \
				high_ = i;                                \
		}                                                 \
		low_;                                             \
	})
