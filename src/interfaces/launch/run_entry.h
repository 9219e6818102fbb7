/* The function of `dwell run --step-on FUNCTION`. */
#pragma once

struct dw_executable;
struct dw_source;

/* Sets DWELL_STEP_ENTRY, which probes/sampler/entry.c reads in each process of the run. Returns what is to be said if
 * no process has the function; NULL if the program is a script or Python, whose probe says it. */
const char *dw_run_set_entry(const struct dw_executable *executable, const char *name);
/* Of the trace, before it is finished: stores why no process has the function, or called it, as far as its files say it: that it is
 * inlined, that they are stripped. */
void dw_run_note_entry(const struct dw_source *source);
