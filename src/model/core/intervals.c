/*
 * Lists of time intervals; see intervals.h.
 *
 * Intervals are half-open. Intervals that touch become one.
 */

#include "base/order.h"
#include "model/core/intervals.h"

DW_ORDER(compare_intervals, struct dw_interval, DW_UP(start_ticks))

size_t dw_intervals_unite(struct dw_interval *intervals, size_t count)
{
	size_t kept = 0;

	DW_SORT(intervals, count, compare_intervals);
	for (size_t i = 0; i < count; i++) {
		if (kept && intervals[i].start_ticks <= intervals[kept - 1].end_ticks) {
			if (intervals[i].end_ticks > intervals[kept - 1].end_ticks)
				intervals[kept - 1].end_ticks = intervals[i].end_ticks;
		} else {
			intervals[kept++] = intervals[i];
		}
	}
	return kept;
}

size_t dw_intervals_subtract(const struct dw_interval *from, size_t count,
                             const struct dw_interval *less, size_t less_count, struct dw_interval *to)
{
	size_t kept = 0, at = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t start = from[i].start_ticks, end = from[i].end_ticks;

		while (at < less_count && less[at].end_ticks <= start)
			at++;
		for (size_t l = at; l < less_count && less[l].start_ticks < end; l++) {
			if (less[l].start_ticks > start)
				to[kept++] = (struct dw_interval){ start, less[l].start_ticks };
			start = less[l].end_ticks;
		}
		if (start < end)
			to[kept++] = (struct dw_interval){ start, end };
	}
	return kept;
}

size_t dw_intervals_intersect(const struct dw_interval *a, size_t a_count,
                              const struct dw_interval *b, size_t b_count, struct dw_interval *to)
{
	size_t kept = 0;

	for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
		uint64_t start = a[i].start_ticks > b[j].start_ticks ? a[i].start_ticks : b[j].start_ticks;
		uint64_t end = a[i].end_ticks < b[j].end_ticks ? a[i].end_ticks : b[j].end_ticks;

		if (start < end)
			to[kept++] = (struct dw_interval){ start, end };
		if (a[i].end_ticks < b[j].end_ticks)
			i++;
		else
			j++;
	}
	return kept;
}
