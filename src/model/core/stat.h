/* Durations of many calls. */
#pragma once

#include <stdint.h>

#define DW_NOT_KEPT UINT64_MAX

/* Percentiles are exact for up to 64 calls and within 1.6% for more (32 buckets an octave). */
struct dw_stat {
	uint64_t count;
	uint64_t total_ns, self_ns; /* total: calls within calls of the same row count once, so it
	                             * never exceeds the time of the threads */
	uint64_t nested_ns;         /* total_ns + nested_ns is the sum of all durations */
	uint64_t min_ns, max_ns;
	uint64_t p50_ns, p99_ns; /* DW_NOT_KEPT: the call tree has more nodes than get percentiles */
	uint64_t open;      /* how many of `count` have no end: they last until the end of their
	                     * process */
	uint64_t cut;       /* how many of `count` lost their end to recycling: they last until there */
};
