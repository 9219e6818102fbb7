/* Where the function of `dwell run --step-on FUNCTION` is in the program's file. */
#ifndef DW_LAUNCH_RUN_ENTRY_H
#define DW_LAUNCH_RUN_ENTRY_H

struct dw_executable;

/* Sets DWELL_STEP_ENTRY, which probes/sampler/entry.c reads: to where the function is, if the program's symbol table has one
 * of this name, of which the compiler may have made copies; or to its name, which a library may have.
 * Returns NULL, or what is to be said if no library has it; "" if the program is a script or Python. */
const char *dw_run_set_entry(const struct dw_executable *executable, const char *name);

#endif
