/*
 * What a range costs on this machine, measured.
 *
 * `dwell run` measures it once, before the program starts, and stores it with the
 * trace, so that a report can say what profiling cost without guessing.
 */
#pragma once

#include <stdint.h>

/* Nanoseconds per range (begin and end), including the pages that it fills. Takes less than 1 ms. */
double dw_cost_range_ns(uint32_t clock_kind);
