/* Lists of time intervals. A list is united if its intervals ascend and do not touch. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Half-open. The lists that a model stores are united and end with an interval that starts at
 * UINT64_MAX. */
struct dw_interval {
	uint64_t start_ticks, end_ticks;
};

/* Unites the intervals in place. Returns how many are left. */
size_t dw_intervals_unite(struct dw_interval *intervals, size_t count);
/* Subtracts `less` from `from`, both united. Writes at most count + less_count intervals and
 * returns how many. */
size_t dw_intervals_subtract(const struct dw_interval *from, size_t count,
                             const struct dw_interval *less, size_t less_count, struct dw_interval *to);
/* Intersects `a` and `b`, both united. Writes at most a_count + b_count intervals and returns how
 * many. */
size_t dw_intervals_intersect(const struct dw_interval *a, size_t a_count,
                              const struct dw_interval *b, size_t b_count, struct dw_interval *to);
