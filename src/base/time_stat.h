/*
 * Summary of many durations, in one pass and without keeping them.
 *
 * The unit is the caller's: nanoseconds, clock ticks or seconds. An index says which of the
 * caller's durations was the shortest and the longest, for example its iteration. A zeroed
 * summary is empty. Used by the summaries of engines' events in the model and in
 * libdwell-ignite.
 */
#pragma once

#include <math.h>
#include <stdint.h>

struct dw_time_stat {
	uint64_t count;
	double total, min, max, mean;
	double spread;                 /* sum of squared distances from the mean */
	uint64_t min_index, max_index; /* of the first occurrence */
};

static inline void dw_time_stat_add(struct dw_time_stat *stat, double time, uint64_t index)
{
	double above = time - stat->mean;

	if (stat->count++ == 0 || time < stat->min) {
		stat->min = time;
		stat->min_index = index;
	}
	if (stat->count == 1 || time > stat->max) {
		stat->max = time;
		stat->max_index = index;
	}
	stat->total += time;
	stat->mean += above / (double)stat->count;
	stat->spread += above * (time - stat->mean);
}

/* Adds the durations of `from`, whose unit is `scale` times that of `into`. */
static inline void dw_time_stat_merge(struct dw_time_stat *into, const struct dw_time_stat *from, double scale)
{
	double count = (double)(into->count + from->count), apart;

	if (!from->count)
		return;
	if (!into->count || from->min * scale < into->min) {
		into->min = from->min * scale;
		into->min_index = from->min_index;
	}
	if (!into->count || from->max * scale > into->max) {
		into->max = from->max * scale;
		into->max_index = from->max_index;
	}
	apart = from->mean * scale - into->mean;
	into->spread += from->spread * scale * scale + apart * apart * (double)into->count * (double)from->count / count;
	into->mean += apart * (double)from->count / count;
	into->total += from->total * scale;
	into->count += from->count;
}

/* The standard deviation of a sample (N - 1); NaN for fewer than two durations. */
static inline double dw_time_stat_std(const struct dw_time_stat *stat)
{
	return stat->count > 1 ? sqrt(stat->spread / (double)(stat->count - 1)) : NAN;
}
