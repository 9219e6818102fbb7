/* What perf_event_open() takes, as the kernel defined it at first. Not every C library comes with the kernel's header. */
#pragma once

#include <stdint.h>
#include <unistd.h>

#include "base/system/system.h"

struct dw_perf_event {
	uint32_t type, bytes;
	uint64_t config, sample_period, sample_type, read_format, flags;
	uint32_t wakeup, breakpoint;
	uint64_t config1;
};
_Static_assert(sizeof(struct dw_perf_event) == 64, "the first version has 64 bytes");

/* An event of the calling thread. `group`: the first event of its group, or -1. Returns the descriptor, or -1. */
static inline int dw_perf_event_open(struct dw_perf_event *event, int group)
{
	event->bytes = sizeof *event;
	return (int)dw_system_errno(dw_call(SYS_perf_event_open, event, 0, -1, group, 8 /* closed by exec */));
}

/* An event for each period of CPU time, with the functions of the kernel that the thread is in. The recorder in two files does
 * not sample. */
static inline __attribute__((unused)) int dw_perf_event_open_samples(uint64_t period_ns)
{
	struct dw_perf_event event = { .type = 1 /* software */, .config = 0 /* CPU time */, .sample_period = period_ns,
		                           .sample_type = 1u << 5 /* the stack */, .flags = 1u << 22 /* without user space */,
		                           .wakeup = 1 };

	return dw_perf_event_open(&event, -1);
}
