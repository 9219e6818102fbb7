/* The end of `dwell run`: finishes the trace and says where it is. The file may have been moved, removed, replaced or cut
 * while the program ran. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Looks how large the trace is: it never shrinks while it is recorded. For the thread that watches the machine. */
void dw_run_see_size(void);
/* What the program and the processes that it waited for used. */
struct dw_run_usage {
	uint64_t cpu_ns;
	bool is_named; /* it has been said why the program itself is not recorded */
};

/* Finishes the trace. `actual`: where it was created; `wanted`: where it is to be. `trace` (4096 bytes) receives its path, or
 * "" if there is none: then it has been said why. */
void dw_run_finish(const char *wanted, const char *actual, const struct dw_run_usage *usage, char *trace);
/* Says, as the last line, where the trace is. */
void dw_run_say_where(const char *trace);
