/*
 * Names for the frames of a trace.
 *
 * `dwell run` calls it when the program has ended: the modules are still on this
 * machine, and with names appended the trace reads on any other.
 */
#ifndef DW_CLI_SYMBOLIZE_H
#define DW_CLI_SYMBOLIZE_H

/* Appends a SYMBOL entry for every frame of the session's trace that a module's
 * symbol table explains. A module that changed since (build-id) or is gone is
 * passed over: its frames stay (module, offset). */
void dw_symbolize(void);

#endif
