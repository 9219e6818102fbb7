/* What perf_event_open() takes, as the kernel has it since it knows breakpoints. Not every C library comes with the kernel's header. */
#pragma once

#include <stdint.h>
#include <unistd.h>

#include "base/system/system.h"

struct dw_perf_event {
	uint32_t type, bytes;
	uint64_t config, sample_period, sample_type, read_format, flags;
	uint32_t wakeup, breakpoint;
	uint64_t config1, config2;
};
_Static_assert(sizeof(struct dw_perf_event) == 72, "the second version has 72 bytes");

/* An event of the calling thread. `group`: the first event of its group, or -1. Returns the descriptor, or -1. */
static inline int dw_perf_event_open(struct dw_perf_event *event, int group)
{
	event->bytes = sizeof *event;
	return (int)dw_system_errno(dw_call(SYS_perf_event_open, event, 0, -1, group, 8 /* closed by exec */));
}

/* An event for each time that a thread of this process comes to the instruction. It does not count before it is enabled. */
static inline __attribute__((unused)) int dw_perf_event_open_breakpoint(const void *code, int thread)
{
	struct dw_perf_event event = { .type = 5 /* breakpoint */, .bytes = sizeof event, .sample_period = 1, .wakeup = 1 };

	event.flags = 1 /* disabled */ | 3u << 5 /* user space */;
	event.breakpoint = 4; /* execution */
	event.config1 = (uintptr_t)code;
	event.config2 = sizeof(long);
	return (int)dw_system_errno(dw_call(SYS_perf_event_open, &event, thread, -1, -1, 8 /* closed by exec */));
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
