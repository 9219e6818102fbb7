/*
 * Clocks: which one a run uses, and how its ticks relate to time.
 *
 * A run has one kind of clock (enum dw_clock_kind by value, base does not know
 * the format): the processor's counter where it runs at a constant rate and is
 * alike on all cores, else clock_gettime. dw_clock_read() is async-signal-safe.
 */
#ifndef DW_BASE_CLOCK_H
#define DW_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { DW_CLOCK_KIND_MONOTONIC = 1, DW_CLOCK_KIND_TSC = 2, DW_CLOCK_KIND_CNTVCT = 3 };

struct dw_clock_sample {
	uint64_t ticks, monotonic_ns, realtime_ns;
	uint64_t error_ns; /* how long the reading took */
};

/* The best kind here; `wanted` ("tsc", "monotonic", NULL) may ask for one. */
uint32_t dw_clock_pick(const char *wanted);
/* Whether dw_clock_read() reads this kind here. */
bool dw_clock_usable(uint32_t kind);
uint64_t dw_clock_read(uint32_t kind);
/* The three clocks as close together as a few tries allow. */
void dw_clock_sample(uint32_t kind, struct dw_clock_sample *sample);
/* Takes about a millisecond where the rate is not stated by the processor. */
uint64_t dw_clock_rate(uint32_t kind);

#endif
