/* The function of `dwell run --step-on FUNCTION`. */
#ifndef DW_CLI_RUN_ENTRY_H
#define DW_CLI_RUN_ENTRY_H

#include <stddef.h>

/* Sets DWELL_STEP_ENTRY, which probes/sampler/entry.c reads in each process of the run. Returns what is to be said if
 * no process has the function; NULL if the program is a script or Python, whose probe says it. */
const char *dw_run_set_entry(const char *program, const char *name);

#endif
