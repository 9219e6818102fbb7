/* The function of `dwell run --step-on FUNCTION`. */
#pragma once

struct dw_executable;

/* Sets DWELL_STEP_ENTRY, which probes/sampler/entry.c reads in each process of the run. Returns what is to be said if
 * no process has the function; NULL if the program is a script or Python, whose probe says it. */
const char *dw_run_set_entry(const struct dw_executable *executable, const char *name);
