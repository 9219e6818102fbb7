/* The rule by which a step is longer than its neighbours. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A step is slow if it takes DW_SLOW_RATIO times the median of the up to DW_SLOW_BEFORE steps of its thread before it,
 * and is longer by DW_SLOW_SPREADS times the deviation of these (1.48 times the median deviation from the median). Ten
 * steps a second whose lengths vary by 20%, and of which one in a hundred is half as long again, have at most one slow
 * step a day (tests/unit/watch). */
#define DW_SLOW_BEFORE 64u
#define DW_SLOW_LEAST 20u /* steps before it: fewer say nothing */
#define DW_SLOW_RATIO 2.0
#define DW_SLOW_SPREADS 10.0

/* Whether a length is slow after those of the steps before it. Changes `before`. */
bool dw_slow_is(double length, double *before, size_t count);
