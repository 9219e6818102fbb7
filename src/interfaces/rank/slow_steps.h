/* What was recorded around slow steps, for `dwell run --always`. */
#pragma once

#include <stdint.h>

#define DW_SLOW_WINDOW_NS UINT64_C(60000000000)

/*
 * Of the steps of a trace that ended after `since_ns` (ns since 1970), stores the slowest one that is slow (watch/slow.h), with the
 * minute before it, as the trace "job.slow-STEP.dwell" for "job.dwell". Older ones are removed if all of them take more
 * than `most_bytes`. Says what failed.
 */
void dw_slow_steps_store(const char *trace, uint64_t since_ns, uint64_t most_bytes);
