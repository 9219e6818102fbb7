/* Measures what recording costs, when PyTorch is attached (cost.c, cost_layer.c). */
#pragma once

#include "core.h"

/* What a recorded operator costs. Stores it in the trace. */
void dwp_cost_of_operators(void);
/* Without Python: what a step and an event of a thread cost, by instructions. Of Python the time of all hooks is measured. */
void dwp_cost_of_steps(void);

#define DWP_COST_ROUNDS 8
/* Returns the shorter one of `fastest` and the time of a call of work(). False from it: it failed. */
double dwp_cost_time_of(bool (*work)(void *context), void *context, double fastest);
/* The time to write a range: two readings of the clock and three words. */
double dwp_cost_of_range_ns(void);
/* Stores a figure in the trace and returns it. It is limited to bounds, which are multiples of the cost of a range:
 * on a busy machine the difference of two times can have any value. */
double dwp_cost_report(const char *key, double ns, double least, double most);
