/* Durations of many calls. */
#ifndef DW_MODEL_CORE_STAT_H
#define DW_MODEL_CORE_STAT_H

#include <stdint.h>

#define DW_NOT_KEPT UINT64_MAX

/* Durations of many calls. Percentiles are exact up to 64 calls and within 1.6%
 * beyond (32 buckets an octave). */
struct dw_stat {
	uint64_t count;
	uint64_t total_ns, self_ns; /* total: of a row within itself, once: never more than the
	                             * time of the threads */
	uint64_t nested_ns;         /* with total_ns the sum of all durations */
	uint64_t min_ns, max_ns;
	uint64_t p50_ns, p99_ns; /* DW_NOT_KEPT: of more call paths than have them */
	uint64_t open;      /* of `count`, calls without an end: counted until their process's end */
	uint64_t cut;       /* of `count`, calls whose end was recycled: counted until there */
};

#endif
