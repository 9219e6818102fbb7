/* Lists of times. A list is united when its intervals ascend and lie apart. */
#ifndef DW_MODEL_CORE_INTERVALS_H
#define DW_MODEL_CORE_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

/* Half-open, ascending, apart; the last one starts at UINT64_MAX. */
struct dw_interval {
	uint64_t start_ticks, end_ticks;
};

/* Unites them in place; how many are left. */
size_t dw_intervals_unite(struct dw_interval *intervals, size_t count);
/* `from` without `less`, both united; at most the sum of both. */
size_t dw_intervals_subtract(const struct dw_interval *from, size_t count,
                             const struct dw_interval *less, size_t less_count,
                             struct dw_interval *to);
/* What lies in both, both united; at most the sum of both. */
size_t dw_intervals_intersect(const struct dw_interval *a, size_t a_count,
                              const struct dw_interval *b, size_t b_count, struct dw_interval *to);

#endif
