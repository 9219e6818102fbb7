/* Records the stacks of a program that runs already, and of its descendants, for `dwell attach`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DW_ATTACH_HZ 100u

struct dw_attach_request {
	uint32_t pid;
	unsigned hz;        /* looks a second at each thread */
	uint64_t for_ms;    /* 0: until a signal comes or the program ends */
	const char *output; /* the trace; NULL: a new name derived from the program's */
};

/* Returns 0, or an exit status after an error message. `trace` (4096 bytes) receives the trace's path. *let_go: no thread is
 * held any more; otherwise threads that still stop late are let go when this process ends. */
int dw_attach(const struct dw_attach_request *request, char *trace, bool *let_go);
