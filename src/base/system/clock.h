/*
 * Clocks: which one a run uses, and how to convert its ticks to time.
 *
 * A run has one kind of clock (the values are those of enum dw_clock_kind; base does not include
 * the format): the processor's counter if its rate is constant and the same on all cores, otherwise
 * clock_gettime. dw_clock_read() is async-signal-safe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { DW_CLOCK_KIND_MONOTONIC = 1, DW_CLOCK_KIND_TSC = 2, DW_CLOCK_KIND_CNTVCT = 3 };

struct dw_clock_sample {
	uint64_t ticks, monotonic_ns, realtime_ns;
	uint64_t error_ns; /* how long the reading took */
};

/* The best kind on this machine; `wanted` ("tsc", "monotonic", NULL) may request one. */
uint32_t dw_clock_pick(const char *wanted);
/* Whether dw_clock_read() supports this kind on this machine. */
bool dw_clock_usable(uint32_t kind);
/* clock_gettime(). */
uint64_t dw_clock_ns(clockid_t clock);
uint64_t dw_clock_monotonic_ns(void);
uint64_t dw_clock_monotonic_ms(void);
/* Inline, because every record and every step reads the clock. */
static inline uint64_t dw_clock_read(uint32_t kind)
{
#if defined(__x86_64__)
	if (kind == DW_CLOCK_KIND_TSC)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (kind == DW_CLOCK_KIND_CNTVCT) {
		uint64_t ticks;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return dw_clock_monotonic_ns();
}
/* Reads the three clocks several times and returns the closest readings. */
void dw_clock_sample(uint32_t kind, struct dw_clock_sample *sample);
/* Ticks per second. If the processor does not state the rate, waits until `first`, an earlier sample, is `least_ns`
 * to 20 * `least_ns` ago. In a millisecond the rate is exact to 10^-4. */
uint64_t dw_clock_rate(uint32_t kind, const struct dw_clock_sample *first, uint64_t least_ns);
